#include "model/chat_templates.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/mapped_file.h"
#include "text/builtin_templates.h"

namespace kvik {
namespace {

const NamedTemplate* find(const std::vector<NamedTemplate>& templates, std::string_view name) {
    const auto found = std::find_if(templates.begin(), templates.end(),
                                    [&](const NamedTemplate& each) { return each.name == name; });
    return found == templates.end() ? nullptr : &*found;
}

constexpr uint64_t kMostTemplateBytes = 16 << 20;  // of a file: more than any interpreter takes

std::string names_of(const std::vector<NamedTemplate>& templates) {
    std::vector<std::string_view> names;
    for (const NamedTemplate& each : templates) names.push_back(each.name);
    return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

Result<ChosenTemplate> read_template(const std::string& path) {
    ChosenTemplate chosen{TemplateOrigin::file, path, {}};
    std::error_code error;
    if (std::filesystem::file_size(path, error) == 0 && !error) return chosen;
    KVIK_TRY(chosen.source, read_whole_file(path, kMostTemplateBytes));
    return chosen;
}

Result<ChosenTemplate> asked_for(const std::vector<NamedTemplate>& templates,
                                 const std::string& asked) {
    if (const NamedTemplate* own = find(templates, asked))
        return ChosenTemplate{TemplateOrigin::model, own->name, own->source};
    if (const BuiltinChatTemplate* builtin = find_builtin_template(asked))
        return ChosenTemplate{TemplateOrigin::builtin, asked, std::string(builtin->source)};
    std::error_code error;
    if (std::filesystem::exists(asked, error)) return read_template(asked);
    return fail(ErrorKind::usage,
                fmt::format("there is no chat template '{}': it is no file, the model has {}, kvik "
                            "itself {}",
                            asked, names_of(templates), fmt::join(builtin_template_names(), ", ")));
}

Result<ChosenTemplate> of_the_model(const std::vector<NamedTemplate>& templates, bool has_tools) {
    const NamedTemplate* own = has_tools ? find(templates, "tool_use") : nullptr;
    if (own == nullptr) own = find(templates, "default");
    if (own == nullptr)
        return fail(ErrorKind::unsupported,
                    fmt::format("the model has several chat templates and none of the name "
                                "'default': choose one by --template NAME, of {}",
                                names_of(templates)));
    return ChosenTemplate{TemplateOrigin::model, own->name, own->source};
}

}  // namespace

void add_template(std::vector<NamedTemplate>& templates, std::string name, std::string source) {
    for (NamedTemplate& each : templates) {
        if (each.name != name) continue;
        each.source = std::move(source);
        return;
    }
    templates.push_back({std::move(name), std::move(source)});
}

std::string_view template_origin_name(TemplateOrigin origin) {
    constexpr std::string_view kNames[] = {"none", "model", "builtin", "file"};
    return kNames[static_cast<size_t>(origin)];
}

Result<ChosenTemplate> choose_template(const std::vector<NamedTemplate>& templates,
                                       std::string_view architecture, const Tokenizer& tokenizer,
                                       const TemplateWish& wish) {
    ChosenTemplate chosen;
    if (!wish.asked.empty()) {
        KVIK_TRY(chosen, asked_for(templates, wish.asked));
    } else if (!templates.empty()) {
        KVIK_TRY(chosen, of_the_model(templates, wish.has_tools));
    } else {
        const BuiltinChatTemplate* builtin = choose_builtin_template(architecture, tokenizer);
        if (builtin == nullptr) return chosen;
        chosen = {TemplateOrigin::builtin, std::string(builtin->name),
                  std::string(builtin->source)};
    }
    if (chosen.source.empty())
        return fail(ErrorKind::unsupported,
                    fmt::format("the chat template '{}' is empty: choose another by --template "
                                "NAME|FILE",
                                chosen.name));
    return chosen;
}

}  // namespace kvik
