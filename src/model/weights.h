// The packed weights of a decoder-only transformer, and the plan by which a file's tensors become
// them. An architecture (arch/) writes the plan; load.cpp carries it out.
//
// Shape   a matrix [n_out, n_in] maps n_in to n_out. Norm weights are f32 [n].
// Owner   TransformerWeights owns the arena that every pointer points into; immutable after load.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/arena.h"
#include "kernels/pack.h"

namespace kvik {

struct LayerWeights {
    const float* attn_norm = nullptr;  // [hidden_size]
    PackedMatrix q, k, v, o;
    const float* ffn_norm = nullptr;  // [hidden_size]
    PackedMatrix gate, up, down;
};

struct TransformerWeights {
    Arena arena;
    PackedMatrix embedding;  // [vocab_size, hidden_size]
    PackedMatrix head;       // [vocab_size, hidden_size]; the embedding again when it is tied
    const float* out_norm = nullptr;
    std::vector<LayerWeights> layers;
};

// What a file must hold: one entry a tensor, in the order in which a step reads them.
struct WeightPlan {
    struct Matrix {
        std::string name;
        uint32_t n_out, n_in;
        PackedMatrix* to;
    };
    struct Vector {
        std::string name;
        uint32_t n;
        const float** to;
    };
    std::vector<Matrix> matrices;
    std::vector<Vector> vectors;

    void matrix(std::string name, uint32_t n_out, uint32_t n_in, PackedMatrix& to) {
        matrices.push_back({std::move(name), n_out, n_in, &to});
    }
    void vector(std::string name, uint32_t n, const float*& to) {
        vectors.push_back({std::move(name), n, &to});
    }
};

}  // namespace kvik
