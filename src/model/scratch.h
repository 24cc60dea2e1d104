// TransformerScratch: the working memory of one engine's steps over one transformer.
//
// Shape   rows are the batch's tokens; every buffer is [max_rows, width] f32 unless said otherwise.
// Owner   one arena; sized at open, never grown.
// Threads the engine thread prepares; workers write disjoint rows or items between barriers.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/arena.h"
#include "base/thread_pool.h"
#include "kernels/activations.h"
#include "kernels/matmul.h"
#include "model/config.h"
#include "model/model.h"
#include "model/work_share.h"

namespace kvik {

// Some query rows of one kv head of one sequence that go through attention together.
struct AttentionItem {
    uint32_t sequence;
    uint32_t first_row;  // in the batch
    uint32_t n_rows;
    uint32_t first_head;  // query heads first_head .. first_head + n_heads - 1, all of kv_head
    uint32_t n_heads;
    uint32_t kv_head;
    uint32_t n_chunks;    // chunks that its last row sees
    uint32_t first_unit;  // units before it, when chunks are computed apart
};

// Items of one kv head, of one sequence or of several that begin with the same block, that go over
// each chunk in turn while it lies in the cache: other rows of a prompt or a draft, other sequences.
struct AttentionBundle {
    uint32_t first_item, n_items;
    uint32_t n_chunks;  // the most of its items
};

// Running state of attention, for one item (or one item's chunk).
struct AttentionState {
    float m[kMaxQueries];
    float l[kMaxQueries];
    float o[kMaxQueries][kMaxHeadDim];
};

inline constexpr uint32_t kBundleItems = 8;

// What a worker keeps to itself.
struct WorkerScratch {
    TileScratch tiles;
    Activations activations;  // of a small batch: each worker loads all of it, without a barrier
    Activations shared;       // of a large one: a handle of its own to the memory of all
    Activations shared_ff;    // of the MLP's inner rows where whoever computes them quantises them
    float* row = nullptr;     // [max(hidden, ...)] a normed row on its way
    float* residual_row =
        nullptr;               // [hidden] a row of the residual stream that another worker owns
    float* queries = nullptr;  // [kBundleItems][kMaxQueries][kMaxHeadDim]
    float* scores = nullptr;   // [kMaxQueries][kChunkTokens]
    // The queries of q8 KV, as QuantQueries has them, for each item of a bundle.
    int8_t* quant_q = nullptr;
    float* quant_d = nullptr;
    int32_t* quant_nsum = nullptr;
    AttentionState* states = nullptr;  // [kBundleItems]
};

inline constexpr uint32_t kMaxApartUnits = 1024;  // (item, chunk) computed apart in one layer

class TransformerScratch : public Scratch {
  public:
    static Result<std::unique_ptr<TransformerScratch>> make(const ModelConfig& config,
                                                            ActForms forms,
                                                            const ScratchLimits& limits,
                                                            ThreadPool& pool);
    uint64_t n_bytes() const override { return arena.n_bytes(); }

    // Positions of all rows and the items of attention; `kv` is the batch's.
    void prepare(const Batch& batch, const ModelConfig& config, uint32_t n_workers);
    void plan_attention(const Batch& batch, const ModelConfig& config, uint32_t n_workers);

    // Something in the layer was not finite. The first one stays: what follows it is only its
    // consequence.
    void flag(uint32_t layer) {
        uint32_t none = 0;
        bad_layer.compare_exchange_strong(none, layer + 1, std::memory_order_relaxed);
    }

    ScratchLimits limits;
    ThreadPool* pool = nullptr;
    Arena arena;

    float* x = nullptr;                 // residual stream [max_rows, hidden]
    float* x_next = nullptr;            // the same, one addition further
    float* update = nullptr;            // as x: what attention or MLP adds to it
    float* q = nullptr;                 // [max_rows, n_heads * head_dim]
    float* k = nullptr;                 // [max_rows, n_kv_heads * head_dim]
    float* v = nullptr;                 // the same
    float* attended = nullptr;          // as q
    float* ff = nullptr;                // [max_rows, intermediate_size]
    float* rope = nullptr;              // [max_rows, rope.n_dims]
    float* local_rope = nullptr;        // [max_rows, local_rope.n_dims]
    std::vector<uint32_t> positions;    // [n_rows]
    std::vector<uint32_t> sequence_of;  // [n_rows] index of the row's sequence in the batch
    std::vector<AttentionItem> items;
    std::vector<AttentionBundle> bundles;  // cover all items, in order
    uint32_t n_units = 0;                  // sum of the items' chunks
    bool apart = false;                    // every (bundle, chunk) is computed apart
    AttentionState* states = nullptr;      // [kMaxApartUnits]
    std::vector<WorkerScratch> workers;
    alignas(64) std::atomic<uint32_t> taken{0};     // of WorkShare
    std::vector<std::atomic<uint32_t>> pairs_done;  // [q, k and v heads] tile pairs so far
    std::atomic<uint32_t> bad_layer{0};  // 1 + the layer in which something was not finite
};

}  // namespace kvik
