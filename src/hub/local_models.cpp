#include "hub/local_models.h"

#include <sys/stat.h>

#include <algorithm>

#include "hub/file_names.h"
#include "hub/files.h"
#include "hub/ollama.h"
#include "hub/other_stores.h"

namespace kvik::hub {
namespace {

constexpr std::string_view kUsualQuant = "Q4_K_M";

using Models = std::vector<const LocalModel*>;

bool contains(const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}
bool contains_in_any_case(const std::vector<std::string>& names, const std::string& lowered) {
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return lower(name) == lowered; });
}

template <class Holds>
Models those(std::span<const LocalModel> models, std::optional<Store> store, const Holds& holds) {
    Models found;
    for (const LocalModel& model : models)
        if ((!store || model.store == *store) && holds(model)) found.push_back(&model);
    return found;
}

// One program's list has a name once: what it finds first is meant. And the same file, which
// several programs may share by links, is one model.
Models without_twins(const Models& models) {
    Models kept;
    for (const LocalModel* model : models) {
        struct stat own = {}, other = {};
        const bool is_there = ::stat(model->path.c_str(), &own) == 0;
        const bool known = std::any_of(kept.begin(), kept.end(), [&](const LocalModel* before) {
            if (before->store == model->store && before->name() == model->name()) return true;
            // Two of Ollama's may differ in what comes with the weights.
            if (before->store == Store::ollama && model->store == Store::ollama) return false;
            return is_there && ::stat(before->path.c_str(), &other) == 0 &&
                   own.st_dev == other.st_dev && own.st_ino == other.st_ino;
        });
        if (!known) kept.push_back(model);
    }
    return kept;
}

Models usual_of(const Models& group) {
    Models usual;
    for (const LocalModel* model : group)
        if (model->quant == kUsualQuant) usual.push_back(model);
    return usual.size() == 1 ? usual : group;
}

Models match_in(std::string_view name, std::span<const LocalModel> models,
                std::optional<Store> store) {
    const std::string lowered = lower(name);
    const auto listed = [&](const LocalModel& model) { return model.name() == name; };
    const auto known = [&](const LocalModel& model) { return contains(model.names, name); };
    const auto in_any_case = [&](const LocalModel& model) {
        return contains_in_any_case(model.names, lowered);
    };
    const auto in_group = [&](const LocalModel& model) {
        return model.store != Store::ollama && contains_in_any_case(model.groups, lowered);
    };
    // Tags are sizes of a model, too: none of them is the usual one.
    const auto without_tag = [&](const LocalModel& model) {
        return model.store == Store::ollama && contains_in_any_case(model.groups, lowered);
    };
    Models found = those(models, store, listed);
    if (found.empty()) found = those(models, store, known);
    if (found.empty()) found = those(models, store, in_any_case);
    if (found.empty()) found = usual_of(without_twins(those(models, store, in_group)));
    if (found.empty()) found = those(models, store, without_tag);
    return without_twins(found);
}

template <class Find>
void search(Store store, const std::string& folder, const Find& find, LocalModels& all) {
    SearchedFolder searched{.store = store, .path = folder, .is_there = is_folder(folder)};
    if (const Result<void> done = find(folder, all.models); !done)
        searched.problem = done.error().message;
    all.folders.push_back(std::move(searched));
}

}  // namespace

std::string_view store_name(Store store) {
    switch (store) {
        case Store::ollama:
            return "Ollama";
        case Store::lmstudio:
            return "LM Studio";
        case Store::huggingface:
            return "Hugging Face";
    }
    return "";
}

std::string_view store_prefix(Store store) {
    switch (store) {
        case Store::ollama:
            return "ollama";
        case Store::lmstudio:
            return "lmstudio";
        case Store::huggingface:
            return "hf";
    }
    return "";
}

LocalModels find_local_models(const Places& places) {
    LocalModels all;
    for (const std::string& folder : places.ollama)
        search(Store::ollama, folder, find_ollama_models, all);
    for (const std::string& folder : places.lmstudio)
        search(Store::lmstudio, folder, find_lmstudio_models, all);
    if (!places.hf_cache.empty()) search(Store::huggingface, places.hf_cache, find_hf_models, all);
    return all;
}

std::vector<const LocalModel*> match(std::string_view name, std::span<const LocalModel> models) {
    for (const std::string_view web : {"https://huggingface.co/", "https://hf.co/"})
        if (name.starts_with(web))
            return match_in(name.substr(web.size()), models, Store::huggingface);
    Models found = match_in(name, models, std::nullopt);
    if (!found.empty()) return found;
    for (const Store store : {Store::ollama, Store::lmstudio, Store::huggingface}) {
        const std::string before = std::string(store_prefix(store)) + ":";
        if (name.starts_with(before)) return match_in(name.substr(before.size()), models, store);
    }
    return {};
}

}  // namespace kvik::hub
