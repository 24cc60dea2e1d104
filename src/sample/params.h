// SamplingParams: how a token is picked from a row of logits. Values are the command line's.
//
// Order   penalties, bias, temperature, top-k, top-p, min-p, then the draw.
// Errors  validate() names the field, the value and the range.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace kvik {

struct SamplingParams {
    float temperature = 0.7f;        // 0: greedy, ties go to the lowest id
    uint32_t top_k = 0;              // 0: off
    float top_p = 1.0f;              // 1: off
    float min_p = 0.05f;             // 0: off; relative to the likeliest token
    float repeat_penalty = 1.0f;     // 1: off; divides positive, multiplies negative logits
    float presence_penalty = 0.0f;   // subtracted once from each token seen
    float frequency_penalty = 0.0f;  // subtracted per time seen
    std::vector<std::pair<TokenId, float>> logit_bias;  // added to the logit; -inf forbids
    // Of the random choices: the same seed gives the same answer. Unset: the engine draws one for each
    // request (Summary::seed says which); sample() alone takes 0.
    std::optional<uint64_t> seed;
    uint32_t sample_index = 0;  // keeps n > 1 answers of one seed apart
};

// A seed nobody chose, of 32 bits so that it can be typed again. Thread-safe.
uint64_t draw_seed();

Result<void> validate(const SamplingParams& params);  // the numbers, whatever the model
Result<void> validate(const SamplingParams& params, uint32_t vocab_size);  // and the biased ids

}  // namespace kvik
