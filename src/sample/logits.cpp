#include "sample/logits.h"

namespace kvik {

bool penalises(const SamplingParams& params) noexcept {
    return params.repeat_penalty != 1.0f || params.presence_penalty != 0.0f ||
           params.frequency_penalty != 0.0f;
}

bool adjusts_logits(const SamplingParams& params) noexcept {
    return penalises(params) || !params.logit_bias.empty();
}

float penalised(const SamplingParams& params, float logit, uint32_t n_seen) noexcept {
    logit = logit > 0 ? logit / params.repeat_penalty : logit * params.repeat_penalty;
    logit = logit - params.presence_penalty;
    return logit - params.frequency_penalty * static_cast<float>(n_seen);
}

}  // namespace kvik
