// GGUF metadata -> ModelConfig.
//
// Keys    general.architecture names the architecture A, then A.block_count, A.embedding_length,
//         A.attention.head_count and so on; missing optional keys get the format's defaults.
//         A key that llama.cpp does not read for the architecture (a window of qwen3) means nothing.
// Errors  an architecture that the registry lacks, a key that changes what is computed (experts,
//         softcaps, scales: unless its value changes nothing), a RoPE scaling other than none, linear
//         and a table of divisors, heads with keys and values of two sizes:
//         ErrorKind::unsupported, naming it. A number out of range: ErrorKind::file, naming its
//         key.
// Source  the GGUF specification, "Standardized key-value pairs".
#pragma once

#include "base/result.h"
#include "formats/gguf.h"
#include "model/config.h"

namespace kvik {

Result<ModelConfig> config_from_gguf(const GgufFile& file);

}  // namespace kvik
