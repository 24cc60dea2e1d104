#include <fmt/format.h>

#include <algorithm>

#include "cli/check_model_file.h"
#include "cli/flags/inspect_flags.h"
#include "cli/json.h"
#include "cli/model_facts.h"
#include "cli/terminal.h"
#include "cli/text_side.h"
#include "cli/verbs.h"

namespace kvik::cli {
namespace {

constexpr size_t kTemplateLines = 4;  // shown without --template

// The first lines of a template, each as it can be shown.
std::string template_head(const std::string& source) {
    std::string text;
    const auto lines = split(source, '\n');
    for (size_t i = 0; i < std::min(kTemplateLines, lines.size()); ++i) {
        const std::string line = printable(lines[i].substr(0, 72));
        text += fmt::format("    {}{}\n", line, lines[i].size() > 72 ? " ..." : "");
    }
    if (lines.size() > kTemplateLines)
        text += fmt::format("    ... {} lines in all: --template\n", lines.size());
    return text;
}

std::string template_words(const Json& facts) {
    if (facts.is_null()) return "none";
    if (facts.contains("builtin"))
        return fmt::format("built-in ({})", facts["builtin"].get<std::string>());
    std::string words = fmt::format("{} bytes", facts["bytes"].dump());
    if (facts["names"].size() == 1 && facts["names"][0] == "default") return words;
    words += ", of";
    for (const Json& name : facts["names"]) words += " " + name.get<std::string>();
    return words;
}

std::string as_text(const Json& facts) {
    std::string text;
    const auto line = [&](std::string_view left, const std::string& right) {
        text += fmt::format("  {:<28} {}\n", printable(left), printable(right));
    };
    const auto bytes = [](const Json& value) { return human_bytes(value.get<uint64_t>()); };
    const auto word = [](const Json& value) {
        if (value.is_null()) return std::string("none");
        return value.is_string() ? value.get<std::string>() : value.dump();
    };
    const auto token_or_word = [&](const Json& value) {
        if (!value.is_object()) return word(value);
        return fmt::format("{} {}", word(value["id"]), word(value["text"]));
    };
    text += fmt::format("{}\n", printable(word(facts["file"])));
    line("format", facts.contains("version")
                       ? fmt::format("GGUF version {}", word(facts["version"]))
                       : word(facts["format"]));
    line("size", bytes(facts["file_bytes"]));
    line("architecture", word(facts["architecture"]));
    line("name", word(facts["name"]));
    line("parameters", word(facts["parameters"]));
    if (facts["supported"] != true) line("not supported", word(facts["unsupported"]));
    for (const Json& said : facts["notes"]) line("note", word(said));
    text += "\nhyper-parameters\n";
    for (const auto& [key, value] : facts["hyper_parameters"].items()) line(key, word(value));
    text += "\ntensors\n";
    for (const auto& [type, sum] : facts["tensors"].items())
        line(type, fmt::format("{:>5}  {:>10}", word(sum["count"]), bytes(sum["bytes"])));
    if (facts.contains("tensor_list"))
        for (const Json& tensor : facts["tensor_list"])
            line(word(tensor["name"]), fmt::format("{:<5} {:<16} {:>10} at {}",
                                                   word(tensor["type"]), word(tensor["shape"]),
                                                   bytes(tensor["bytes"]), word(tensor["offset"])));
    if (facts.contains("memory")) {
        const Json& memory = facts["memory"];
        text += "\nmemory\n";
        line("weights", bytes(memory["weights_bytes"]));
        line("KV a token",
             fmt::format("{} (f16), {} (f32)", bytes(memory["kv_bytes_per_token"]["f16"]),
                         bytes(memory["kv_bytes_per_token"]["f32"])));
        line("KV of the default context",
             fmt::format("{} ({} tokens, f16)", bytes(memory["kv_bytes_default_context"]),
                         word(memory["default_context"])));
        line("needed", fmt::format("{}, working memory apart", bytes(memory["needed_bytes"])));
    }
    text += "\ntext\n";
    if (facts["tokenizer"].is_null()) {
        line("tokenizer", "none");
    } else {
        for (const auto& [key, value] : facts["tokenizer"].items())
            if (value != "") line(key, token_or_word(value));
    }
    line("chat template", template_words(facts["chat_template"]));
    if (!facts["chat_template"].is_null())
        text += template_head(facts["chat_template"]["text"].get<std::string>());
    return text;
}

Result<void> show_template(const std::string& path) {
    KVIK_TRY(const TextSide side, open_text_side(path));
    KVIK_TRY(const ChosenTemplate chosen, template_of(side, path, {}));
    tell_borrowed(chosen, {});
    return put(chosen.source + (chosen.source.ends_with('\n') ? "" : "\n"));
}

std::string as_lines(const ChosenModel& chosen) {
    std::string text;
    for (const auto& [name, value] : chosen.stated) text += fmt::format("{:<18} {}\n", name, value);
    return text;
}

// As a Modelfile: texts between three quotes, so that they keep their lines.
std::string as_modelfile(const std::string& path, const ChosenModel& chosen) {
    std::string text = fmt::format(
        "# What kvik takes of {}. kvik itself reads no Modelfiles.\n"
        "# The chat template is the GGUF's own: kvik show MODEL --template\nFROM {}\n",
        chosen.manifest.empty() ? "this model" : chosen.name, path);
    if (!chosen.system.empty()) text += fmt::format("SYSTEM \"\"\"{}\"\"\"\n", chosen.system);
    for (const auto& [name, value] : chosen.stated)
        text += fmt::format("PARAMETER {} {}\n", name, name == "stop" ? Json(value).dump() : value);
    return text;
}

// What Ollama's manifest has beside the GGUF.
Result<void> show_of_manifest(const ShowOptions& options) {
    const ChosenModel& chosen = options.chosen;
    if (options.alone == "--modelfile") return put(as_modelfile(options.path, chosen));
    if (chosen.manifest.empty())
        return fail(ErrorKind::usage,
                    fmt::format("{}: only a model of Ollama's has that, and only by its name (kvik "
                                "list): {} is a file",
                                options.alone, options.path));
    if (options.alone == "--parameters") return put(as_lines(chosen));
    return put(chosen.system +
               (chosen.system.empty() || chosen.system.ends_with('\n') ? "" : "\n"));
}

Json manifest_facts(const ChosenModel& chosen) {
    if (chosen.manifest.empty()) return nullptr;
    Json parameters = Json::array();
    for (const auto& [name, value] : chosen.stated)
        parameters.push_back({{"name", name}, {"value", value}});
    return {{"name", chosen.name},
            {"manifest", chosen.manifest},
            {"system", chosen.system.empty() ? Json() : Json(chosen.system)},
            {"parameters", parameters}};
}

// The part of the text that tells of it.
std::string manifest_text(const ChosenModel& chosen) {
    if (chosen.manifest.empty()) return "";
    std::string text = fmt::format("\nOllama's {}\n", printable(chosen.name));
    for (const auto& [name, value] : chosen.stated)
        text += fmt::format("  {:<28} {}\n", printable(name), printable(value));
    std::string system = cut_to_columns(printable(chosen.system), 200);
    text += fmt::format("  {:<28} {}\n", "system message", system.empty() ? "none" : system);
    return text;
}

Result<void> check_together(const ShowOptions& options) {
    if (!options.alone.empty() && (options.check || options.json || options.every_tensor))
        return fail(ErrorKind::usage,
                    fmt::format("{} stands alone: --json has it too", options.alone));
    if (options.check && options.every_tensor)
        return fail(ErrorKind::usage, "--tensors has no place with --check");
    return {};
}

}  // namespace

Result<int> show(const Call& call) {
    ShowOptions options;
    const Flags flags = show_flags(options);
    KVIK_TRY(const auto shown, begin(flags, call));
    if (shown) return *shown;
    KVIK_TRY_VOID(check_together(options));
    if (options.check)
        return check_model_file(options.path, options.json ? ErrorFormat::json : ErrorFormat::text);
    if (!options.alone.empty()) {
        KVIK_TRY_VOID(options.alone == "--template" ? show_template(options.path)
                                                    : show_of_manifest(options));
        return 0;
    }
    KVIK_TRY(Json facts, model_facts(options.path, options.every_tensor ? FactsDetail::every_tensor
                                                                        : FactsDetail::summary));
    facts["ollama"] = manifest_facts(options.chosen);
    KVIK_TRY_VOID(
        put(options.json ? to_line(facts) : as_text(facts) + manifest_text(options.chosen)));
    return 0;
}

}  // namespace kvik::cli
