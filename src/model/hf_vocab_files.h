// vocab.json and merges.txt of a directory without tokenizer.json -> the tokenizer.json that says
// the same.
//
// Use     the class of the tokenizer gives what the two files do not say: GPT2Tokenizer, or
//         Qwen2Tokenizer with its pattern and composed characters.
// Cost    the JSON trees of both, for a moment.
// Errors  another class: ErrorKind::unsupported naming it. A line of merges.txt that is not two
//         tokens, a vocabulary that is no object: ErrorKind::file naming file and line.
// Source  what Transformers 5.24 builds from these files.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kvik {

struct HfVocabFiles {
    std::string directory;  // for messages
    std::string_view vocab;
    std::string_view merges;
    std::optional<std::string_view> tokenizer_config;
    std::optional<std::string_view> config;  // names the model where nothing names the class
};

Result<std::string> tokenizer_json_of(const HfVocabFiles& files);

}  // namespace kvik
