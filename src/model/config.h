// ModelConfig: all that a forward pass must know besides the weights, in no file's format.
//
// Use     a reader of a format fills it in and calls validate before anything is sized by it.
// Shape   queries are n_heads x head_dim wide, keys and values n_kv_heads x head_dim; head_dim need
//         not be hidden_size / n_heads. Query head h reads KV head h / (n_heads / n_kv_heads).
// Invariant after validate: every number in the range that config.cpp's table gives it, n_kv_heads
//         divides n_heads, rope.n_dims is even and at most head_dim. Sizes made of them (a weight,
//         a block of KV) are far from 2^64.
// Errors  ErrorKind::file: the file, its own name of the field, the value, the range.
// Source  RoPE: Su et al. 2021, arXiv 2104.09864, section 3.2.2. GQA: Ainslie et al. 2023, arXiv
//         2305.13245, section 2.2.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace kvik {

// Which two elements of a head turn together in pair i.
enum class RopeLayout : uint8_t {
    adjacent,  // 2i and 2i + 1
    halves,    // i and i + n_dims / 2
};

// Pair i at position p turns by the angle (p / linear_factor) * base^(-2i / n_dims) / divisors[i].
struct RopeConfig {
    double base = 10000;
    double linear_factor = 1;  // 1: positions are taken as they are
    uint32_t n_dims = 0;       // first elements of a head that turn; the rest pass unchanged
    RopeLayout layout = RopeLayout::adjacent;
    std::vector<double> divisors = {};  // [n_dims / 2], or empty: all 1
};

// How a layer's input is normed: by its root mean square, or by mean and deviation with a bias.
enum class Norm : uint8_t { rms, layer };

// What stands between up and down: silu(gate) * up, gelu(gate) * up, or gelu(up) without a gate.
enum class Mlp : uint8_t { silu_gated, gelu_gated, gelu };

enum class Positions : uint8_t {
    rope,     // queries and keys turn
    learned,  // a row of a table is added to the embedding
};

// A tensor that a file may have or not.
enum class TensorNeed : uint8_t { required, optional, absent };

// What an architecture computes whatever the file says: written once, in its row of arch/registry.cpp,
// and read in the step.
struct ArchitectureMath {
    Norm norm = Norm::rms;
    Mlp mlp = Mlp::silu_gated;
    Positions positions = Positions::rope;
};

struct ModelConfig : ArchitectureMath {
    std::string architecture;
    std::string name;  // the model's own; may be empty
    uint32_t n_layers = 0;
    uint32_t hidden_size = 0;
    uint32_t n_heads = 0;
    uint32_t n_kv_heads = 0;
    uint32_t head_dim = 0;
    uint32_t intermediate_size = 0;
    uint32_t vocab_size = 0;
    uint32_t context_length = 0;
    float norm_eps = 0;
    RopeConfig rope;
    RopeConfig local_rope;          // of layers with a window, if it differs; else n_dims is 0
    std::vector<uint32_t> windows;  // [n_layers] positions a layer sees, or empty; see window()
    float embedding_scale = 1;
    float attention_scale = 0;  // of a score, before the softmax
    bool tied_lm_head = false;  // the embedding is the head too
    TensorNeed qkv_bias = TensorNeed::optional, output_bias = TensorNeed::optional;  // of attention
    TensorNeed qk_norm = TensorNeed::optional;

    // Dimensions of a head in KV and in the kernels of attention: whole vectors of 16, zeros behind
    // head_dim, which change no score and no output.
    uint32_t padded_head_dim() const { return (head_dim + 15) / 16 * 16; }
    // The last positions that the layer sees, its own included; 0: all of them.
    uint32_t window(uint32_t layer) const { return windows.empty() ? 0 : windows[layer]; }
    const RopeConfig& rope_of(uint32_t layer) const {
        return local_rope.n_dims > 0 && window(layer) > 0 ? local_rope : rope;
    }
};

enum class ConfigField : uint8_t {
    n_layers,
    hidden_size,
    n_heads,
    n_kv_heads,
    head_dim,
    intermediate_size,
    vocab_size,
    context_length,
    norm_eps,
    rope_base,
    rope_linear_factor,
    rope_n_dims,
    window,
    attention_scale,
};
inline constexpr size_t kNConfigFields = 14;

// What a file calls the fields: messages speak the file's language.
struct ConfigNames {
    std::string file;
    std::array<std::string, kNConfigFields> of;  // by ConfigField
    std::string& operator[](ConfigField field) { return of[static_cast<size_t>(field)]; }
    const std::string& operator[](ConfigField field) const {
        return of[static_cast<size_t>(field)];
    }
};

Result<void> validate(const ModelConfig& config, const ConfigNames& names);

}  // namespace kvik
