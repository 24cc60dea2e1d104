// Log-probabilities of the raw distribution: temperature 1, before penalties and bias.
//
// Shape   row : [vocab_size] f32
// Cost    two passes, about 1 ns an element together, whatever the instruction set.
// Errors  NaN when the row holds NaN or +inf, or nothing above -inf.
// Invariant the same bits on every machine; within 2e-6 of the exact value (logprob.cpp says why).
#pragma once

#include <span>

#include "base/types.h"

namespace kvik {

// log(sum of exp(row)).
double log_sum_exp(std::span<const float> row) noexcept;

// log softmax(row)[token] = row[token] - log_sum_exp(row).
double log_softmax_at(std::span<const float> row, TokenId token) noexcept;

}  // namespace kvik
