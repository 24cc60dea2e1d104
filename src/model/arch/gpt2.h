// gpt2: LayerNorm with bias, learned positions, one matrix for Q, K and V, gelu(up) without a gate,
// a bias to every product; head tied to the embedding.
//
// Shape   Hugging Face keeps the layers' matrices turned: [n_in, n_out].
// Source  Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", section 2.3.
#pragma once

#include "model/config.h"
#include "model/weight_plan.h"

namespace kvik {

void plan_gpt2(const ModelConfig& config, TransformerWeights& weights, WeightPlan& plan);

}  // namespace kvik
