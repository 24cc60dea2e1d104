// gpt2: LayerNorm with bias, learned positions, one matrix for Q, K and V, gelu(up) without a gate,
// a bias to every product; head tied to the embedding.
//
// Shape   Hugging Face keeps the layers' matrices turned: [n_in, n_out].
// Source  Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", section 2.3.
#include "model/arch/plans.h"

namespace kvik {
namespace {

void plan_norm(WeightPlan& plan, TensorName scale, TensorName bias, uint32_t n, NormWeights& to) {
    plan.vector(scale, n, to.scale);
    plan.vector(bias, n, to.bias);
}

}  // namespace

void plan_gpt2(const ModelConfig& config, TransformerWeights& weights, WeightPlan& plan) {
    const uint32_t hidden = config.hidden_size;
    const TensorStorage storage =
        plan.format == ModelFormat::hugging_face ? TensorStorage::columns : TensorStorage::rows;
    const auto linear = [&](TensorName matrix, TensorName bias, uint32_t n_out, uint32_t n_in,
                            LinearWeights& to, TensorPart part = {}) {
        part.storage = storage;
        plan.matrix(matrix, n_out, n_in, to.matrix, part);
        part.storage = TensorStorage::rows;
        plan.vector(bias, n_out, to.bias, TensorNeed::required, part);
    };
    plan.matrix({"token_embd.weight", "transformer.wte.weight"}, config.vocab_size, hidden,
                weights.embedding);
    plan.matrix({"position_embd.weight", "transformer.wpe.weight"}, config.context_length, hidden,
                weights.positions);
    weights.layers.resize(config.n_layers);
    plan.layers_are({"blk.{}.", "transformer.h.{}."});
    for (uint32_t i = 0; i < config.n_layers; ++i) {
        LayerWeights& l = weights.layers[i];
        plan.in_layer(i);
        plan_norm(plan, {"attn_norm.weight", "ln_1.weight"}, {"attn_norm.bias", "ln_1.bias"},
                  hidden, l.attn_norm);
        LinearWeights* const qkv[] = {&l.q, &l.k, &l.v};
        for (uint32_t part = 0; part < 3; ++part)
            linear({"attn_qkv.weight", "attn.c_attn.weight"}, {"attn_qkv.bias", "attn.c_attn.bias"},
                   hidden, hidden, *qkv[part], {.first = part * hidden, .n_all = 3 * hidden});
        linear({"attn_output.weight", "attn.c_proj.weight"},
               {"attn_output.bias", "attn.c_proj.bias"}, hidden, hidden, l.o);
        plan_norm(plan, {"ffn_norm.weight", "ln_2.weight"}, {"ffn_norm.bias", "ln_2.bias"}, hidden,
                  l.ffn_norm);
        linear({"ffn_up.weight", "mlp.c_fc.weight"}, {"ffn_up.bias", "mlp.c_fc.bias"},
               config.intermediate_size, hidden, l.up);
        linear({"ffn_down.weight", "mlp.c_proj.weight"}, {"ffn_down.bias", "mlp.c_proj.bias"},
               hidden, config.intermediate_size, l.down);
        // The causal mask, which old checkpoints keep as a tensor.
        plan.ignore({"attn_mask", "attn.bias"});
        plan.ignore({"attn_mask_value", "attn.masked_bias"});
    }
    plan.outside_layers();
    plan_norm(plan, {"output_norm.weight", "transformer.ln_f.weight"},
              {"output_norm.bias", "transformer.ln_f.bias"}, hidden, weights.out_norm);
    plan_lm_head(config, weights, plan);
}

}  // namespace kvik
