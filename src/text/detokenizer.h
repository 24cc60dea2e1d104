// Detokenizer: ids in, text out, a token at a time; never half a character.
//
// Use     push() returns the text that became certain; bytes of an unfinished UTF-8 character are
//         held back. finish() flushes them (U+FFFD for what can never become a character).
// Owner   borrows the tokenizer.  Cost  O(piece) a push.
// Invariant the concatenation of all push() and finish() == Tokenizer::decode(all ids), control
//         tokens being left out unless `controls` is shown.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/types.h"
#include "text/tokenizer.h"

namespace kvik {

enum class Controls : uint8_t { hidden, shown };

class Detokenizer {
  public:
    explicit Detokenizer(const Tokenizer& tokenizer, Controls controls = Controls::hidden);
    std::string push(TokenId id);
    std::string finish();
    uint32_t n_tokens() const { return n_tokens_; }
    void truncate(uint32_t n_tokens);  // forgets the tokens after the first n

  private:
    const Tokenizer& tokenizer_;
    Controls controls_;
    uint32_t n_tokens_ = 0;
    std::string pending_;                  // bytes not yet a whole character
    std::vector<std::string> pending_at_;  // pending_ before each token, for truncate
};

}  // namespace kvik
