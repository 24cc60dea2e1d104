// The plans of the architectures: which tensors of a file become which weights, and in which shapes.
//
// Use     a plan sizes weights.layers and names every tensor that the architecture reads or ignores;
//         WeightLoader reads them. What an architecture computes is said at the head of its .cpp.
// Threads stateless.   Cost  no tensor is read.
#pragma once

#include "model/config.h"
#include "model/weight_plan.h"

namespace kvik {

void plan_llama(const ModelConfig& config, TransformerWeights& weights, WeightPlan& plan);
void plan_gemma3(const ModelConfig& config, TransformerWeights& weights, WeightPlan& plan);
void plan_gpt2(const ModelConfig& config, TransformerWeights& weights, WeightPlan& plan);

// Plans the LM head: a matrix of its own, or the embedding again. A file of a model with tied
// embeddings may hold a copy of it, which nothing reads.
inline constexpr TensorName kLmHeadName = {"output.weight", "lm_head.weight"};

inline void plan_lm_head(const ModelConfig& config, TransformerWeights& weights, WeightPlan& plan) {
    if (config.tied_lm_head)
        plan.ignore(kLmHeadName);
    else
        plan.matrix(kLmHeadName, config.vocab_size, config.hidden_size, weights.head);
}

}  // namespace kvik
