// check_model: whether a model would load, and what it would take, from its headers alone.
//
// Cost    no tensor is read, nothing large is allocated.
// Errors  those of load_model for the same model.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "model/config.h"
#include "model/source.h"
#include "model/weight_plan.h"

namespace kvik {

struct MultiplyAdds {
    uint64_t quantised = 0;  // with quantised weights
    uint64_t floats = 0;     // with F32, F16 and BF16 weights
};

// The products of attention are apart: they grow with the context.
struct ModelNeeds {
    uint64_t weight_bytes = 0;  // resident, packed
    uint64_t step_bytes = 0;    // of these, read in every step
    MultiplyAdds token;         // of each token, without the head's
    MultiplyAdds head;          // of each row of logits
};

// `path` is for messages.
Result<ModelNeeds> check_model(const ModelSource& source, const std::string& path);

// ----
// find_damage: which weights of a model hold a NaN or an infinity, for the error of a step whose
// numbers are none.
//
// Cost    decodes every weight until it finds one: for an error, never on the way.
// Threads any: the weights are only read.

// "the embedding", "the query weights of layer 3"; empty: all numbers are finite.
std::string find_damage(const TransformerWeights& weights, const ModelConfig& config);

}  // namespace kvik
