// gemma3: RMSNorms around attention and MLP, norms of Q and K, five layers with a window and then
// one without, a RoPE base for each kind, gelu(gate) * up, embedding times sqrt(hidden_size).
//
// Shape   Hugging Face keeps the scale of every norm less 1, GGUF keeps the scale itself.
// Source  Gemma Team 2025, arXiv 2503.19786, section 2.
#include "model/arch/plans.h"

namespace kvik {

void plan_gemma3(const ModelConfig& config, TransformerWeights& weights, WeightPlan& plan) {
    const uint32_t hidden = config.hidden_size;
    const uint32_t q_size = config.n_heads * config.head_dim;
    const uint32_t kv_size = config.n_kv_heads * config.head_dim;
    const ScaleOffset offset =
        plan.format == ModelFormat::hugging_face ? ScaleOffset::one : ScaleOffset::none;
    const auto norm = [&](TensorName name, uint32_t n, NormWeights& to) {
        plan.vector(name, n, to.scale, TensorNeed::required, {}, offset);
    };
    plan.matrix({"token_embd.weight", "model.embed_tokens.weight"}, config.vocab_size, hidden,
                weights.embedding);
    weights.layers.resize(config.n_layers);
    plan.layers_are({"blk.{}.", "model.layers.{}."});
    for (uint32_t i = 0; i < config.n_layers; ++i) {
        LayerWeights& l = weights.layers[i];
        plan.in_layer(i);
        norm({"attn_norm.weight", "input_layernorm.weight"}, hidden, l.attn_norm);
        plan.matrix({"attn_q.weight", "self_attn.q_proj.weight"}, q_size, hidden, l.q.matrix);
        plan.matrix({"attn_k.weight", "self_attn.k_proj.weight"}, kv_size, hidden, l.k.matrix);
        plan.matrix({"attn_v.weight", "self_attn.v_proj.weight"}, kv_size, hidden, l.v.matrix);
        norm({"attn_q_norm.weight", "self_attn.q_norm.weight"}, config.head_dim, l.q_norm);
        norm({"attn_k_norm.weight", "self_attn.k_norm.weight"}, config.head_dim, l.k_norm);
        plan.matrix({"attn_output.weight", "self_attn.o_proj.weight"}, hidden, q_size, l.o.matrix);
        norm({"post_attention_norm.weight", "post_attention_layernorm.weight"}, hidden,
             l.attn_post_norm);
        norm({"ffn_norm.weight", "pre_feedforward_layernorm.weight"}, hidden, l.ffn_norm);
        plan.matrix({"ffn_gate.weight", "mlp.gate_proj.weight"}, config.intermediate_size, hidden,
                    l.gate.matrix);
        plan.matrix({"ffn_up.weight", "mlp.up_proj.weight"}, config.intermediate_size, hidden,
                    l.up.matrix);
        plan.matrix({"ffn_down.weight", "mlp.down_proj.weight"}, hidden, config.intermediate_size,
                    l.down.matrix);
        norm({"post_ffw_norm.weight", "post_feedforward_layernorm.weight"}, hidden,
             l.ffn_post_norm);
    }
    plan.outside_layers();
    norm({"output_norm.weight", "model.norm.weight"}, hidden, weights.out_norm);
    plan_lm_head(config, weights, plan);
}

}  // namespace kvik
