#include "sample/logits.h"

#include "base/check.h"

namespace kvik {
namespace {

bool penalises(const SamplingParams& params) noexcept {
    return params.repeat_penalty != 1.0f || params.presence_penalty != 0.0f ||
           params.frequency_penalty != 0.0f;
}

float penalised(const SamplingParams& params, float logit, uint32_t n_seen) noexcept {
    logit = logit > 0 ? logit / params.repeat_penalty : logit * params.repeat_penalty;
    logit = logit - params.presence_penalty;
    return logit - params.frequency_penalty * static_cast<float>(n_seen);
}

}  // namespace

bool adjusts_logits(const SamplingParams& params) noexcept {
    return penalises(params) || !params.logit_bias.empty();
}

void adjust_logits(const SamplingParams& params, std::span<const TokenId> history,
                   std::span<float> row, std::span<uint32_t> counts) {
    KVIK_CHECK(counts.size() == row.size(), "there is a count for every token");
    if (penalises(params)) {
        for (const TokenId id : history) {
            KVIK_CHECK(id >= 0 && static_cast<size_t>(id) < row.size(),
                       "a history holds tokens of the vocabulary");
            ++counts[id];
        }
        for (const TokenId id : history) {
            if (counts[id] == 0) continue;  // done at an earlier occurrence
            row[id] = penalised(params, row[id], counts[id]);
            counts[id] = 0;
        }
    }
    for (const auto& [id, bias] : params.logit_bias) row[id] += bias;
}

}  // namespace kvik
