// llama: RMSNorm, grouped-query attention with RoPE, SwiGLU; head tied to the embedding or not.
//
// Source  Touvron et al. 2023, arXiv 2302.13971, section 2.2; tensor names are GGUF's.
#pragma once

#include "model/config.h"
#include "model/weights.h"

namespace kvik {

void plan_llama(const ModelConfig& config, TransformerWeights& weights, WeightPlan& plan);

}  // namespace kvik
