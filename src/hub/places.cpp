#include "hub/places.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "formats/json.h"
#include "hub/files.h"

namespace kvik::hub {
namespace {

// Where the installer of Ollama on Linux puts its service's home.
constexpr const char* kOllamaService = "/usr/share/ollama/.ollama/models";

std::string trimmed(std::string text) {
    const auto is_blank = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
    while (!text.empty() && is_blank(text.back())) text.pop_back();
    const size_t begin =
        static_cast<size_t>(std::find_if_not(text.begin(), text.end(), is_blank) - text.begin());
    return text.substr(begin);
}

void add(std::vector<std::string>& folders, std::string folder) {
    while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
    if (!folder.empty() && std::find(folders.begin(), folders.end(), folder) == folders.end())
        folders.push_back(std::move(folder));
}

// What somebody chose in LM Studio's own settings, if they did.
void add_chosen_folder(std::vector<std::string>& folders, const std::string& lmstudio_home) {
    const std::string file = lmstudio_home + "/settings.json";
    const auto text = read_small_file(file, 1 << 20);
    if (!text) return;
    const auto settings = parse_json(*text, file);
    if (!settings || !settings->is_object()) return;
    const auto found = settings->find("downloadsFolder");
    if (found != settings->end() && found->is_string()) add(folders, found->get<std::string>());
}

std::vector<std::string> lmstudio_folders(const std::string& home) {
    std::vector<std::string> homes = {home + "/.lmstudio", home + "/.cache/lm-studio"};
    if (const auto pointer = read_small_file(home + "/.lmstudio-home-pointer", 4096))
        homes.insert(homes.begin(), trimmed(*pointer));
    std::vector<std::string> folders;
    for (const std::string& one : homes) {
        add_chosen_folder(folders, one);
        add(folders, one + "/models");
    }
    return folders;
}

}  // namespace

std::optional<std::string> value_of(const Environment& environment, const std::string& name) {
    auto value = environment(name);
    return value && !value->empty() ? value : std::nullopt;
}

bool is_true(const Environment& environment, const std::string& name) {
    std::string value = value_of(environment, name).value_or("");
    for (char& c : value) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    return value == "1" || value == "true" || value == "yes" || value == "on";
}

Places find_places(const Environment& environment) {
    Places places;
    const auto home = value_of(environment, "HOME");
    // "~/" at the front, as Python's expanduser has it for the variables of Hugging Face.
    const auto expanded = [&](std::string path) {
        return home && path.starts_with("~/") ? *home + path.substr(1) : path;
    };
    if (const auto chosen = value_of(environment, "OLLAMA_MODELS"))
        add(places.ollama, *chosen);
    else if (home)
        add(places.ollama, *home + "/.ollama/models");
    add(places.ollama, kOllamaService);
    if (home) places.lmstudio = lmstudio_folders(*home);

    std::optional<std::string> hf_home = value_of(environment, "HF_HOME");
    if (!hf_home) {
        if (const auto cache = value_of(environment, "XDG_CACHE_HOME"))
            hf_home = *cache + "/huggingface";
        else if (home)
            hf_home = *home + "/.cache/huggingface";
    }
    if (const auto chosen = value_of(environment, "HF_HUB_CACHE"))
        places.hf_cache = expanded(*chosen);
    else if (const auto former = value_of(environment, "HUGGINGFACE_HUB_CACHE"))
        places.hf_cache = expanded(*former);
    else if (hf_home)
        places.hf_cache = expanded(*hf_home) + "/hub";
    if (const auto chosen = value_of(environment, "HF_TOKEN_PATH"))
        places.hf_token_file = expanded(*chosen);
    else if (hf_home)
        places.hf_token_file = expanded(*hf_home) + "/token";
    return places;
}

}  // namespace kvik::hub
