// The tokens that end an answer, by a Hugging Face directory's generation_config.json or
// config.json: with a tokenizer or without one.
//
// Order   1. eos_token_id of generation_config.json, if that file is there, and nothing else;
//         2. that of config.json, 3. of its text_config, 4. the default of its class.
//         The tokenizer's own eos token ends an answer too; the engine adds it.
// Errors  an end that is neither a whole number nor a list of them: ErrorKind::file with the file
//         and the field. Negative numbers mean no token.
// Source  GenerationConfig.from_pretrained and from_model_config of transformers 5.24;
//         tests/oracles/token_homes.py records what they do.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace kvik {

struct HfEndFiles {
    std::string directory;  // for messages
    std::optional<std::string_view> generation_config;
    std::optional<std::string_view> config;
};

// In the file's order, each once.
Result<std::vector<TokenId>> end_tokens_from_hf(const HfEndFiles& files);
Result<std::vector<TokenId>> end_tokens_from_hf(const std::string& directory);

}  // namespace kvik
