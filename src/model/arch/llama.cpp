// llama and its kin (mistral, qwen2, qwen3): RMSNorm, grouped-query attention with RoPE, SwiGLU;
// biases of Q, K, V and norms of Q and K where the file has them; head tied or not.
//
// Source  Touvron et al. 2023, arXiv 2302.13971, section 2.2; Jiang et al. 2023, arXiv 2310.06825;
//         Yang et al. 2024, arXiv 2407.10671; Yang et al. 2025, arXiv 2505.09388.
#include "model/arch/plans.h"

namespace kvik {

void plan_llama(const ModelConfig& config, TransformerWeights& weights, WeightPlan& plan) {
    const uint32_t hidden = config.hidden_size;
    const uint32_t q_size = config.n_heads * config.head_dim;
    const uint32_t kv_size = config.n_kv_heads * config.head_dim;
    plan.matrix({"token_embd.weight", "model.embed_tokens.weight"}, config.vocab_size, hidden,
                weights.embedding);
    weights.layers.resize(config.n_layers);
    plan.layers_are({"blk.{}.", "model.layers.{}."});
    for (uint32_t i = 0; i < config.n_layers; ++i) {
        LayerWeights& l = weights.layers[i];
        plan.in_layer(i);
        plan.vector({"attn_norm.weight", "input_layernorm.weight"}, hidden, l.attn_norm.scale);
        plan.matrix({"attn_q.weight", "self_attn.q_proj.weight"}, q_size, hidden, l.q.matrix);
        plan.matrix({"attn_k.weight", "self_attn.k_proj.weight"}, kv_size, hidden, l.k.matrix);
        plan.matrix({"attn_v.weight", "self_attn.v_proj.weight"}, kv_size, hidden, l.v.matrix);
        plan.vector({"attn_q.bias", "self_attn.q_proj.bias"}, q_size, l.q.bias, config.qkv_bias);
        plan.vector({"attn_k.bias", "self_attn.k_proj.bias"}, kv_size, l.k.bias, config.qkv_bias);
        plan.vector({"attn_v.bias", "self_attn.v_proj.bias"}, kv_size, l.v.bias, config.qkv_bias);
        plan.vector({"attn_q_norm.weight", "self_attn.q_norm.weight"}, config.head_dim,
                    l.q_norm.scale, config.qk_norm);
        plan.vector({"attn_k_norm.weight", "self_attn.k_norm.weight"}, config.head_dim,
                    l.k_norm.scale, config.qk_norm);
        plan.matrix({"attn_output.weight", "self_attn.o_proj.weight"}, hidden, q_size, l.o.matrix);
        plan.vector({"attn_output.bias", "self_attn.o_proj.bias"}, hidden, l.o.bias,
                    config.output_bias);
        plan.vector({"ffn_norm.weight", "post_attention_layernorm.weight"}, hidden,
                    l.ffn_norm.scale);
        plan.matrix({"ffn_gate.weight", "mlp.gate_proj.weight"}, config.intermediate_size, hidden,
                    l.gate.matrix);
        plan.matrix({"ffn_up.weight", "mlp.up_proj.weight"}, config.intermediate_size, hidden,
                    l.up.matrix);
        plan.matrix({"ffn_down.weight", "mlp.down_proj.weight"}, hidden, config.intermediate_size,
                    l.down.matrix);
        plan.ignore({"attn_rot_embd", "self_attn.rotary_emb.inv_freq"});
    }
    plan.outside_layers();
    plan.vector({"output_norm.weight", "model.norm.weight"}, hidden, weights.out_norm.scale);
    // Tables of angles that the reader of the configuration has used already.
    plan.ignore({"rope_freqs.weight", "model.rotary_emb.inv_freq"});
    plan_lm_head(config, weights, plan);
}

}  // namespace kvik
