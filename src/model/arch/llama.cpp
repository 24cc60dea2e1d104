#include "model/arch/llama.h"

#include <fmt/format.h>

namespace kvik {

void plan_llama(const ModelConfig& config, TransformerWeights& weights, WeightPlan& plan) {
    const uint32_t hidden = config.hidden_size;
    const uint32_t q_size = config.n_heads * config.head_dim;
    const uint32_t kv_size = config.n_kv_heads * config.head_dim;
    plan.matrix("token_embd.weight", config.vocab_size, hidden, weights.embedding);
    weights.layers.resize(config.n_layers);
    for (uint32_t i = 0; i < config.n_layers; ++i) {
        LayerWeights& layer = weights.layers[i];
        const auto name = [i](const char* part) {
            return fmt::format("blk.{}.{}.weight", i, part);
        };
        plan.vector(name("attn_norm"), hidden, layer.attn_norm);
        plan.matrix(name("attn_q"), q_size, hidden, layer.q);
        plan.matrix(name("attn_k"), kv_size, hidden, layer.k);
        plan.matrix(name("attn_v"), kv_size, hidden, layer.v);
        plan.matrix(name("attn_output"), hidden, q_size, layer.o);
        plan.vector(name("ffn_norm"), hidden, layer.ffn_norm);
        plan.matrix(name("ffn_gate"), config.ff_size, hidden, layer.gate);
        plan.matrix(name("ffn_up"), config.ff_size, hidden, layer.up);
        plan.matrix(name("ffn_down"), hidden, config.ff_size, layer.down);
    }
    plan.vector("output_norm.weight", hidden, weights.out_norm);
    if (!config.tied_head) plan.matrix("output.weight", config.vocab_size, hidden, weights.head);
}

}  // namespace kvik
