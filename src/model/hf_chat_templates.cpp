#include "model/hf_chat_templates.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/mapped_file.h"
#include "formats/json.h"
#include "model/hf_tokenizer_json.h"

namespace kvik {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFolder = "additional_chat_templates";
constexpr std::string_view kSuffix = ".jinja";

tl::unexpected<Error> too_many(const std::string& file) {
    return fail(ErrorKind::file,
                fmt::format("{}: has more than {} chat templates", file, kMostTemplates));
}

// Nothing: there is no such file. A link that leads nowhere is one. An empty file is a text.
Result<std::optional<std::string>> read_if_there(const fs::path& path) {
    std::error_code error;
    if (fs::symlink_status(path, error).type() == fs::file_type::not_found) return std::nullopt;
    if (fs::file_size(path, error) == 0 && !error) return std::string();
    KVIK_TRY(std::string text, read_whole_file(path.string(), kMaxJsonBytes));
    return text;
}

// The names of additional templates, in the order of the alphabet.
Result<std::vector<std::string>> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        const std::string name = at->path().filename().string();
        if (!name.ends_with(kSuffix) || name.starts_with('.')) continue;
        if (names.size() == kMostTemplates) return too_many(folder.string());
        names.push_back(name.substr(0, name.size() - kSuffix.size()));
    }
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace

Result<std::vector<NamedTemplate>> chat_templates_from_hf_config(std::string_view json,
                                                                 const std::string& file) {
    std::vector<NamedTemplate> templates;
    KVIK_TRY(const nlohmann::json root, parse_json(json, file));
    KVIK_TRY(const std::optional<HfJson> value, HfJson(root, file).find("chat_template"));
    if (!value) return templates;
    if (!value->json().is_array()) {
        KVIK_TRY(std::string source, value->as_text());
        add_template(templates, "default", std::move(source));
        return templates;
    }
    if (value->json().size() > kMostTemplates) return too_many(file);
    for (size_t i = 0; i < value->json().size(); ++i) {
        const HfJson one = value->at(i);
        KVIK_TRY(const HfJson name_at, one.require("name"));
        KVIK_TRY(std::string name, name_at.as_text());
        KVIK_TRY(const HfJson source_at, one.require("template"));
        KVIK_TRY(std::string source, source_at.as_text());
        add_template(templates, std::move(name), std::move(source));
    }
    return templates;
}

Result<std::vector<NamedTemplate>> chat_templates_from_hf(const std::string& directory) {
    const fs::path folder(directory);
    std::vector<NamedTemplate> templates;
    KVIK_TRY(std::optional<std::string> beside, read_if_there(folder / "chat_template.jinja"));
    if (beside) add_template(templates, "default", std::move(*beside));
    KVIK_TRY(const std::vector<std::string> names, names_in(folder / kFolder));
    for (const std::string& name : names) {
        KVIK_TRY(auto source, read_if_there(folder / kFolder / (name + std::string(kSuffix))));
        add_template(templates, name, source.value_or(""));
    }
    for (const char* name : {"tokenizer_config.json", "chat_template.json"}) {
        if (!templates.empty()) break;
        KVIK_TRY(const auto config, read_if_there(folder / name));
        if (!config) continue;
        KVIK_TRY(templates, chat_templates_from_hf_config(*config, (folder / name).string()));
    }
    return templates;
}

}  // namespace kvik
