// Answer and StopText: the text of one answer. Picked tokens go in; text comes out as it becomes
// certain, and with it the reason to end.
//
// Use     is_end() tells whether a picked token ends the answer without being part of it; take()
//         adds any other token; ended() says whether that was the last; finish() returns the
//         held-back text.
// Order   end tokens are checked first, then stop strings in the text, then the number of tokens. A
//         token that completes a stop string is part of the answer, without the text from the stop
//         string on.
// Owner   borrows the tokenizer; without one the text is empty.
// Threads one at a time.
// Cost    take() is O(stop strings x held-back bytes); copying an Answer copies the held-back text.
// Invariant the concatenated text of take() and finish() is decode(all tokens), cut at the stop
//         string.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvik/kvik.h"
#include "text/detokenizer.h"

namespace kvik {

// StopText holds text back while it could become a stop string, and cuts the text at one that
// comes. push() returns what became certain; once hit() is true it returns nothing more. Costs
// O(stop strings x (held back + pushed bytes)) per push; less than the longest stop string is ever
// held back. Invariant: the text does not depend on how it was cut into pushes. The stop string
// that ends first wins; of two that end together, the longer one. No byte of it is ever returned.
class StopText {
  public:
    explicit StopText(std::vector<std::string> stops);  // none empty

    std::string push(std::string_view text);
    std::string finish();
    bool is_watching() const { return !stops_.empty(); }
    bool hit() const { return hit_; }
    uint64_t n_certain_bytes() const { return n_certain_bytes_; }  // returned so far

  private:
    std::string release(size_t n_bytes);

    std::vector<std::string> stops_;
    std::string held_;
    uint64_t n_certain_bytes_ = 0;
    bool hit_ = false;
};

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
    std::string finish();  // returns the text held back; "" if a stop string came
    // Returns nothing while more tokens are wanted.
    std::optional<FinishReason> ended() const;

    uint32_t n_tokens() const { return n_tokens_; }
    uint32_t max_tokens() const { return max_tokens_; }
    // Returns the number of tokens up to the one with the last byte before a stop string.
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
