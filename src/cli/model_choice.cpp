#include "cli/model_choice.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>

#include "cli/suggest.h"
#include "formats/gguf.h"
#include "hub/local_models.h"

namespace kvik::cli {
namespace {

constexpr size_t kMostListed = 12;

// What can only be a path.
bool is_plain_path(std::string_view name) {
    return name.starts_with('/') || name.starts_with('.') || name.starts_with('~');
}

bool exists(const std::string& path) {
    struct stat status = {};
    return ::stat(path.c_str(), &status) == 0;
}

std::string full_name(const hub::LocalModel& model) {
    return fmt::format("{}:{}", hub::store_prefix(model.store), model.name());
}

tl::unexpected<Error> ambiguous(const std::string& name,
                                const std::vector<const hub::LocalModel*>& found) {
    std::vector<std::string> names;
    for (const hub::LocalModel* model : found)
        if (names.size() < kMostListed) names.push_back(full_name(*model));
    return fail(ErrorKind::usage,
                fmt::format("'{}' means {} models, name one of them: {}{}", name, found.size(),
                            fmt::join(names, ", "), found.size() > kMostListed ? ", ..." : ""));
}

tl::unexpected<Error> not_here(const std::string& name, const hub::LocalModels& all) {
    std::vector<std::string> names;
    for (const hub::LocalModel& model : all.models) names.push_back(model.name());
    const auto meant = nearest(name, names);
    // OWNER/REPO, as Hugging Face has it; what has no slash is more like a name of Ollama's.
    std::string_view repository = name;
    for (const std::string_view before : {"hf:", "hf.co/", "huggingface.co/"})
        if (repository.starts_with(before)) repository.remove_prefix(before.size());
    const bool has_owner = repository.find('/') != repository.npos;
    const bool is_file = name.ends_with(".gguf") || name.ends_with(".safetensors");
    return fail(
        ErrorKind::file,
        fmt::format(
            "{}: no such file, and no model of that name is here{}: kvik list shows "
            "those that are, kvik pull {} fetches {}",
            name, meant ? fmt::format(", did you mean {}?", *meant) : "",
            has_owner && !is_file ? fmt::format("hf:{}", repository) : std::string("hf:OWNER/REPO"),
            has_owner && !is_file ? "this one" : "one from Hugging Face"));
}

// The context that the file says it was made for; none where it does not say.
std::optional<uint64_t> context_of(const std::string& path) {
    const auto file = GgufFile::open(path);
    if (!file) return std::nullopt;
    const auto architecture = file->metadata().find_string("general.architecture");
    if (!architecture || !*architecture) return std::nullopt;
    const auto length = file->metadata().find_integer(
        fmt::format("{}.context_length", **architecture), {1, INT32_MAX});
    return length ? *length : std::nullopt;
}

// Ollama lowers a num_ctx that is beyond the model without a word.
void lower_context(hub::OllamaDefaults& defaults, const std::string& path) {
    for (hub::ModelDefault& setting : defaults.settings) {
        if (setting.key != "ctx" || setting.values.size() != 1) continue;
        std::string& text = setting.values.front();
        uint64_t asked = 0;
        std::from_chars(text.data(), text.data() + text.size(), asked);
        if (const auto most = context_of(path); most && asked > *most) text = std::to_string(*most);
    }
}

Result<void> take_ollama_defaults(const hub::LocalModel& model, ChosenModel& chosen) {
    KVIK_TRY(hub::OllamaDefaults defaults, hub::read_ollama_defaults(model));
    lower_context(defaults, model.path);
    const std::string name = fmt::format("{} ({})", model.name(), hub::store_name(model.store));
    chosen.defaults_of = "the parameters of " + name;
    std::vector<std::string> taken;
    for (const hub::ModelDefault& setting : defaults.settings)
        taken.push_back(fmt::format("{}{} {}", setting.key.size() == 1 ? "-" : "--", setting.key,
                                    fmt::join(setting.values, ", ")));
    if (!defaults.system.empty()) taken.emplace_back("a system message");
    chosen.name = model.name();
    chosen.manifest = model.manifest;
    chosen.stated = std::move(defaults.stated);
    chosen.defaults = std::move(defaults.settings);
    chosen.system = std::move(defaults.system);
    if (!taken.empty())
        chosen.notes.push_back(
            fmt::format("{} sets {} (flags beat them)", name, fmt::join(taken, ", ")));
    if (!defaults.not_used.empty())
        chosen.notes.push_back(fmt::format(
            "{} has {}, which kvik does not use{}", name, fmt::join(defaults.not_used, ", "),
            std::find(defaults.not_used.begin(), defaults.not_used.end(), "template") !=
                    defaults.not_used.end()
                ? "; the chat template is the GGUF's own"
                : ""));
    return {};
}

}  // namespace

// A directory is a model if it holds one.
static bool is_bare_folder(const std::string& path) {
    struct stat status = {};
    if (::stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return false;
    return !exists(path + "/config.json");
}

static tl::unexpected<Error> no_model_in(const std::string& folder) {
    return fail(ErrorKind::file,
                fmt::format("{} is a directory without config.json, so no model: give a GGUF file, "
                            "a Hugging Face directory, or a name that kvik list has",
                            folder));
}

Result<std::optional<ChosenModel>> find_model(const std::string& name,
                                              const Environment& environment) {
    ChosenModel chosen{.path = name};
    if (name.empty())
        return fail(ErrorKind::usage,
                    "MODEL is empty: give a GGUF file, a Hugging Face directory, or a name that "
                    "kvik list has");
    const bool is_no_model = is_bare_folder(name);
    if (is_no_model && is_plain_path(name)) return no_model_in(name);
    if (is_plain_path(name)) return chosen;
    const hub::LocalModels all = hub::find_local_models(hub::find_places(environment));
    const auto found = hub::match(name, all.models);
    if (is_no_model && found.empty()) return no_model_in(name);
    if (exists(name) && !is_no_model) {
        for (const hub::LocalModel* model : found)
            chosen.notes.push_back(
                fmt::format("{} is a path here, and a model of {} too, which is "
                            "{}: the path is taken",
                            name, hub::store_name(model->store), full_name(*model)));
        chosen.n_path_notes = chosen.notes.size();
        return chosen;
    }
    if (found.empty()) return std::nullopt;
    if (found.size() > 1) return ambiguous(name, found);
    const hub::LocalModel& model = *found.front();
    if (model.problem) return tl::unexpected(*model.problem);
    chosen.path = model.path;
    if (model.store == hub::Store::ollama) KVIK_TRY_VOID(take_ollama_defaults(model, chosen));
    return chosen;
}

Result<ChosenModel> choose_model(const std::string& name, const Environment& environment) {
    KVIK_TRY(const std::optional<ChosenModel> found, find_model(name, environment));
    if (found) return *found;
    return not_here(name, hub::find_local_models(hub::find_places(environment)));
}

Settings defaults_of(const ChosenModel& model) {
    Settings settings;
    settings.defaults_of = model.defaults_of;
    for (const hub::ModelDefault& setting : model.defaults) {
        TomlEntry entry{.table = {}, .key = setting.key, .line = 0, .value = setting.values};
        if (setting.values.size() == 1) entry.value = setting.values.front();
        settings.entries.push_back(std::move(entry));
    }
    return settings;
}

}  // namespace kvik::cli
