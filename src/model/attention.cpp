#include "model/attention.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>

#include "base/exact_math.h"

namespace kvik {

Rope::Rope(const RopeConfig& config) : config_(config), frequencies_(config.n_dims / 2) {
    for (uint32_t i = 0; i < frequencies_.size(); ++i)
        frequencies_[i] = exact_pow(config.base, -2.0 * i / config.n_dims) /
                          (config.divisors.empty() ? 1.0 : config.divisors[i]);
}

void Rope::fill_row(uint32_t position, float* row) const {
    const uint32_t half = config_.n_dims / 2;
    for (uint32_t i = 0; i < half; ++i) {
        const SinCos turn = exact_sincos(position / config_.linear_factor * frequencies_[i]);
        row[i] = static_cast<float>(turn.cos);
        row[half + i] = static_cast<float>(turn.sin);
    }
}

void Rope::apply(const KernelTable& kernels, const float* row, float* head) const {
    config_.layout == RopeLayout::adjacent ? kernels.rope_adjacent(row, config_.n_dims, head)
                                           : kernels.rope_halves(row, config_.n_dims, head);
}

namespace {

constexpr uint32_t kTilesPerChunk = kChunkTokens / kKTileTokens;

// What attention of one layer is over.
struct LayerAttention {
    const KernelTable& kernels;
    const ModelConfig& config;
    const Batch& batch;
    const KvView& kv;
    uint32_t layer;
    TransformerScratch& scratch;

    uint32_t window() const { return config.window(layer); }
};

// The query rows of an item, and where their parts lie.
struct ItemRows {
    uint32_t n = 0;
    uint32_t position[kMaxQueries];
    uint64_t at[kMaxQueries];  // offset of the row's head in scratch.q and scratch.attended
};

ItemRows rows_of(const AttentionItem& item, const ModelConfig& config,
                 const TransformerScratch& scratch) {
    ItemRows rows;
    for (uint32_t i = 0; i < item.n_rows; ++i)
        for (uint32_t h = 0; h < item.n_heads; ++h) {
            const uint64_t row = item.first_row + i;
            rows.position[rows.n] = scratch.positions[row];
            rows.at[rows.n++] = (row * config.n_heads + item.first_head + h) * config.head_dim;
        }
    return rows;
}

// The first chunk that any row of the item sees: those before it lie outside of the window.
uint32_t first_chunk(const LayerAttention& all, const AttentionItem& item) {
    const uint32_t sees = all.scratch.positions[item.first_row] + 1, window = all.window();
    return window == 0 || sees <= window ? 0 : (sees - window) / kChunkTokens;
}

// The same of a bundle's items.
uint32_t first_chunk(const LayerAttention& all, const AttentionBundle& bundle) {
    uint32_t first = bundle.n_chunks;
    for (uint32_t i = 0; i < bundle.n_items; ++i)
        first = std::min(first, first_chunk(all, all.scratch.items[bundle.first_item + i]));
    return first;
}

// The part of a worker's memory that is for one item of a bundle.
struct ItemMemory {
    float* queries;
    int8_t* quant_q;
    float* quant_d;
    int32_t* quant_nsum;
    float* scores;
};

ItemMemory memory_of(const WorkerScratch& own, uint32_t index) {
    const uint64_t row = uint64_t{index} * kMaxQueries;
    return {own.queries + row * kMaxHeadDim, own.quant_q + row * kMaxHeadDim,
            own.quant_d + row * kMaxQueryGroups, own.quant_nsum + row * kMaxQueryGroups,
            own.scores};
}

void clear(AttentionState& state, uint32_t n, uint32_t head_dim) {
    for (uint32_t r = 0; r < n; ++r) {
        state.m[r] = -std::numeric_limits<float>::infinity();
        state.l[r] = 0.0f;
        std::fill_n(state.o[r], head_dim, 0.0f);
    }
}

struct TileAddress {
    const std::byte *k, *v;
};

// Where the tiles of one sequence, layer and head lie.
class TilePlaces {
  public:
    TilePlaces(const KvView& kv, const SequenceRows& sequence, uint32_t layer, uint32_t kv_head)
        : spec_(kv.spec),
          ids_(&sequence.blocks[0] + uint64_t{sequence.group_stride} * spec_.layer(layer).group),
          base_(kv.k(BlockId{0}, layer, kv_head)),
          block_bytes_(spec_.block_bytes()) {}

