// How attention reads K and V as they are stored: a struct for each type, over the vocabulary
// `Simd`. score(): N query rows against `kTiles` tiles of 16 tokens, one chain over head_dim a
// token (R5). Tokens are lanes, so nothing is summed across them. `ahead` holds the tiles that are
// read next: blocks lie far apart, and the hardware's prefetcher does not know them.

namespace kvik {
namespace {

// Of N rows and U registers, the fewer stay in registers while the others pass by; with 32 registers
// there is room for both.
constexpr bool keeps_rows(int n, int u) {
    return Simd::kLanes == 8 && n < u;
}

constexpr uint32_t kChunkTiles = kChunkTokens / 16;

// The chunk's tiles, and behind them those that are read next: V after K, the next chunk after V.
struct Tiles {
    const uint8_t* k[kChunkTiles + kAheadTiles];
    const uint8_t* v[kChunkTiles + kAheadTiles];
    uint32_t first, last;

    Tiles(const AttentionChunk& chunk, uint32_t from, uint32_t to) : first(from), last(to) {
        for (uint32_t i = from; i < to; ++i) {
            k[i] = static_cast<const uint8_t*>(chunk.k_tiles[i]);
            v[i] = static_cast<const uint8_t*>(chunk.v_tiles[i]);
        }
        for (uint32_t i = 0; i < kAheadTiles; ++i) {
            k[to + i] = v[from + i < to ? from + i : to - 1];
            v[to + i] = chunk.next_k ? static_cast<const uint8_t*>(chunk.next_k[i]) : k[from];
        }
    }
};

// The query rows of a chunk from one on.
struct Queries {
    const AttentionChunk& chunk;
    uint32_t first;

    const float* row(int r) const {
        return chunk.q + (first + static_cast<uint32_t>(r)) * uint64_t{kMaxHeadDim};
    }
    float* scores(int r) const {
        return chunk.scores + (first + static_cast<uint32_t>(r)) * uint64_t{kChunkTokens};
    }
};

Simd::F load_kv(const uint16_t* p) {
    return Simd::load_half(p);
}
Simd::F load_kv(const float* p) {
    return Simd::load(p);
}

// f16 or f32. K tile: [head_dim][16]; V tile: [16][head_dim].
template <class T>
struct FloatKv {
    // Tiles of tokens that N rows go over at a time: chains enough to hide the latency of fma, few
    // enough for the registers, and two registers of tokens for each broadcast of a query.
    static constexpr int tiles_at_once(int n) {
        if (Simd::kLanes == 16) return n <= 6 ? 4 : 2;
        return n == 1 ? 4 : n <= 3 ? 2 : 1;
    }
    static constexpr uint32_t kLineValues = 64 / sizeof(T);
    static uint32_t v_row_bytes(uint32_t head_dim) { return head_dim * sizeof(T); }
    static Simd::F value(const uint8_t* v, uint32_t d) {
        return load_kv(reinterpret_cast<const T*>(v) + d);
    }
    static Simd::F weigh(Simd::F p, const uint8_t*, uint32_t, int) { return p; }

    template <int N, int kTiles>
    static void score(const Queries& queries, const Tiles& tiles, uint32_t tile) {
        constexpr int U = kTiles * kRegs;
        constexpr uint32_t kDims = kLineValues / 16;  // of a tile in a line
        const uint32_t dims = queries.chunk.head_dim;
        const float* q = queries.row(0);
        constexpr int kStride = static_cast<int>(kMaxHeadDim);
        const T* k[kTiles];
        const uint8_t* ahead[kTiles];
        Simd::F s[N][U];
#pragma GCC unroll 8
        for (int i = 0; i < kTiles; ++i) {
            k[i] = reinterpret_cast<const T*>(tiles.k[tile + static_cast<uint32_t>(i)]);
            ahead[i] = tiles.k[tile + kAheadTiles + static_cast<uint32_t>(i)];
        }
#pragma GCC unroll 16
        for (int r = 0; r < N; ++r)
#pragma GCC unroll 8
            for (int u = 0; u < U; ++u) s[r][u] = Simd::zero();
        for (uint32_t line = 0; line < dims; line += kDims) {
#pragma GCC unroll 8
            for (int i = 0; i < kTiles; ++i) Simd::prefetch(ahead[i] + line * 16 * sizeof(T));
#pragma GCC unroll 2
            for (uint32_t d = line; d < line + kDims; ++d) {
                const float* qd = q + d;
                if constexpr (keeps_rows(N, U)) {
                    Simd::F row[N];
#pragma GCC unroll 16
                    for (int r = 0; r < N; ++r) row[r] = Simd::set(qd[r * kStride]);
#pragma GCC unroll 8
                    for (int u = 0; u < U; ++u) {
                        const Simd::F kd =
                            load_kv(k[u / kRegs] + d * 16 + u % kRegs * Simd::kLanes);
#pragma GCC unroll 16
                        for (int r = 0; r < N; ++r) s[r][u] = Simd::fma(row[r], kd, s[r][u]);
                    }
                    continue;
                }
                Simd::F kd[U];
#pragma GCC unroll 8
                for (int u = 0; u < U; ++u)
                    kd[u] = load_kv(k[u / kRegs] + d * 16 + u % kRegs * Simd::kLanes);
#pragma GCC unroll 16
                for (int r = 0; r < N; ++r) {
                    const Simd::F row = Simd::set(qd[r * kStride]);
#pragma GCC unroll 8
                    for (int u = 0; u < U; ++u) s[r][u] = Simd::fma(row, kd[u], s[r][u]);
                }
            }
        }
        const Simd::F scale = Simd::set(queries.chunk.scale);
#pragma GCC unroll 16
        for (int r = 0; r < N; ++r)
#pragma GCC unroll 8
            for (int u = 0; u < U; ++u)
                Simd::store(queries.scores(r) + tile * 16 + u * Simd::kLanes,
                            Simd::mul(s[r][u], scale));
    }
};

}  // namespace
}  // namespace kvik
