// The weights of a decoder-only transformer, packed for the kernels; weight_plan.h says how they
// are filled.
//
// Shape   a matrix [n_out, n_in] maps n_in to n_out. Norm weights and biases are f32 [n]; what an
//         architecture has not is null, or a matrix of no rows.
// Owner   TransformerWeights owns the arena that every pointer points into; immutable after load.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "kernels/pack.h"
#include "model/config.h"
#include "model/format.h"

namespace kvik {

struct NormWeights {
    const float* scale = nullptr;  // null: the architecture has no such norm, its input passes
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

// ----
// WeightPlan: what a model's files must hold, one entry a tensor, in the order in which a step
// reads them. An architecture writes it down; weight_loader carries it out.
//
// Use     plan.in_layer(i); plan.matrix({"attn_q.weight", "self_attn.q_proj.weight"}, n_out, n_in,
//         layer.q.matrix): names of a layer's tensors are written without the layer's prefix.
// Shape   [n_out, n_in], as the file has it; a part is some rows of a tensor that holds more, and
//         `columns` says that the file has it turned, [n_in, n_out].

// The same tensor in both families of files.
struct TensorName {
    std::string_view gguf;
    std::string_view hugging_face;
};

enum class TensorStorage : uint8_t { rows, columns };
enum class ScaleOffset : uint8_t { none, one };  // one: the file has a scale less 1

// The outputs [first, first + n_out) of a tensor of the file that has n_all outputs.
struct TensorPart {
    uint32_t first = 0;
    uint32_t n_all = 0;  // 0: the tensor is not shared
    TensorStorage storage = TensorStorage::rows;
};

struct WeightPlan {
    struct Matrix {
        std::string name;
        uint32_t n_out, n_in;
        TensorPart part;
        PackedMatrix* to;
    };
    struct Vector {
        std::string name;
        uint32_t n;
        TensorPart part;
        TensorNeed need;
        ScaleOffset offset;
        const float** to;
    };

    explicit WeightPlan(ModelFormat its_format) : format(its_format) {}

    // Layer prefixes, with {} for the number.
    void layers_are(TensorName prefix) { prefix_ = prefix; }
    void in_layer(uint32_t layer) { layer_ = fmt::format(fmt::runtime(pick(prefix_)), layer); }
    void outside_layers() { layer_.clear(); }

    void matrix(TensorName name, uint32_t n_out, uint32_t n_in, PackedMatrix& to,
                TensorPart part = {}) {
        matrices.push_back({full(name), n_out, n_in, part, &to});
    }
    // TensorNeed::optional: null where the file has none.
    void vector(TensorName name, uint32_t n, const float*& to,
                TensorNeed need = TensorNeed::required, TensorPart part = {},
                ScaleOffset offset = ScaleOffset::none) {
        if (need != TensorNeed::absent) vectors.push_back({full(name), n, part, need, offset, &to});
    }
    // A tensor that a file may carry and that nothing reads: tables that can be computed, the head
    // beside an embedding that is the head.
    void ignore(TensorName name) { ignored.push_back(full(name)); }

    ModelFormat format;
    std::vector<Matrix> matrices;
    std::vector<Vector> vectors;
    std::vector<std::string> ignored;

  private:
    std::string_view pick(TensorName name) const {
        return format == ModelFormat::gguf ? name.gguf : name.hugging_face;
    }
    std::string full(TensorName name) const { return fmt::format("{}{}", layer_, pick(name)); }

    TensorName prefix_;
    std::string layer_;  // its prefix, or empty
};

}  // namespace kvik
