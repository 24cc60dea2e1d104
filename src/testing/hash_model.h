// HashModel: a Model whose KV is a hash of (token, position) and whose logits are a hash of all the
// KV it reads back through the block table. A stale, shared-and-written, evicted-too-soon or
// wrongly truncated block changes the logits, so any cache, chunking, batch or preemption must give
// the same tokens: a whole engine is tested in milliseconds, without a model file.
//
// Shape   every element of K and V is a finite f16 or f32 of 16 random bits. Layers with a window
//         are read in its last positions only, through the blocks of their own group.
// Threads forward is const and may run on any thread; the counter of rows is atomic.
// Cost    per sequence and forward O(n_past + n_rows) positions, some tens of ns each.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/model.h"

namespace kvik {

struct HashModelOptions {
    uint32_t vocab_size = 101;
    uint32_t context_length = 4096;
    uint32_t n_layers = 2;
    uint32_t n_kv_heads = 2;
    uint32_t head_dim = 4;
    uint64_t seed = 1;                   // another seed is another model
    std::vector<uint32_t> windows = {};  // [n_layers], 0: the layer sees all; empty: all layers do
};

class HashModel final : public Model {
  public:
    explicit HashModel(const HashModelOptions& options = {});

    const ModelSpec& spec() const override { return spec_; }
    Result<std::unique_ptr<Scratch>> make_scratch(const ScratchLimits& limits,
                                                  ThreadPool& pool) const override;
    [[nodiscard]] Result<void> forward(const Batch& batch, const KvView& kv, Scratch& scratch,
                                       std::span<float> logits) const override;

    // The logits after position n_tokens - 1, from the KV in these blocks; computes no row.
    std::vector<float> read_back(const KvView& kv, const SequenceRows& sequence,
                                 uint32_t n_tokens) const;
    std::vector<float> read_back(const KvView& kv, std::span<const BlockId> blocks,
                                 uint32_t n_tokens) const {
        return read_back(kv, SequenceRows{.blocks = blocks}, n_tokens);
    }

    // The same from the tokens alone: the oracle.
    std::vector<float> cold_logits(std::span<const TokenId> tokens) const;

    uint64_t n_rows_computed() const { return n_rows_computed_.load(std::memory_order_relaxed); }
    uint64_t n_forwards() const { return n_forwards_.load(std::memory_order_relaxed); }

  private:
    template <class Element>
    void forward_rows(const Batch& batch, const KvView& kv, std::span<float> logits) const;
    template <class Read>
    std::vector<float> logits_of(uint32_t n_tokens, const Read& read) const;

    ModelSpec spec_;
    uint64_t seed_;
    std::vector<uint32_t> windows_;  // [n_layers]
    mutable std::atomic<uint64_t> n_rows_computed_ = 0;
    mutable std::atomic<uint64_t> n_forwards_ = 0;
};

}  // namespace kvik
