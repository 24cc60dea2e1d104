// Penalties and bias: what changes a row of logits before the temperature.
//
// Shape   row : [vocab_size] f32, changed in place; counts : [vocab_size], all zero before and
//         after
// Cost    O(history + biases); the row is not read elsewhere.
#pragma once

#include <cstdint>
#include <span>

#include "base/types.h"
#include "sample/params.h"

namespace kvik {

// Whether adjust_logits would do anything.
bool adjusts_logits(const SamplingParams& params) noexcept;

// For each token seen n > 0 times in `history`:
//   l = l > 0 ? l / repeat : l * repeat;  l = l - presence;  l = l - frequency * n
// then l = l + bias for each bias, in order. All in f32.
void adjust_logits(const SamplingParams& params, std::span<const TokenId> history,
                   std::span<float> row, std::span<uint32_t> counts);

}  // namespace kvik