    TileAddress at(uint32_t position) const {
        const std::byte* k =
            base_ + static_cast<uint64_t>(ids_[position / spec_.block_tokens]) * block_bytes_;
        const uint64_t tile = position % spec_.block_tokens / kKTileTokens;
        return {k + tile * spec_.k_tile_bytes(), k + spec_.k_bytes() + tile * spec_.v_tile_bytes()};
    }

  private:
    const KvSpec& spec_;
    const BlockId* ids_;
    const std::byte* base_;
    uint64_t block_bytes_;
};

// A chunk, and the one that its worker goes over next.
struct ChunkTurn {
    uint32_t chunk, next;
};

void attend_chunk(const LayerAttention& all, const AttentionItem& item, const ItemRows& rows,
                  ChunkTurn turn, const ItemMemory& memory, AttentionState& state) {
    const KvView& kv = all.kv;
    const uint32_t start = turn.chunk * kChunkTokens;
    const uint32_t window = all.window();
    uint32_t begin[kMaxQueries], end[kMaxQueries], last = 0;
    for (uint32_t r = 0; r < rows.n; ++r) {
        const uint32_t sees = rows.position[r] + 1;  // positions 0 .. sees - 1
        const uint32_t from = window == 0 || sees <= window ? 0 : sees - window;
        begin[r] = from <= start ? 0 : std::min(from - start, kChunkTokens);
        end[r] = sees <= start ? 0 : std::min(sees - start, kChunkTokens);
        if (begin[r] < end[r]) last = std::max(last, end[r]);
    }
    if (last == 0) return;

    const void* k_tiles[kTilesPerChunk] = {};
    const void* v_tiles[kTilesPerChunk] = {};
    const TilePlaces places(kv, all.batch.sequences[item.sequence], all.layer, item.kv_head);
    for (uint32_t tile = 0; tile * kKTileTokens < last; ++tile) {
        const TileAddress at = places.at(start + tile * kKTileTokens);
        k_tiles[tile] = at.k;
        v_tiles[tile] = at.v;
    }
    const void* next_k[kAheadTiles];
    for (uint32_t tile = 0; tile < kAheadTiles; ++tile) {
        const uint32_t position = turn.next * kChunkTokens + tile * kKTileTokens;
        next_k[tile] = position <= rows.position[rows.n - 1] ? places.at(position).k : k_tiles[0];
    }
    const AttentionChunk chunk = {
        .n_queries = rows.n,
        .head_dim = all.config.padded_head_dim(),
        .q = memory.queries,
        .k_tiles = k_tiles,
        .v_tiles = v_tiles,
        .begin = begin,
        .end = end,
        .scale = all.config.attention_scale,
        .scores = memory.scores,
        .m = state.m,
        .l = state.l,
        .o = &state.o[0][0],
        .next_k = next_k,
        .quant = {memory.quant_q, memory.quant_d, memory.quant_nsum},
    };
    switch (kv.spec.type) {
        case KvType::f16:
            return all.kernels.attend_f16(chunk);
        case KvType::f32:
            return all.kernels.attend_f32(chunk);
        case KvType::q8:
            return all.kernels.attend_q8(chunk);
    }
}

// to_half makes numbers of what is none.
bool is_finite(const float* x, uint32_t n) {
    constexpr uint32_t kExponent = 0x7f800000;
    uint32_t n_bad = 0;
    for (uint32_t i = 0; i < n; ++i)
        n_bad += (std::bit_cast<uint32_t>(x[i]) & kExponent) == kExponent;
    return n_bad == 0;
}

// Dimensions of K's group g: the last one may have 16.
uint32_t group_dims(uint32_t head_dim, uint32_t g) {
    return std::min(kKGroupDims, head_dim - g * kKGroupDims);
}

// q8 (R10). False: a query is not finite.
bool quantize_query(const KernelTable& kernels, const float* x, uint32_t head_dim, uint32_t row,
                    const ItemMemory& memory) {
    int8_t* q = memory.quant_q + row * kMaxHeadDim;
    bool finite = true;
    for (uint32_t g = 0; g * kKGroupDims < head_dim; ++g, q += kKGroupDims) {
        const uint32_t at = row * kMaxQueryGroups + g, n = group_dims(head_dim, g);
        finite &= kernels.quantize_group(x + g * kKGroupDims, n, q, memory.quant_d + at) != 0;
        memory.quant_nsum[at] = -std::accumulate(q, q + n, 0);
    }
    return finite;
}

void gather_queries(const LayerAttention& all, const ItemRows& rows, const ItemMemory& memory) {
    const uint32_t dim = all.config.head_dim, padded = all.config.padded_head_dim();
    for (uint32_t r = 0; r < rows.n; ++r) {
        const float* q = all.scratch.q + rows.at[r];
        float* own = memory.queries + uint64_t{r} * kMaxHeadDim;
        const bool is_q8 = all.kv.spec.type == KvType::q8;
        if (!is_q8 || dim < padded) {
            std::memcpy(own, q, dim * sizeof(float));
            std::fill(own + dim, own + padded, 0.0f);
            q = own;
        }
        if (is_q8 && !quantize_query(all.kernels, q, padded, r, memory))
            all.scratch.flag(all.layer);
    }
}

void finish(const LayerAttention& all, const ItemRows& rows, const AttentionState& state) {
    for (uint32_t r = 0; r < rows.n; ++r)
        for (uint32_t d = 0; d < all.config.head_dim; ++d)
            all.scratch.attended[rows.at[r] + d] = state.o[r][d] / state.l[r];
}

// Left to right, with the kernels' own merge: a chunk's state is merged as the chunk would be.
void merge(const LayerAttention& all, const AttentionState& part, uint32_t n,
           AttentionState& into) {
    for (uint32_t r = 0; r < n; ++r)
        all.kernels.merge_state(part.m[r], part.l[r], part.o[r], all.config.padded_head_dim(),
                                &into.m[r], &into.l[r], into.o[r]);
}

// The items of a bundle in one worker's hands.
struct OpenBundle {
    ItemRows rows[kBundleItems];

