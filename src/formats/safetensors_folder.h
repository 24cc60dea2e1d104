// Which safetensors files of a directory are the model's, whatever they are called.
//
// Shape   model.safetensors; else an index, by its usual name or the only *.safetensors.index.json;
//         else the only set NAME-00001-of-0000N.safetensors, whole; else all *.safetensors.
// Cost    one listing of the directory; no file is opened.
// Errors  none, several sets or a part of one that is not there: ErrorKind::file, with the remedy;
//         an adapter alone: ErrorKind::unsupported.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kvik {

struct SafetensorsFolder {
    std::string index;               // a file's name; empty: there is none
    std::vector<std::string> files;  // without an index: all that hold the weights, ascending
};

Result<SafetensorsFolder> find_safetensors(const std::string& directory);

// ----
// model.safetensors.index.json: which tensor lies in which shard.
//
// Cost    a tree of the JSON, which is at most 16 MiB.
// Invariant tensors are unique, ascending by name; a shard's name is a plain file name: what joins
//         it to a folder stays in that folder.
// Errors  ErrorKind::file, naming the file, the key and what is wrong with it.

struct SafetensorsIndex {
    struct Tensor {
        std::string name;
        uint32_t shard = 0;
    };
    std::vector<std::string> shards;  // ascending
    std::vector<Tensor> tensors;
};

inline constexpr uint64_t kMaxSafetensorsIndexBytes = 16 << 20;

// `file` is for messages.
Result<SafetensorsIndex> read_safetensors_index(std::string_view text, const std::string& file);

}  // namespace kvik
