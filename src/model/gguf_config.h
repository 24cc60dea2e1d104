// GGUF metadata -> ModelConfig.
//
// Keys    general.architecture names the architecture A, then A.block_count, A.embedding_length,
//         A.attention.head_count and so on; missing optional keys get the format's defaults.
// Errors  an architecture that is not in `known`, experts, a RoPE scaling other than none and
//         linear, a sliding window, heads with keys and values of two sizes:
//         ErrorKind::unsupported, naming it. A number out of range: ErrorKind::file, naming its
//         key.
// Source  the GGUF specification, "Standardized key-value pairs".
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "formats/gguf.h"
#include "model/config.h"

namespace kvik {

// An architecture whose GGUF files can be read.
struct GgufArchitecture {
    std::string_view name;   // as general.architecture has it
    RopeLayout rope_layout;  // GGUF's llama has its Q and K rows permuted: adjacent
};

// `known` is what the caller has a forward pass for.
Result<ModelConfig> config_from_gguf(const GgufFile& file, std::span<const GgufArchitecture> known);

}  // namespace kvik
