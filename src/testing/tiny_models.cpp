#include "testing/tiny_models.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <fstream>
#include <random>

#include "testing/safetensors_writer.h"

namespace kvik {
namespace {

// Fills in tensors of independent values around `centre`.
class Filler {
  public:
    Filler(TinyModel& model, uint64_t seed) : model_(model), rng_(seed) {}

    void add(const std::string& name, std::vector<uint64_t> dims, float centre, float width) {
        uint64_t n = 1;
        for (const uint64_t dim : dims) n *= dim;
        std::vector<float> values(n);
        for (float& value : values)
            value = centre + width * (static_cast<float>(rng_() % 20001) / 10000.0f - 1.0f);
        model_.tensors[name] = {std::move(dims), std::move(values)};
    }
    // Products of order 1 from inputs of order 1.
    void matrix(const std::string& name, uint64_t n_out, uint64_t n_in) {
        add(name, {n_out, n_in}, 0, 1.5f / std::sqrt(static_cast<float>(n_in)));
    }
    void turned(const std::string& name, uint64_t n_in, uint64_t n_out) {
        add(name, {n_in, n_out}, 0, 1.5f / std::sqrt(static_cast<float>(n_in)));
    }
    void vector(const std::string& name, uint64_t n, float centre) { add(name, {n}, centre, 0.3f); }

