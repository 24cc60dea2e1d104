// llama and its kin (mistral, qwen2, qwen3): RMSNorm, grouped-query attention with RoPE, SwiGLU;
// biases of Q, K, V and norms of Q and K where the file has them; head tied or not.
//
// Source  Touvron et al. 2023, arXiv 2302.13971, section 2.2; Jiang et al. 2023, arXiv 2310.06825;
//         Yang et al. 2024, arXiv 2407.10671; Yang et al. 2025, arXiv 2505.09388.
#pragma once

#include "model/config.h"
#include "model/weight_plan.h"

namespace kvik {

void plan_llama(const ModelConfig& config, TransformerWeights& weights, WeightPlan& plan);

}  // namespace kvik
