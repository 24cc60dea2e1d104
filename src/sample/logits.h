// Penalties and bias: what changes a row of logits before the temperature.
//
// Shape   counts : [vocab_size], all zero before and after
// Cost    O(history + biases); no other logit is looked at.
#pragma once

#include <cstdint>
#include <span>

#include "base/check.h"
#include "base/types.h"
#include "sample/params.h"

namespace kvik {

// Whether anything is penalised; and whether adjust_logits would do anything.
bool penalises(const SamplingParams& params) noexcept;
bool adjusts_logits(const SamplingParams& params) noexcept;

float penalised(const SamplingParams& params, float logit, uint32_t n_seen) noexcept;

// For each token seen n > 0 times in `history`:
//   l = l > 0 ? l / repeat : l * repeat;  l = l - presence;  l = l - frequency * n
// then l = l + bias for each bias, in order. All in f32. logit(id) is a float& of that token.
template <class Logit>
void adjust_logits(const SamplingParams& params, std::span<const TokenId> history,
                   std::span<uint32_t> counts, Logit&& logit) {
    if (penalises(params)) {
        for (const TokenId id : history) {
            KVIK_CHECK(id >= 0 && static_cast<size_t>(id) < counts.size(),
                       "a history holds tokens of the vocabulary");
            ++counts[static_cast<size_t>(id)];
        }
        for (const TokenId id : history) {
            uint32_t& n_seen = counts[static_cast<size_t>(id)];
            if (n_seen == 0) continue;  // done at an earlier occurrence
            float& l = logit(id);
            l = penalised(params, l, n_seen);
            n_seen = 0;
        }
    }
    for (const auto& [id, bias] : params.logit_bias) logit(id) += bias;
}

}  // namespace kvik
