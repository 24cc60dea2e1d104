#include "model/arch/traits.h"

#include <cmath>

namespace kvik {

void apply_traits(const ArchitectureTraits& traits, uint32_t window, ModelConfig& config) {
    config.architecture = traits.name;
    config.norm = traits.norm;
    config.mlp = traits.mlp;
    config.positions = traits.positions;
    if (traits.embedding == EmbeddingScale::sqrt_hidden)
        config.embedding_scale = std::sqrt(static_cast<float>(config.hidden_size));
    config.attention_scale = 1.0f / std::sqrt(static_cast<float>(config.head_dim));
    if (window == 0) return;
    config.windows.assign(config.n_layers, window);
    if (traits.global_every == 0) return;
    for (uint32_t i = traits.global_every - 1; i < config.n_layers; i += traits.global_every)
        config.windows[i] = 0;
}

}  // namespace kvik
