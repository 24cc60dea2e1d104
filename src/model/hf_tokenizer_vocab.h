// The tokens of a tokenizer.json: model.vocab and added_tokens as one list, and the merges.
//
// Invariant each id below n is one token's or nobody's: an id without a token is a control token
//         without a name, which no text becomes and no answer shows.
// Errors  an id twice or far past the number of tokens, a token that is added with another id than it
//         has, a merge that is no two tokens: by field and index.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/hf_added_tokens.h"
#include "model/hf_tokenizer_json.h"
#include "text/tokenizer.h"

namespace kvik {

inline constexpr size_t kMaxGap = size_t{1} << 16;  // ids without a token, below the highest one

struct HfVocab {
    std::vector<std::string> tokens;
    std::vector<TokenType> types;  // normal, control (special) or user_defined (added, not special)
    std::vector<FindRule> rules;
    std::vector<double> scores;  // of a Unigram model

    size_t n_model_tokens = 0;  // how many model.vocab has

    std::optional<TokenId> find(std::string_view token) const;  // linear
    // Each becomes a token of its kind: one that is there keeps its id, a new one has the next.
    Result<void> add(const HfJson& root, const std::vector<HfToken>& added);
};

// How model.vocab is written: an object token -> id (BPE), or a list of [token, score] (Unigram).
enum class HfVocabForm { ids, scores };

Result<HfVocab> read_hf_vocab(const HfJson& root, const HfJson& model, HfVocabForm form);

// "left right" each. A merge of or into a control or byte token is left out: no text becomes one.
Result<std::vector<std::string>> read_hf_merges(const HfJson& model, const HfVocab& vocab);

}  // namespace kvik
