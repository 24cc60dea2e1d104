#include "model/attention.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace kvik {
namespace {

constexpr uint32_t kTilesPerChunk = kChunkTokens / kKTileTokens;

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

struct TileAddress {
    const std::byte *k, *v;
};

// A chunk, and the one that its worker goes over next.
struct ChunkTurn {
    uint32_t chunk, next;
};

// The first chunk that any row of the item sees: those before it lie outside of the window.
uint32_t first_chunk(const ItemRows& rows, uint32_t window) {
    const uint32_t sees = rows.position[0] + 1;
    return window == 0 || sees <= window ? 0 : (sees - window) / kChunkTokens;
}

void clear(AttentionState& state, uint32_t n, uint32_t head_dim) {
    for (uint32_t r = 0; r < n; ++r) {
        state.m[r] = -std::numeric_limits<float>::infinity();
        state.l[r] = 0.0f;
        std::fill_n(state.o[r], head_dim, 0.0f);
    }
}

void attend_chunk(const KernelTable& kernels, const ModelConfig& config, const Batch& batch,
                  const KvView& kv, uint32_t layer, const AttentionItem& item, const ItemRows& rows,
                  ChunkTurn turn, WorkerScratch& own, AttentionState& state) {
    const SequenceRows& sequence = batch.sequences[item.sequence];
    const uint32_t start = turn.chunk * kChunkTokens;
    const uint32_t window = config.window(layer);
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
    const uint64_t tile_bytes = kKTileTokens * config.head_dim * kv.spec.element_bytes();
    const auto tile_at = [&](uint32_t position) -> TileAddress {
        const BlockId block = sequence.blocks[position / kv.spec.block_tokens];
        const uint64_t offset = position % kv.spec.block_tokens / kKTileTokens * tile_bytes;
        return {kv.k(block, layer, item.kv_head) + offset,
                kv.v(block, layer, item.kv_head) + offset};
    };
    for (uint32_t tile = 0; tile * kKTileTokens < last; ++tile) {
        const TileAddress at = tile_at(start + tile * kKTileTokens);
        k_tiles[tile] = at.k;
        v_tiles[tile] = at.v;
    }
    const void* next_k[kAheadTiles];
    for (uint32_t tile = 0; tile < kAheadTiles; ++tile) {
        const uint32_t position = turn.next * kChunkTokens + tile * kKTileTokens;
        next_k[tile] = position <= rows.position[rows.n - 1] ? tile_at(position).k : k_tiles[0];
    }
    const AttentionChunk chunk = {
        .n_queries = rows.n,
        .head_dim = config.head_dim,
        .q = own.queries,
        .k_tiles = k_tiles,
        .v_tiles = v_tiles,
        .begin = begin,
        .end = end,
        .scale = config.attention_scale,
        .scores = own.scores,
        .m = state.m,
        .l = state.l,
        .o = &state.o[0][0],
        .next_k = next_k,
    };
    kv.spec.type == KvType::f16 ? kernels.attend_f16(chunk) : kernels.attend_f32(chunk);
}

void gather_queries(const ItemRows& rows, const ModelConfig& config,
                    const TransformerScratch& scratch, WorkerScratch& own) {
    for (uint32_t r = 0; r < rows.n; ++r)
        std::memcpy(own.queries + uint64_t{r} * kMaxHeadDim, scratch.q + rows.at[r],
                    config.head_dim * sizeof(float));
}

void finish(const ItemRows& rows, const ModelConfig& config, const AttentionState& state,
            TransformerScratch& scratch) {
    for (uint32_t r = 0; r < rows.n; ++r)
        for (uint32_t d = 0; d < config.head_dim; ++d)
            scratch.attended[rows.at[r] + d] = state.o[r][d] / state.l[r];
}

// Left to right, with the kernels' own merge: a chunk's state is merged as the chunk would be.
void merge(const KernelTable& kernels, const AttentionState& part, uint32_t n, uint32_t head_dim,
           AttentionState& into) {
    for (uint32_t r = 0; r < n; ++r)
        kernels.merge_state(part.m[r], part.l[r], part.o[r], head_dim, &into.m[r], &into.l[r],
                            into.o[r]);
}

}  // namespace

