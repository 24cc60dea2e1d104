#include "model/find_damage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

namespace kvik {
namespace {

bool is_finite(const float* x, uint32_t n) {
    return !x || std::all_of(x, x + n, [](float v) { return std::isfinite(v); });
}

bool is_finite(const PackedMatrix& matrix) {
    std::vector<float> row(matrix.n_cols);
    for (uint32_t i = 0; i < matrix.n_rows; ++i) {
        decode_packed_row(matrix, i, row.data());
        if (!is_finite(row.data(), matrix.n_cols)) return false;
    }
    return true;
}

bool is_finite(const LinearWeights& linear) {
    return is_finite(linear.matrix) && is_finite(linear.bias, linear.matrix.n_rows);
}

bool is_finite(const NormWeights& norm, uint32_t n) {
    return is_finite(norm.scale, n) && is_finite(norm.bias, n);
}

std::string_view damage_in(const LayerWeights& layer, const ModelConfig& config) {
    struct Norm {
        std::string_view name;
        const NormWeights& weights;
        uint32_t n;
    };
    for (const Norm& norm : {Norm{"the norm before attention", layer.attn_norm, config.hidden_size},
                             {"the query norm", layer.q_norm, config.head_dim},
                             {"the key norm", layer.k_norm, config.head_dim},
                             {"the norm after attention", layer.attn_post_norm, config.hidden_size},
                             {"the norm before the MLP", layer.ffn_norm, config.hidden_size},
                             {"the norm after the MLP", layer.ffn_post_norm, config.hidden_size}})
        if (!is_finite(norm.weights, norm.n)) return norm.name;
    struct Linear {
        std::string_view name;
        const LinearWeights& weights;
    };
    for (const Linear& linear : {Linear{"the query weights", layer.q},
                                 {"the key weights", layer.k},
                                 {"the value weights", layer.v},
                                 {"the output weights of attention", layer.o},
                                 {"the gate weights of the MLP", layer.gate},
                                 {"the up weights of the MLP", layer.up},
                                 {"the down weights of the MLP", layer.down}})
        if (!is_finite(linear.weights)) return linear.name;
    return "";
}

}  // namespace

std::string find_damage(const TransformerWeights& weights, const ModelConfig& config) {
    if (!is_finite(weights.embedding)) return "the embedding";
    if (!is_finite(weights.positions)) return "the positions";
    for (size_t i = 0; i < weights.layers.size(); ++i)
        if (const std::string_view name = damage_in(weights.layers[i], config); !name.empty())
            return fmt::format("{} of layer {}", name, i);
    if (!is_finite(weights.out_norm, config.hidden_size)) return "the last norm";
    return is_finite(weights.head) ? "" : "the head";
}

}  // namespace kvik
