// Byte-level BPE ("gpt2"): pre-tokens by a pattern, then merges in rank order from single bytes.
//
// Cost      encode about 50 ns a byte, O(n log n) in the length of one pre-token.
// Invariant a byte that the vocabulary has no token for is left out, its neighbours may merge (so
//           do the models' own tokenizers); with all 256 bytes every string comes back from decode.
// Source    Sennrich, Haddow, Birch 2016, "Neural machine translation of rare words with subword
//           units", section 3.2, over bytes.
#pragma once

#include <memory>

#include "base/result.h"
#include "text/tokenizer.h"

namespace kvik {

// The spec has passed check_spec.
Result<std::unique_ptr<Tokenizer>> make_bpe_tokenizer(const TokenizerSpec& spec);

}  // namespace kvik
