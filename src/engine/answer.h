// Answer: what one request has said so far. Picked tokens go in; text comes out as it becomes
// certain, and with it the reason to end.
//
// Order   end tokens, then the text and its stop strings, then the number of tokens; the earliest
//         wins. An end token is no part of the answer; a token that completes a stop string is,
//         without the text from the stop string on.
// Owner   borrows the tokenizer (none: the text is empty).
// Invariant concatenated text of take() and finish() == decode(all tokens), cut at the stop string.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/stop_text.h"
#include "kvik/kvik.h"
#include "text/detokenizer.h"

namespace kvik {

struct AnswerLimits {
    std::span<const TokenId> end_tokens;  // none: they are ignored
    std::vector<std::string> stop;
    uint32_t max_tokens = 0;
};

class Answer {
  public:
    Answer(const Tokenizer* tokenizer, AnswerLimits limits);

    bool is_end(TokenId token) const;
    std::string take(TokenId token);
    std::string finish();  // text held back; of a stop string that came there is none
    // Nothing: more tokens are wanted.
    std::optional<FinishReason> ended() const;

    uint32_t n_tokens() const { return n_tokens_; }
    uint32_t max_tokens() const { return max_tokens_; }
    // Tokens up to the one that holds the last text byte before a stop string.
    uint32_t n_kept() const;

  private:
    std::optional<Detokenizer> detokenizer_;
    std::span<const TokenId> end_tokens_;
    StopText stop_text_;
    uint32_t max_tokens_;
    uint32_t n_tokens_ = 0;
    uint64_t n_text_bytes_ = 0;
    std::vector<uint64_t> text_begins_;  // bytes of text before each token, if there are stops
};

}  // namespace kvik
