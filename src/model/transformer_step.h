// What the phases of one forward share; inside of Transformer only.
//
// Threads each worker has a Step and a Stream of its own, over the same memory.
#pragma once

#include <span>
#include <utility>

#include "base/thread_pool.h"
#include "model/scratch.h"
#include "model/step_profile.h"
#include "model/transformer.h"
#include "model/work_share.h"

namespace kvik {

struct Transformer::Step {
    Worker worker;
    const Batch& batch;
    const KvView& kv;
    TransformerScratch& s;
    std::span<float> logits;
    WorkShare& work;

    uint32_t n_rows() const { return static_cast<uint32_t>(batch.tokens.size()); }
    WorkerScratch& own() const { return s.workers[worker.index()]; }
    void begin() const {
        if (s.limits.profile) s.limits.profile->begin(worker);
    }
    void end(StepPart part) const {
        if (s.limits.profile) s.limits.profile->end(worker, part);
    }
    void flag(uint32_t layer) const { s.flag(layer); }
};

// x + delta is the stream; whoever settles a row writes the sum to `next`, which then becomes x.
struct Transformer::Stream {
    float* x;
    float* next;
    const float* delta = nullptr;       // null: x is all of it
    const NormWeights* post = nullptr;  // norm of the delta on its way in; may have no scale

    void add(const float* rows, const NormWeights& norm) {
        delta = rows;
        post = &norm;
    }
    void settled() {
        if (!delta) return;
        std::swap(x, next);
        delta = nullptr;
    }
};

inline uint32_t n_pairs(const PackedMatrix& matrix) {
    return (matrix.n_tiles() + 1) / 2;
}

}  // namespace kvik
