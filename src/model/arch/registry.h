// The architectures that kvik runs: a name, and how its tensors become TransformerWeights.
//
// Adding  one file in arch/ and a row in registry.cpp; a step's differences are ModelConfig fields.
#pragma once

#include <string_view>
#include <vector>

#include "model/config.h"
#include "model/gguf_config.h"
#include "model/weights.h"

namespace kvik {

struct Architecture {
    GgufArchitecture gguf;  // its name, and how GGUF lays its heads out
    // Sizes weights.layers and fills in the plan.
    void (*plan)(const ModelConfig& config, TransformerWeights& weights, WeightPlan& plan);
};

std::vector<GgufArchitecture> gguf_architectures();            // what config_from_gguf may meet
const Architecture* find_architecture(std::string_view name);  // null: unknown

}  // namespace kvik
