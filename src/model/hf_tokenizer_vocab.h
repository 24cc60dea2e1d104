// The tokens of a tokenizer.json: model.vocab and added_tokens as one list, and the merges.
//
// Invariant ids are 0 .. n - 1, each once.
// Errors  an id twice or past the number of tokens, a token that is added with another id than it
//         has, a merge that is no two tokens: by field and index.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/hf_tokenizer_json.h"
#include "text/tokenizer.h"

namespace kvik {

struct HfVocab {
    std::vector<std::string> tokens;
    std::vector<TokenType> types;  // normal, control (special) or user_defined (added, not special)
    std::vector<FindRule> rules;
    std::vector<double> scores;  // of a Unigram model

    std::optional<TokenId> find(std::string_view token) const;  // linear
};

// How model.vocab is written: an object token -> id (BPE), or a list of [token, score] (Unigram).
enum class HfVocabForm { ids, scores };

Result<HfVocab> read_hf_vocab(const HfJson& root, const HfJson& model, HfVocabForm form);

// "left right" each. A merge of or into a control or byte token is left out: no text becomes one.
Result<std::vector<std::string>> read_hf_merges(const HfJson& model, const HfVocab& vocab);

}  // namespace kvik