  private:
    TinyModel& model_;
    std::mt19937_64 rng_;
};

void fill_gpt2(TinyModel& m, Filler& fill) {
    const uint64_t h = m.hidden_size;
    fill.add("transformer.wte.weight", {m.vocab_size, h}, 0, 1);
    fill.add("transformer.wpe.weight", {m.context_length, h}, 0, 0.5f);
    const auto norm = [&](const std::string& name) {
        fill.vector(name + ".weight", h, 1);
        fill.vector(name + ".bias", h, 0);
    };
    const auto linear = [&](const std::string& name, uint64_t n_in, uint64_t n_out) {
        fill.turned(name + ".weight", n_in, n_out);
        fill.vector(name + ".bias", n_out, 0);
    };
    for (uint32_t i = 0; i < m.n_layers; ++i) {
        const std::string p = fmt::format("transformer.h.{}.", i);
        norm(p + "ln_1");
        linear(p + "attn.c_attn", h, 3 * h);
        linear(p + "attn.c_proj", h, h);
        norm(p + "ln_2");
        linear(p + "mlp.c_fc", h, m.intermediate_size);
        linear(p + "mlp.c_proj", m.intermediate_size, h);
    }
    norm("transformer.ln_f");
}

void fill_llama_like(TinyModel& m, Filler& fill) {
    const bool is_gemma = m.type == "gemma3_text";
    const uint64_t h = m.hidden_size;
    const uint64_t q = uint64_t{m.n_heads} * m.head_dim, kv = uint64_t{m.n_kv_heads} * m.head_dim;
    const float centre = is_gemma ? 0.0f : 1.0f;  // Gemma's files hold scales less 1
    fill.add("model.embed_tokens.weight", {m.vocab_size, h}, 0, is_gemma ? 0.125f : 1.0f);
    for (uint32_t i = 0; i < m.n_layers; ++i) {
        const std::string p = fmt::format("model.layers.{}.", i);
        fill.vector(p + "input_layernorm.weight", h, centre);
        fill.matrix(p + "self_attn.q_proj.weight", q, h);
        fill.matrix(p + "self_attn.k_proj.weight", kv, h);
        fill.matrix(p + "self_attn.v_proj.weight", kv, h);
        fill.matrix(p + "self_attn.o_proj.weight", h, q);
        if (m.type == "qwen2") {
            fill.vector(p + "self_attn.q_proj.bias", q, 0);
            fill.vector(p + "self_attn.k_proj.bias", kv, 0);
            fill.vector(p + "self_attn.v_proj.bias", kv, 0);
        }
        if (m.type == "qwen3" || is_gemma) {
            fill.vector(p + "self_attn.q_norm.weight", m.head_dim, centre);
            fill.vector(p + "self_attn.k_norm.weight", m.head_dim, centre);
        }
        fill.vector(p + "post_attention_layernorm.weight", h, centre);
        if (is_gemma) {
            fill.vector(p + "pre_feedforward_layernorm.weight", h, centre);
            fill.vector(p + "post_feedforward_layernorm.weight", h, centre);
        }
        fill.matrix(p + "mlp.gate_proj.weight", m.intermediate_size, h);
        fill.matrix(p + "mlp.up_proj.weight", m.intermediate_size, h);
        fill.matrix(p + "mlp.down_proj.weight", h, m.intermediate_size);
    }
    fill.vector("model.norm.weight", h, centre);
    if (!m.tied) fill.matrix("lm_head.weight", m.vocab_size, h);
}

std::string config_of(const TinyModel& m) {
    if (m.type == "gpt2")
        return fmt::format(
            R"({{"model_type":"gpt2","n_layer":{},"n_embd":{},"n_head":{},"n_inner":{},)"
            R"("n_positions":{},"vocab_size":{},"layer_norm_epsilon":1e-05,)"
            R"("activation_function":"gelu_new"}})",
            m.n_layers, m.hidden_size, m.n_heads, m.intermediate_size, m.context_length,
            m.vocab_size);
    std::string text = fmt::format(
        R"({{"model_type":"{}","num_hidden_layers":{},"hidden_size":{},"num_attention_heads":{},)"
        R"("num_key_value_heads":{},"head_dim":{},"intermediate_size":{},"vocab_size":{},)"
        R"("max_position_embeddings":{},"rms_norm_eps":1e-05,"tie_word_embeddings":{})",
        m.type, m.n_layers, m.hidden_size, m.n_heads, m.n_kv_heads, m.head_dim, m.intermediate_size,
        m.vocab_size, m.context_length, m.tied);
    if (m.type == "gemma3_text") {
        std::vector<std::string> kinds;
        for (const uint32_t window : m.windows)
            kinds.push_back(window > 0 ? R"("sliding_attention")" : R"("full_attention")");
        return text + fmt::format(R"(,"hidden_activation":"gelu_pytorch_tanh","sliding_window":{},)"
                                  R"("layer_types":[{}],"query_pre_attn_scalar":{},)"
                                  R"("rope_parameters":{{"full_attention":{{"rope_theta":{}}},)"
                                  R"("sliding_attention":{{"rope_theta":{}}}}}}})",
                                  m.windows[0], fmt::join(kinds, ","), m.head_dim, m.rope_base,
                                  m.local_rope_base);
    }
    if (!m.windows.empty()) text += fmt::format(R"(,"sliding_window":{})", m.windows[0]);
    text += fmt::format(R"(,"hidden_act":"silu","rope_theta":{})", m.rope_base);
    if (m.llama3_factor > 0)
        text += fmt::format(R"(,"rope_scaling":{{"rope_type":"llama3","factor":{},)"
                            R"("low_freq_factor":1,"high_freq_factor":4,)"
                            R"("original_max_position_embeddings":32}})",
                            m.llama3_factor);
    return text + "}";
}

}  // namespace

std::vector<std::string> tiny_model_types() {
    return {"llama", "llama3", "mistral", "qwen2", "qwen3", "gemma3_text", "gpt2"};
}

TinyModel tiny_model(std::string_view type, uint64_t seed, uint32_t head_dim) {
    TinyModel m;
    m.type = type;
    if (type == "llama3") {
        m.type = "llama";
        m.rope_base = 50000;
        m.llama3_factor = 8;
    } else if (type == "mistral") {
        m.windows.assign(m.n_layers, 40);
        m.tied = false;
    } else if (type == "qwen3") {
        m.head_dim = 32;
        m.tied = false;
    } else if (type == "gemma3_text") {
        m.n_layers = 4;
        m.windows = {40, 40, 0, 40};
        m.rope_base = 1000000;
    } else if (type == "gpt2") {
        m.n_kv_heads = m.n_heads;
    }
    if (head_dim > 0) m.head_dim = head_dim;
    if (m.type == "gpt2") m.hidden_size = m.n_heads * m.head_dim;
    Filler fill(m, seed);
    m.type == "gpt2" ? fill_gpt2(m, fill) : fill_llama_like(m, fill);
    m.config = config_of(m);
    return m;
}

bool TinyModel::write(const std::string& directory) const {
    SafetensorsWriter writer;
    for (const auto& [name, tensor] : tensors) writer.f32_tensor(name, tensor.dims, tensor.values);
    std::ofstream file(directory + "/config.json");
    file << config;
    file.close();
    return file.good() && writer.write_directory(directory);
}

}  // namespace kvik
