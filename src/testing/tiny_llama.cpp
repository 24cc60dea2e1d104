#include "testing/tiny_llama.h"

#include <fmt/format.h>

namespace kvik {

GgufWriter tiny_llama(const TinyLlama& s) {
    GgufWriter w;
    w.set("general.architecture", "llama");
    w.set("general.name", "tiny");
    w.set("llama.block_count", s.n_layers);
    w.set("llama.context_length", s.context_length);
    w.set("llama.embedding_length", s.hidden_size);
    w.set("llama.feed_forward_length", s.intermediate_size);
    w.set("llama.attention.head_count", s.n_heads);
    w.set("llama.attention.head_count_kv", s.n_kv_heads);
    w.set("llama.attention.layer_norm_rms_epsilon", 1e-5f);
    w.set("llama.vocab_size", s.vocab_size);
    const uint32_t head_dim = s.hidden_size / s.n_heads;
    const uint64_t kv_size = uint64_t{s.n_kv_heads} * head_dim;
    uint64_t seed = s.seed;
    const auto matrix = [&](const std::string& name, uint64_t n_out, uint64_t n_in) {
        ++seed;
        if (name + ".weight" == s.without) return;
        w.random_tensor(name + ".weight", s.dtype, {n_out, n_in}, seed);
    };
    const auto norm = [&](const std::string& name) {
        w.random_tensor(name + ".weight", DType::f32, {s.hidden_size}, ++seed, 1.0f);
    };
    matrix("token_embd", s.vocab_size, s.hidden_size);
    for (uint32_t i = 0; i < s.n_layers; ++i) {
        const std::string layer = fmt::format("blk.{}.", i);
        norm(layer + "attn_norm");
        matrix(layer + "attn_q", s.hidden_size, s.hidden_size);
        matrix(layer + "attn_k", kv_size, s.hidden_size);
        matrix(layer + "attn_v", kv_size, s.hidden_size);
        matrix(layer + "attn_output", s.hidden_size, s.hidden_size);
        norm(layer + "ffn_norm");
        matrix(layer + "ffn_gate", s.intermediate_size, s.hidden_size);
        matrix(layer + "ffn_up", s.intermediate_size, s.hidden_size);
        matrix(layer + "ffn_down", s.hidden_size, s.intermediate_size);
    }
    norm("output_norm");
    if (s.head == TinyHead::own) matrix("output", s.vocab_size, s.hidden_size);
    return w;
}

}  // namespace kvik
