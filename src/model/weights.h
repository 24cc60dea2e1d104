// The weights of a decoder-only transformer, packed for the kernels; weight_plan.h says how they
// are filled.
//
// Shape   a matrix [n_out, n_in] maps n_in to n_out. Norm weights and biases are f32 [n]; what an
//         architecture has not is null, or a matrix of no rows.
// Owner   TransformerWeights owns the arena that every pointer points into; immutable after load.
#pragma once

#include <cstdint>
#include <vector>

#include "base/arena.h"
#include "kernels/pack.h"

namespace kvik {

struct NormWeights {
    const float* scale = nullptr;  // null: no norm
    const float* bias = nullptr;   // of Norm::layer
};

struct LinearWeights {
    PackedMatrix matrix;
    const float* bias = nullptr;  // [n_out]
};

struct LayerWeights {
    NormWeights attn_norm;  // [hidden_size]
    LinearWeights q, k, v, o;
    NormWeights q_norm, k_norm;  // [head_dim], of every head by itself
    NormWeights attn_post_norm;  // [hidden_size], of what attention adds
    NormWeights ffn_norm;
    LinearWeights gate, up, down;
    NormWeights ffn_post_norm;
};

struct TransformerWeights {
    Arena arena;
    PackedMatrix embedding;  // [vocab_size, hidden_size]
    PackedMatrix positions;  // [context_length, hidden_size] of Positions::learned
    PackedMatrix head;       // [vocab_size, hidden_size]; the embedding again when it is tied
    NormWeights out_norm;
    std::vector<LayerWeights> layers;
};

}  // namespace kvik
