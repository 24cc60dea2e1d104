// Detokenizer: ids in, text out, a token at a time; never half a character.
//
// Use     push() returns the text that became certain; bytes of an unfinished UTF-8 character are
//         held back. finish() flushes them (U+FFFD for what can never become a character).
// Owner   borrows the tokenizer.  Cost  O(piece) a push, five bytes of history a token.
// Invariant the concatenation of all push() and finish() == Tokenizer::decode(all ids), control
//         tokens being left out unless `controls` is shown. After truncate(n) what comes next is
//         as if only the first n had been pushed; text handed out before stays with the caller.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/types.h"
#include "text/tokenizer.h"
#include "text/utf8.h"

namespace kvik {

enum class Controls : uint8_t { hidden, shown };

class Detokenizer {
  public:
    explicit Detokenizer(const Tokenizer& tokenizer, Controls controls = Controls::hidden);
    std::string push(TokenId id);
    std::string finish();
    uint32_t n_tokens() const { return static_cast<uint32_t>(before_.size()); }
    void truncate(uint32_t n_tokens);  // forgets the tokens after the first n

  private:
    const Tokenizer& tokenizer_;
    Controls controls_;
    Utf8Stream stream_;
    std::vector<Utf8Stream> before_;  // stream_ before each token, for truncate
};

}  // namespace kvik
