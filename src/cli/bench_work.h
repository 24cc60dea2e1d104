// BenchWork: what a test cannot do without, whoever computes it: bytes to read, products to make.
//
// Shape   a step reads the weights once, whatever its width, and the K and V that its rows see once
//         a sequence, those of a shared prefix once for all; it multiplies every row with the
//         weights, the head's only for rows whose logits are wanted. A multiplication and an
//         addition are two operations, as in doctor_measure.h.
//         Norms, rotations and the softmax are left out: the share of a ceiling is a lower bound.
#pragma once

#include <cstdint>
#include <vector>

#include "cache/kv_spec.h"
#include "kernels/activations.h"
#include "model/check.h"
#include "model/config.h"

namespace kvik::cli {

struct Work {
    double read_bytes = 0;
    double int8_ops = 0;
    double f32_ops = 0;

    void add(const Work& other) {
        read_bytes += other.read_bytes;
        int8_ops += other.int8_ops;
        f32_ops += other.f32_ops;
    }
};

class BenchWork {
  public:
    BenchWork(const ModelNeeds& needs, const ModelConfig& config, const KvSpec& kv, Act act);

    struct Step {
        uint32_t n_sequences = 1;
        uint32_t n_shared = 0;  // first positions of all sequences that are the same
        uint32_t n_past = 0;    // positions of each before the step, the shared ones included
        uint32_t n_rows = 1;    // of each sequence
        uint32_t n_logits_rows = 1;
    };
    Work of_step(const Step& step) const;

    struct Prompt {
        uint32_t n_tokens = 0;
        uint32_t depth = 0;
        uint32_t n_chunk_rows = 512;
    };
    Work of_prompt(const Prompt& prompt) const;

    struct Decode {
        uint32_t n_tokens = 0;
        uint32_t depth = 0;  // shared by all streams
        uint32_t n_streams = 1;
    };
    Work of_decode(const Decode& decode) const;

  private:
    // Layers that see equally far.
    struct Layers {
        uint32_t window = 0;  // 0: all positions
        uint32_t n = 0;
    };
    Work multiply(const MultiplyAdds& macs, double n_rows) const;

    ModelNeeds needs_;
    std::vector<Layers> layers_;
    double kv_bytes_ = 0;   // of a position in a layer
    double score_ops_ = 0;  // of a row and a position in a layer: q k^T and p v
    Act act_;
};

}  // namespace kvik::cli
