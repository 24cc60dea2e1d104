// SentencePiece-BPE ("llama"): characters are merged into the neighbouring pair whose token has the
// best score, or whose merge has the lowest rank; what has no token falls back to its bytes.
//
// Cost      encode O(n log n) in a stretch that no token can cross, linear over stretches.
// Invariant U+2581 in tokens and in text is a space (so text that holds one comes back with a
//           space). Tokens of type unused are never made. decode does not take away the space that
//           SpacePrefix puts before a text.
// Source    Kudo, Richardson 2018, "SentencePiece", section 3; byte fallback: its option of that
//           name.
#pragma once

#include <memory>

#include "base/result.h"
#include "text/tokenizer.h"

namespace kvik {

// The spec has passed check_spec.
Result<std::unique_ptr<Tokenizer>> make_spm_tokenizer(const TokenizerSpec& spec);

}  // namespace kvik
