// model.safetensors.index.json: which tensor lies in which shard.
//
// Cost    a tree of the JSON, which is at most 16 MiB.
// Invariant tensors are unique, ascending by name; a shard's name is a plain file name: what joins
//         it to a folder stays in that folder.
// Errors  ErrorKind::file, naming the file, the key and what is wrong with it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kvik {

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
