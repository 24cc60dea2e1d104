// Log-probabilities of the raw distribution: temperature 1, before penalties and bias.
//
// Shape   row : [vocab_size] f32
// Cost    from the tiles of the row 0.06 ns an element; without, two passes of about 1 ns together.
// Errors  NaN when the row holds NaN or +inf, or nothing above -inf.
// Invariant the same bits on every machine; within 2e-6 of the exact value (logprob.cpp says why).
#pragma once

#include <span>

#include "base/logit_tiles.h"
#include "base/types.h"

namespace kvik {

// log(sum of exp(row)): from the row, and from its tiles' maxima and sum_exps. The same bits.
double log_sum_exp(std::span<const float> row) noexcept;
double log_sum_exp(const LogitTiles& tiles) noexcept;

// log softmax(row)[token] = row[token] - log_sum_exp; from the row if the tiles hold no sum_exps.
double log_softmax_at(std::span<const float> row, TokenId token,
                      const LogitTiles& tiles = {}) noexcept;

}  // namespace kvik
