// Rotary position embedding: angles in exact double arithmetic, stored as f32 (R6 of SPEC.md).
//
// Shape   a table row holds n_dims / 2 cosines, then as many sines, for one position.
// Source  Su et al. 2021, arXiv 2104.09864, section 3.2.2.
#pragma once

#include <cstdint>
#include <vector>

#include "base/thread_pool.h"
#include "cache/kv_spec.h"
#include "kernels/table.h"
#include "model/config.h"
#include "model/scratch.h"

namespace kvik {

class Rope {
  public:
    explicit Rope(const RopeConfig& config);

    uint32_t row_floats() const { return config_.n_dims; }
    void fill_row(uint32_t position, float* row) const;
    // Turns the first n_dims of one head in place.
    void apply(const KernelTable& kernels, const float* row, float* head) const;

  private:
    RopeConfig config_;
    std::vector<double> frequencies_;  // [n_dims / 2]
};

// ----
// Attention of one layer over paged KV: the work items of scratch.h, chunk by chunk (R5).
//
// Threads attend() by all workers together; attention output is complete after its last barrier,
//         which the caller places.
// Cost    K and V of a chunk are read once for all query rows of an item.
// Source  the running softmax: Milakov, Gimelshein 2018, arXiv 1805.02867; paged KV: Kwon et al.
//         2023, arXiv 2309.06180.

// Writes one head's K (already turned by RoPE) or V of a batch row, kv.spec.head_dim numbers, to its
// block. False: a value is NaN or infinite, and the KV is of a type that cannot say so (f16, q8).
[[nodiscard]] bool write_k(const KernelTable& kernels, const KvView& kv,
                           const SequenceRows& sequence, uint32_t layer, uint32_t position,
                           uint32_t kv_head, const float* k);
[[nodiscard]] bool write_v(const KernelTable& kernels, const KvView& kv,
                           const SequenceRows& sequence, uint32_t layer, uint32_t position,
                           uint32_t kv_head, const float* v);

// scratch.q -> scratch.attended. Contains a barrier when chunks are computed apart.
void attend(Worker worker, const KernelTable& kernels, const ModelConfig& config,
            const Batch& batch, const KvView& kv, uint32_t layer, TransformerScratch& scratch);

}  // namespace kvik
