// LocalModel: a model that another program, or `kvik pull`, left on this machine, and the names by
// which it is known there.
//
// Use     find_local_models lists all; match finds those that a name means.
// Cost    names and sizes of files, and Ollama's manifests; no model file is opened.
// Errors  a folder that cannot be read is told in `problems`, the others are listed all the same.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hub/places.h"

namespace kvik::hub {

enum class Store : uint8_t { ollama, lmstudio, huggingface };
std::string_view store_name(Store store);    // "Ollama", for people
std::string_view store_prefix(Store store);  // "ollama", as in ollama:NAME

struct LocalModel {
    Store store = Store::ollama;
    // The first is how the program that keeps it lists it; the others it takes as well. Those of
    // `groups` may mean other models too, as OWNER/REPO means each file of the repository.
    std::vector<std::string> names, groups;
    std::string path;  // of the GGUF (its first part) or of the directory
    bool is_directory = false;
    uint64_t bytes = 0;    // of all files
    uint32_t n_files = 0;  // of weights
    int64_t modified_s = 0;
    std::string quant;             // empty: not known
    std::string manifest;          // of Ollama's: the file that names its layers
    std::optional<Error> problem;  // why it cannot be run

    const std::string& name() const { return names.front(); }
};

// What was looked into, in order.
struct SearchedFolder {
    Store store = Store::ollama;
    std::string path;
    bool is_there = false;
    std::string problem;  // empty: it was read
};

struct LocalModels {
    std::vector<LocalModel> models;
    std::vector<SearchedFolder> folders;
};

LocalModels find_local_models(const Places& places);

// The models that a name means: as listed, else another name of theirs, else in another case, else
// a group's, else a name of Ollama's without its tag. "ollama:NAME", "lmstudio:NAME" and "hf:NAME"
// mean one program's alone. Where a group holds several, the one of Q4_K_M is meant if there is just
// one. More than one: it is ambiguous.
std::vector<const LocalModel*> match(std::string_view name, std::span<const LocalModel> models);

}  // namespace kvik::hub
