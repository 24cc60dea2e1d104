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

// Pair i at position p turns by the angle (p / linear_factor) * base^(-2i / n_dims).
struct RopeConfig {
    double base = 10000;
    double linear_factor = 1;  // 1: positions are taken as they are
    uint32_t n_dims = 0;       // first elements of a head that turn; the rest pass unchanged
    RopeLayout layout = RopeLayout::adjacent;
};

struct ModelConfig {
    std::string architecture;
    std::string name;  // the model's own; may be empty
    uint32_t n_layers = 0;
    uint32_t hidden_size = 0;
    uint32_t n_heads = 0;
    uint32_t n_kv_heads = 0;
    uint32_t head_dim = 0;
    uint32_t ff_size = 0;
    uint32_t vocab_size = 0;
    uint32_t context_length = 0;
    float rms_eps = 0;
    RopeConfig rope;
    std::vector<uint32_t> windows;  // [n_layers] positions a layer sees, or empty; see window()
    bool tied_head = false;         // the embedding is the head too

    // The last positions that the layer sees, its own included; 0: all of them.
    uint32_t window(uint32_t layer) const { return windows.empty() ? 0 : windows[layer]; }
};

enum class ConfigField : uint8_t {
    n_layers,
    hidden_size,
    n_heads,
    n_kv_heads,
    head_dim,
    ff_size,
    vocab_size,
    context_length,
    rms_eps,
    rope_base,
    rope_linear_factor,
    rope_n_dims,
};
inline constexpr size_t kNConfigFields = 12;

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
