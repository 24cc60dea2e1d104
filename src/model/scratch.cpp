#include "model/scratch.h"

#include <algorithm>

#include "base/check.h"
#include "base/checked.h"

namespace kvik {
namespace {

// Hands out 64-byte aligned pieces; the first pass only counts.
class Pieces {
  public:
    explicit Pieces(std::byte* base) : base_(base) {}
    template <class T>
    T* take(uint64_t n_bytes) {
        std::byte* piece = base_ ? base_ + used_ : nullptr;
        used_ += round_up(n_bytes, 64);
        return reinterpret_cast<T*>(piece);
    }
    uint64_t used() const { return used_; }

  private:
    std::byte* base_;
    uint64_t used_ = 0;
};

uint32_t max_k(const ModelConfig& config) {
    return std::max(
        {config.hidden_size, config.intermediate_size, config.n_heads * config.head_dim});
}

uint64_t lay_out(TransformerScratch& s, const ModelConfig& config, ActForms forms,
                 uint32_t n_workers, std::byte* base) {
    Pieces pieces(base);
    const uint64_t rows = s.limits.n_rows;
    const uint32_t k = max_k(config);
    const auto floats = [&](uint64_t n) { return pieces.take<float>(n * 4); };
    s.x = floats(rows * config.hidden_size);
    s.x_next = floats(rows * config.hidden_size);
    s.update = floats(rows * config.hidden_size);
    s.q = floats(rows * config.n_heads * config.head_dim);
    s.k = floats(rows * config.n_kv_heads * config.head_dim);
    s.v = floats(rows * config.n_kv_heads * config.head_dim);
    s.attended = floats(rows * config.n_heads * config.head_dim);
    s.ff = floats(rows * config.intermediate_size);
    s.rope = floats(rows * config.rope.n_dims);
    s.local_rope = floats(rows * config.local_rope.n_dims);
    s.states = pieces.take<AttentionState>(kMaxApartUnits * sizeof(AttentionState));
    s.workers.clear();
    std::byte* shared =
        pieces.take<std::byte>(Activations::bytes_needed(static_cast<uint32_t>(rows), k, forms));
    const ActForms of_ff = {.quantised = forms.quantised};
    std::byte* shared_ff = pieces.take<std::byte>(
        Activations::bytes_needed(static_cast<uint32_t>(rows), config.intermediate_size, of_ff));
    for (uint32_t i = 0; i < n_workers; ++i) {
        TileScratch tiles;
        tiles.unpacked = pieces.take<UnpackedGroup>(TileScratch::unpacked_bytes(k));
        tiles.unpacked_super =
            pieces.take<UnpackedSuperGroup>(TileScratch::unpacked_super_bytes(k));
        tiles.decoded = pieces.take<float>(TileScratch::decoded_bytes(k));
        std::byte* own = pieces.take<std::byte>(Activations::bytes_needed(kPanelCols, k, forms));
        float* row = floats(k);
        float* residual_row = floats(config.hidden_size);
        float* queries = floats(uint64_t{kBundleItems} * kMaxQueries * kMaxHeadDim);
        float* scores = floats(uint64_t{kMaxQueries} * kChunkTokens);
        int8_t* quant_q = pieces.take<int8_t>(kBundleItems * kMaxQueries * kMaxHeadDim);
        float* quant_d = floats(kBundleItems * kMaxQueries * kMaxQueryGroups);
        int32_t* quant_nsum =
            pieces.take<int32_t>(kBundleItems * kMaxQueries * kMaxQueryGroups * 4);
        auto* states = pieces.take<AttentionState>(kBundleItems * sizeof(AttentionState));
        if (base)
            s.workers.push_back({tiles, Activations(own, kPanelCols, k, forms),
                                 Activations(shared, static_cast<uint32_t>(rows), k, forms),
                                 Activations(shared_ff, static_cast<uint32_t>(rows),
                                             config.intermediate_size, of_ff),
                                 row, residual_row, queries, scores, quant_q, quant_d, quant_nsum,
                                 states});
    }
    return pieces.used();
}

}  // namespace

Result<std::unique_ptr<TransformerScratch>> TransformerScratch::make(const ModelConfig& config,
                                                                     ActForms forms,
                                                                     const ScratchLimits& limits,
                                                                     ThreadPool& pool) {
    auto scratch = std::make_unique<TransformerScratch>();
    scratch->limits = limits;
    scratch->pool = &pool;
    const uint64_t bytes = lay_out(*scratch, config, forms, pool.n_threads(), nullptr);
    KVIK_TRY(scratch->arena, Arena::reserve(bytes, "working memory of a step"));
    lay_out(*scratch, config, forms, pool.n_threads(), scratch->arena.data());
    scratch->positions.reserve(limits.n_rows);
    scratch->sequence_of.reserve(limits.n_rows);
    scratch->pairs_done =
        std::vector<std::atomic<uint32_t>>(config.n_heads + 2ull * config.n_kv_heads);
    // At most one item a row and query head.
    scratch->items.reserve(uint64_t{limits.n_rows} * config.n_heads);
    scratch->bundles.reserve(uint64_t{limits.n_rows} * config.n_heads);
    return scratch;
}

void TransformerScratch::prepare(const Batch& batch, const ModelConfig& config,
                                 uint32_t n_workers) {
    positions.clear();
    sequence_of.clear();
    items.clear();
    bundles.clear();
    bad_layer.store(0, std::memory_order_relaxed);
    taken.store(0, std::memory_order_relaxed);
    for (std::atomic<uint32_t>& done : pairs_done) done.store(0, std::memory_order_relaxed);
    for (uint32_t s = 0; s < batch.sequences.size(); ++s) {
        const SequenceRows& sequence = batch.sequences[s];
        KVIK_CHECK(sequence.first_row == positions.size(), "sequences cover the rows in order");
        for (uint32_t i = 0; i < sequence.n_rows; ++i) {
            positions.push_back(sequence.n_past + i);
            sequence_of.push_back(s);
        }
    }
    KVIK_CHECK(positions.size() == batch.tokens.size(), "sequences cover all rows");
    plan_attention(batch, config, n_workers);
}

namespace {

// The rows of a sequence, `rows` at a time, with query heads first_head .. first_head + n_heads - 1.
struct HeadRows {
    uint32_t first_head, n_heads, kv_head, rows;
};

void add_items(TransformerScratch& s, const SequenceRows& sequence, uint32_t index,
               const HeadRows& heads) {
    for (uint32_t row = 0; row < sequence.n_rows; row += heads.rows) {
        const uint32_t n = std::min(heads.rows, sequence.n_rows - row);
        const uint32_t last = sequence.n_past + row + n;  // positions that the last row sees
        const uint32_t n_chunks = (last + kChunkTokens - 1) / kChunkTokens;
        s.items.push_back({index, sequence.first_row + row, n, heads.first_head, heads.n_heads,
                           heads.kv_head, n_chunks, s.n_units});
        s.n_units += n_chunks;
    }
}

// Items from `first` on, in bundles.
void bundle_items(TransformerScratch& s, uint32_t first) {
    const auto end = static_cast<uint32_t>(s.items.size());
    for (uint32_t at = first; at < end; at += kBundleItems) {
        AttentionBundle bundle = {at, std::min(kBundleItems, end - at), 0};
        for (uint32_t i = 0; i < bundle.n_items; ++i)
            bundle.n_chunks = std::max(bundle.n_chunks, s.items[at + i].n_chunks);
        s.bundles.push_back(bundle);
    }
}

bool share_a_prefix(const SequenceRows& a, const SequenceRows& b) {
    return a.blocks[0] == b.blocks[0];
}

}  // namespace

void TransformerScratch::plan_attention(const Batch& batch, const ModelConfig& config,
                                        uint32_t n_workers) {
    const uint32_t group = config.n_heads / config.n_kv_heads;
    // Heads of a group go together, so that K and V are read once; with little work to share out
    // among several workers, or with groups that are too large, they go one by one.
    uint64_t n_grouped = 0;
    for (const SequenceRows& sequence : batch.sequences)
        n_grouped += uint64_t{config.n_kv_heads} *
                     (1 + (sequence.n_past + sequence.n_rows - 1) / kChunkTokens);
    const bool split_heads = group > kMaxQueries || (n_workers > 1 && n_grouped < 4 * n_workers);
    const uint32_t heads = split_heads ? 1 : group;
    const auto& all = batch.sequences;
    n_units = 0;
    for (uint32_t s = 0; s < all.size(); ++s) {
        const auto shares = [&](uint32_t other) { return share_a_prefix(all[s], all[other]); };
        uint32_t leader = 0;
        while (!shares(leader)) ++leader;
        if (leader < s) continue;  // went with its leader
        for (uint32_t head = 0; head < config.n_heads; head += heads) {
            const auto first = static_cast<uint32_t>(items.size());
            for (uint32_t t = s; t < all.size(); ++t)
                if (shares(t))
                    add_items(*this, all[t], t,
                              {head, heads, head / group, std::max(1u, kMaxQueries / heads)});
            bundle_items(*this, first);
        }
    }
    apart = n_units <= kMaxApartUnits && bundles.size() < 4 * n_workers && n_units > items.size();
}

}  // namespace kvik
