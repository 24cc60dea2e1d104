// gemma3: RMSNorms around attention and MLP, norms of Q and K, five layers with a window and then
// one without, a RoPE base for each kind, gelu(gate) * up, embedding times sqrt(hidden_size).
//
// Shape   Hugging Face keeps the scale of every norm less 1, GGUF keeps the scale itself.
// Source  Gemma Team 2025, arXiv 2503.19786, section 2.
#pragma once

#include "model/config.h"
#include "model/weight_plan.h"

namespace kvik {

void plan_gemma3(const ModelConfig& config, TransformerWeights& weights, WeightPlan& plan);

}  // namespace kvik
