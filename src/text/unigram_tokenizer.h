// Unigram: of all ways to cut a text into pieces, the one whose scores (log-probabilities) have the
// largest sum.
//
// Cost      encode about 100 ns a byte, linear in the text times the longest piece.
// Invariant of equal sums the one whose last piece begins earliest wins, at every prefix of the
//           text; sums are of doubles, from the stretch's start on. A character without a piece
//           costs 10 more than the worst piece and becomes bytes or the unknown token.
// Errors    no unknown token, or no score for each token.
// Source    Kudo 2018, "Subword regularization", section 3.1 (Viterbi over the lattice).
#pragma once

#include <memory>

#include "base/result.h"
#include "text/tokenizer.h"

namespace kvik {

// The spec has passed check_spec.
Result<std::unique_ptr<Tokenizer>> make_unigram_tokenizer(const TokenizerSpec& spec);

}  // namespace kvik
