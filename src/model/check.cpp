#include "model/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "model/arch/registry.h"
#include "model/load.h"
#include "model/weight_loader.h"

namespace kvik {

Result<ModelNeeds> check_model(const ModelSource& source, const std::string& path) {
    KVIK_TRY_VOID(check_limits(source.config, path));
    const Architecture* architecture = find_architecture(source.config.architecture);
    KVIK_CHECK(architecture, "a reader accepts only registered architectures");
    TransformerWeights weights;
    WeightPlan plan(source.format);
    architecture->plan(source.config, weights, plan);
    ModelNeeds needs;
    KVIK_TRY(needs.weight_bytes, check_weights(*source.tensors, path, plan));
    for (const WeightPlan::Matrix& m : plan.matrices) {
        const bool is_head =
            m.to == (source.config.tied_lm_head ? &weights.embedding : &weights.head);
        const bool is_table = m.to == &weights.embedding || m.to == &weights.positions;
        if (!is_table || is_head) needs.step_bytes += m.to->n_bytes();
        if (is_table && !is_head) continue;
        MultiplyAdds& macs = is_head ? needs.head : needs.token;
        const bool is_quantised = tile_traits(m.to->type).group > 1;
        (is_quantised ? macs.quantised : macs.floats) += uint64_t{m.n_out} * m.n_in;
    }
    return needs;
}

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
