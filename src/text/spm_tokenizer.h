// SentencePiece-BPE ("llama"): characters are merged into the neighbouring pair whose token has the
// best score; what has no token falls back to its bytes.
//
// Cost      encode O(n log n) in a stretch that no token can cross, linear over stretches.
// Invariant U+2581 in tokens and in text is a space (so text that holds one comes back with a
//           space). Tokens of type unused are never made. With add_space_prefix a space stands
//           before the text's start and after a control token; decode does not take it away.
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