    OpenBundle(const LayerAttention& all, const AttentionBundle& bundle, const WorkerScratch& own) {
        for (uint32_t i = 0; i < bundle.n_items; ++i) {
            rows[i] = rows_of(all.scratch.items[bundle.first_item + i], all.config, all.scratch);
            gather_queries(all, rows[i], memory_of(own, i));
        }
    }
};

// run(index, item) for the items of the bundle that see something of the chunk.
template <class Run>
void each_item(const LayerAttention& all, const AttentionBundle& bundle, uint32_t chunk,
               const Run& run) {
    for (uint32_t i = 0; i < bundle.n_items; ++i) {
        const AttentionItem& item = all.scratch.items[bundle.first_item + i];
        if (chunk < item.n_chunks && chunk >= first_chunk(all, item)) run(i, item);
    }
}

// Every (bundle, chunk) is a unit of its own, dealt out in turn; the states meet after a barrier.
void attend_apart(Worker worker, const LayerAttention& all, const WorkerScratch& own) {
    TransformerScratch& s = all.scratch;
    uint32_t n_dealt = 0;
    for (const AttentionBundle& bundle : s.bundles) {
        const uint32_t first = first_chunk(all, bundle);
        const uint32_t skip =
            (worker.index() + worker.count() - n_dealt % worker.count()) % worker.count();
        n_dealt += bundle.n_chunks - first;
        if (first + skip >= bundle.n_chunks) continue;
        const OpenBundle open(all, bundle, own);
        for (uint32_t c = first + skip; c < bundle.n_chunks; c += worker.count())
            each_item(all, bundle, c, [&](uint32_t i, const AttentionItem& item) {
                AttentionState& state = s.states[item.first_unit + c];
                clear(state, open.rows[i].n, all.config.padded_head_dim());
                attend_chunk(all, item, open.rows[i], {c, c + worker.count()}, memory_of(own, i),
                             state);
            });
    }
    worker.barrier();
    const auto n_items = static_cast<uint32_t>(s.items.size());
    for (uint32_t i = worker.index(); i < n_items; i += worker.count()) {
        const AttentionItem& item = s.items[i];
        const ItemRows rows = rows_of(item, all.config, s);
        const uint32_t begin = first_chunk(all, item);
        AttentionState& first = s.states[item.first_unit + begin];
        for (uint32_t c = begin + 1; c < item.n_chunks; ++c)
            merge(all, s.states[item.first_unit + c], rows.n, first);
        finish(all, rows, first);
    }
}

void attend_bundle(const LayerAttention& all, const AttentionBundle& bundle,
                   const WorkerScratch& own) {
    const OpenBundle open(all, bundle, own);
    for (uint32_t i = 0; i < bundle.n_items; ++i)
        clear(own.states[i], open.rows[i].n, all.config.padded_head_dim());
    for (uint32_t c = first_chunk(all, bundle); c < bundle.n_chunks; ++c)
        each_item(all, bundle, c, [&](uint32_t i, const AttentionItem& item) {
            attend_chunk(all, item, open.rows[i], {c, c + 1}, memory_of(own, i), own.states[i]);
        });
    for (uint32_t i = 0; i < bundle.n_items; ++i) finish(all, open.rows[i], own.states[i]);
}

}  // namespace

bool write_k(const KernelTable& kernels, const KvView& kv, const SequenceRows& sequence,
             uint32_t layer, uint32_t position, uint32_t kv_head, const float* k) {
    const KvSpec& spec = kv.spec;
    const uint32_t slot = position % spec.block_tokens, lane = slot % kKTileTokens;
    const uint32_t dim = spec.head_dim;
    std::byte* tile = kv.k(sequence.block(spec.layer(layer).group, position / spec.block_tokens),
                           layer, kv_head) +
                      slot / kKTileTokens * spec.k_tile_bytes();
    if (spec.type == KvType::f32) {
        auto* to = reinterpret_cast<float*>(tile) + lane;
        for (uint32_t d = 0; d < dim; ++d) to[d * kKTileTokens] = k[d];
        return true;
    }
    if (spec.type == KvType::f16) {
        uint16_t half[kMaxHeadDim];
        kernels.to_half(k, dim, half);
        auto* to = reinterpret_cast<uint16_t*>(tile) + lane;
        for (uint32_t d = 0; d < dim; ++d) to[d * kKTileTokens] = half[d];
        return is_finite(k, dim);
    }
    alignas(4) int8_t q[kMaxHeadDim];
    auto* scales = reinterpret_cast<float*>(tile + dim * kKTileTokens) + lane;
    bool finite = true;
    for (uint32_t g = 0; g * kKGroupDims < dim; ++g)
        finite &= kernels.quantize_group(k + g * kKGroupDims, group_dims(dim, g),
                                         q + g * kKGroupDims, scales + g * kKTileTokens) != 0;
    for (uint32_t d = 0; d < dim; d += 4) {
        uint32_t four;
        std::memcpy(&four, q + d, 4);
        four ^= 0x80808080u;  // + 128
        std::memcpy(tile + d * kKTileTokens + 4 * lane, &four, 4);
    }
    return finite;
}

bool write_v(const KernelTable& kernels, const KvView& kv, const SequenceRows& sequence,
             uint32_t layer, uint32_t position, uint32_t kv_head, const float* v) {
    const KvSpec& spec = kv.spec;
    const uint32_t slot = position % spec.block_tokens, lane = slot % kKTileTokens;
    const uint32_t dim = spec.head_dim;
    std::byte* tile = kv.v(sequence.block(spec.layer(layer).group, position / spec.block_tokens),
                           layer, kv_head) +
                      slot / kKTileTokens * spec.v_tile_bytes();
    std::byte* out = tile + lane * dim * spec.element_bytes();
    if (spec.type == KvType::f32) {
        std::memcpy(out, v, dim * sizeof(float));
        return true;
    }
    if (spec.type == KvType::f16) {
        kernels.to_half(v, dim, reinterpret_cast<uint16_t*>(out));
        return is_finite(v, dim);
    }
    auto* scales = reinterpret_cast<float*>(tile + dim * kKTileTokens);
    return kernels.quantize_group(v, dim, reinterpret_cast<int8_t*>(out), scales + lane) != 0;
}

void attend(Worker worker, const KernelTable& kernels, const ModelConfig& config,
            const Batch& batch, const KvView& kv, uint32_t layer, TransformerScratch& scratch) {
    const LayerAttention all = {kernels, config, batch, kv, layer, scratch};
    const WorkerScratch& own = scratch.workers[worker.index()];
    if (scratch.apart) return attend_apart(worker, all, own);
    // Bundles of a prompt see more and more: dealt out there and back, they come out even.
    const uint32_t n = worker.count();
    for (uint32_t i = 0; i < scratch.bundles.size(); ++i) {
        const uint32_t turn = i % (2 * n);
        if ((turn < n ? turn : 2 * n - 1 - turn) == worker.index())
            attend_bundle(all, scratch.bundles[i], own);
    }
}

}  // namespace kvik