void write_k(const KernelTable& kernels, const KvView& kv, const SequenceRows& sequence,
             uint32_t layer, uint32_t position, uint32_t kv_head, const float* k) {
    const KvSpec& spec = kv.spec;
    const uint32_t dim = spec.head_dim;
    const uint32_t slot = position % spec.block_tokens;
    const uint64_t first = uint64_t{slot / kKTileTokens} * kKTileTokens * dim + slot % kKTileTokens;
    std::byte* tiles = kv.k(sequence.blocks[position / spec.block_tokens], layer, kv_head);
    if (spec.type == KvType::f16) {
        uint16_t half[kMaxHeadDim];
        kernels.to_half(k, dim, half);
        auto* to = reinterpret_cast<uint16_t*>(tiles) + first;
        for (uint32_t d = 0; d < dim; ++d) to[d * kKTileTokens] = half[d];
    } else {
        auto* to = reinterpret_cast<float*>(tiles) + first;
        for (uint32_t d = 0; d < dim; ++d) to[d * kKTileTokens] = k[d];
    }
}

void write_v(const KernelTable& kernels, const KvView& kv, const SequenceRows& sequence,
             uint32_t layer, uint32_t position, uint32_t kv_head, const float* v) {
    const KvSpec& spec = kv.spec;
    const uint32_t dim = spec.head_dim;
    std::byte* to = kv.v(sequence.blocks[position / spec.block_tokens], layer, kv_head) +
                    uint64_t{position % spec.block_tokens} * dim * spec.element_bytes();
    if (spec.type == KvType::f16)
        kernels.to_half(v, dim, reinterpret_cast<uint16_t*>(to));
    else
        std::memcpy(to, v, dim * sizeof(float));
}

void attend(Worker worker, const KernelTable& kernels, const ModelConfig& config,
            const Batch& batch, const KvView& kv, uint32_t layer, TransformerScratch& scratch) {
    WorkerScratch& own = scratch.workers[worker.index()];
    const auto n_items = static_cast<uint32_t>(scratch.items.size());
    const uint32_t window = config.window(layer);
    if (scratch.apart) {
        uint32_t n_units = 0;
        for (const AttentionItem& item : scratch.items) {
            const ItemRows rows = rows_of(item, config, scratch);
            bool gathered = false;
            for (uint32_t c = first_chunk(rows, window); c < item.n_chunks; ++c) {
                if (n_units++ % worker.count() != worker.index()) continue;
                if (!gathered) gather_queries(rows, config, scratch, own);
                gathered = true;
                AttentionState& state = scratch.states[item.first_unit + c];
                clear(state, rows.n, config.head_dim);
                attend_chunk(kernels, config, batch, kv, layer, item, rows, {c, c + worker.count()},
                             own, state);
            }
        }
        worker.barrier();
        for (uint32_t i = worker.index(); i < n_items; i += worker.count()) {
            const AttentionItem& item = scratch.items[i];
            const ItemRows rows = rows_of(item, config, scratch);
            const uint32_t begin = first_chunk(rows, window);
            AttentionState& first = scratch.states[item.first_unit + begin];
            for (uint32_t c = begin + 1; c < item.n_chunks; ++c)
                merge(kernels, scratch.states[item.first_unit + c], rows.n, config.head_dim, first);
            finish(rows, config, first, scratch);
        }
        return;
    }
    for (uint32_t i = worker.index(); i < n_items; i += worker.count()) {
        const AttentionItem& item = scratch.items[i];
        const ItemRows rows = rows_of(item, config, scratch);
        gather_queries(rows, config, scratch, own);
        AttentionState state;
        clear(state, rows.n, config.head_dim);
        for (uint32_t c = first_chunk(rows, window); c < item.n_chunks; ++c)
            attend_chunk(kernels, config, batch, kv, layer, item, rows, {c, c + 1}, own, state);
        finish(rows, config, state, scratch);
    }
}

}  // namespace kvik
