// The tokens that the files beside tokenizer.json add to it or name, in the order that transformers
// gives them: this is the one place that knows the order of their homes.
//
// Order   1. tokenizer_config.json. If it has added_tokens_decoder, nothing else is read; if not,
//            2. special_tokens_map.json, whose fields replace those of the same name,
//            3. added_tokens.json, and the added_tokens of tokenizer.json, by id.
//         Tokens of the lists by id are added first, then those with a name (bos_token, ...), then
//         extra_special_tokens (formerly additional_special_tokens).
// Errors  a token that is neither a string nor an object with "content", an id that is none:
//         ErrorKind::file with the file and the field.
// Source  PreTrainedTokenizerBase._from_pretrained and TokenizersBackend.__init__ of transformers
//         5.24; tests/oracles/token_homes.py records what they do.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/hf_tokenizer_json.h"

namespace kvik {

struct HfToken {
    std::string content;
    bool is_special = false;
    bool takes_space_before = false;
    bool takes_space_after = false;
    bool normalized = false;

    bool operator==(const HfToken&) const = default;
};

struct HfTokenHomes {
    const HfJson* tokenizer = nullptr;  // tokenizer.json
    const HfJson* config = nullptr;     // null: there is no such file
    const HfJson* special_map = nullptr;
    const HfJson* added = nullptr;
    std::vector<std::string> config_keys;  // those of `config` in the file's order
};

struct HfAddedTokens {
    std::vector<HfToken> tokens;  // in the order in which they are added; some are there already
    std::optional<std::string> bos, eos;
};

Result<HfAddedTokens> read_hf_added_tokens(const HfTokenHomes& homes);

}  // namespace kvik
