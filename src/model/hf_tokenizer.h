// A Hugging Face directory's tokenizer.json and the files beside it -> TokenizerSpec.
// hf_added_tokens.h and hf_end_tokens.h say in which order the files count.
//
// Cost    the JSON tree of tokenizer.json while it is read, then the spec.
// Invariant a control token is found in the text as it is written, whatever its "normalized" says,
//         and no merge makes one: what a text is normalised or merged to is never a control token.
// Errors  what lies (an id twice, a wrong type, a merge of what is no token):
//         ErrorKind::file with the field and the index. A model, normaliser, pre-tokenizer,
//         decoder, pattern or flag that kvik has not: ErrorKind::unsupported naming it.
// Source  the format as the `tokenizers` library, version 0.23, writes it and means it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "text/tokenizer.h"

namespace kvik {

// Nothing: there is no tokenizer.json, nor tokenizer.model, nor vocab.json with merges.txt.
Result<std::optional<TokenizerSpec>> tokenizer_from_hf(const std::string& directory);

// The same from the files' contents; `directory` is for messages.
struct HfTokenizerFiles {
    std::string directory;
    std::string_view tokenizer;
    std::optional<std::string_view> tokenizer_config;
    std::optional<std::string_view> generation_config;
    std::optional<std::string_view> special_tokens_map = {};
    std::optional<std::string_view> added_tokens = {};
    std::optional<std::string_view> config = {};
};

Result<TokenizerSpec> tokenizer_from_hf(const HfTokenizerFiles& files);

}  // namespace kvik
