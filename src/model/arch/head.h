// The head of a model: a matrix of its own, or the embedding again, beside which a file may keep a
// copy that nothing reads.
#pragma once

#include "model/config.h"
#include "model/weight_plan.h"

namespace kvik {

inline constexpr TensorName kHeadName = {"output.weight", "lm_head.weight"};

inline void plan_head(const ModelConfig& config, TransformerWeights& weights, WeightPlan& plan) {
    if (config.tied_head)
        plan.ignore(kHeadName);
    else
        plan.matrix(kHeadName, config.vocab_size, config.hidden_size, weights.head);
}

}  // namespace kvik
