// One chunk of attention over the vocabulary `Simd` (R5 of SPEC.md). Query rows go through
// together, so that K and V are read (and widened) once for all of them.

#include "kernels/simd/fold.h"
// after it
#include "kernels/body/attention_kv.inl"
// after it
#include "kernels/body/attention_quant.inl"

namespace kvik {
namespace {

constexpr int kQueryRows = Simd::kLanes == 16 ? 12 : 6;  // at a time

// Registers of dimensions that N rows go over at a time.
constexpr int dims_at_once(int n) {
    if (Simd::kLanes == 16) return n <= 3 ? 8 : n <= 6 ? 4 : 2;
    return n == 1 ? 8 : n <= 3 ? 4 : 2;
}

template <class Kv, int N>
void score_tiles(const Queries& queries, const Tiles& tiles) {
    constexpr int kMany = Kv::tiles_at_once(N);
    uint32_t t = tiles.first;
    for (; t + kMany <= tiles.last; t += kMany) Kv::template score<N, kMany>(queries, tiles, t);
    for (; t < tiles.last; ++t) Kv::template score<N, 1>(queries, tiles, t);
}

// The part of [begin, end) that lies in the register of tokens from `at` on.
int clamp_to_register(int token, int at) {
    const int lane = token - at;
    return lane < 0 ? 0 : lane > Simd::kLanes ? Simd::kLanes : lane;
}

// Masks a row's scores of tokens that it does not see; returns the largest of the others.
float mask_row(float* p, int begin, int end) {
    const Simd::F never = Simd::set(-__builtin_inff());
    Simd::F top[kRegs];
    for (Simd::F& v : top) v = never;
    for (int tile = begin / 16 * 16; tile < end; tile += 16)
#pragma GCC unroll 2
        for (int j = 0; j < kRegs; ++j) {
            const int at = tile + j * Simd::kLanes;
            Simd::F s = Simd::load(p + at);
            if (at < begin || at + Simd::kLanes > end) {
                const int low = clamp_to_register(begin, at), high = clamp_to_register(end, at);
                s = Simd::select_range(low, high < low ? low : high, s, never);
                Simd::store(p + at, s);
            }
            top[j] = Simd::max(s, top[j]);  // a NaN is never the largest
        }
    return fold<Max>(top);
}

// Exponentials of a row in place, their sum in R4's order.
template <class Kv>
float exponentials(float* p, float chunk_max, int begin, int end, const Tiles& tiles,
                   uint32_t head_dim) {
    Simd::F sums[kRegs];
    for (Simd::F& v : sums) v = Simd::zero();
    const Simd::F shift = Simd::set(chunk_max);
    for (int at = begin / 16 * 16; at < end; at += 16)
#pragma GCC unroll 2
        for (int j = 0; j < kRegs; ++j) {
            float* here = p + at + j * Simd::kLanes;
            const Simd::F e = spec_exp(Simd::sub(Simd::load(here), shift));
            sums[j] = Simd::add(sums[j], e);
            Simd::store(here, Kv::weigh(e, tiles.v[at / 16], head_dim, j));
        }
    return fold<Add>(sums);
}

// Weights of what was (a) and of this chunk (b), a lane a row.
struct Merge {
    alignas(64) float a[16], b[16];
};

// R5 within the chunk for N rows: p in place of the scores; merges m and l.
template <class Kv>
void softmax_rows(const Queries& queries, const Tiles& tiles, int n, Merge& merge) {
    const AttentionChunk& chunk = queries.chunk;
    alignas(64) float top[16] = {}, before[16] = {}, sum[16];
    for (int r = 0; r < n; ++r) {
        const uint32_t row = queries.first + static_cast<uint32_t>(r);
        const int begin = static_cast<int>(chunk.begin[row]),
                  end = static_cast<int>(chunk.end[row]);
        top[r] = mask_row(queries.scores(r), begin, end);
        sum[r] = exponentials<Kv>(queries.scores(r), top[r], begin, end, tiles, chunk.head_dim);
        before[r] = chunk.m[row];
        const float now = before[r] > top[r] ? before[r] : top[r];
        chunk.m[row] = now;
        before[r] -= now;
        top[r] -= now;
    }
    for (int at = 0; at < n; at += Simd::kLanes) {
        Simd::store(merge.a + at, spec_exp(Simd::load(before + at)));
        Simd::store(merge.b + at, spec_exp(Simd::load(top + at)));
    }
    for (int r = 0; r < n; ++r) {
        float& l = chunk.l[queries.first + static_cast<uint32_t>(r)];
        l = __builtin_fmaf(l, merge.a[r], sum[r] * merge.b[r]);
    }
}

// Adds tokens [begin, end) to the values of N rows, U registers of dimensions from d on.
template <class Kv, int N, int U>
void add_values(const Queries& queries, const Tiles& tiles, uint32_t d, uint32_t begin,
                uint32_t end, Simd::F (*total)[U]) {
    const uint32_t row_bytes = Kv::v_row_bytes(queries.chunk.head_dim);
    const uint32_t at = Kv::v_row_bytes(d);
    constexpr int64_t kRow = kChunkTokens;
    const float* p = queries.scores(0);
    Simd::F acc[N][U];  // a copy: what has an address does not stay in registers
#pragma GCC unroll 16
    for (int r = 0; r < N; ++r)
#pragma GCC unroll 8
        for (int u = 0; u < U; ++u) acc[r][u] = total[r][u];
    for (uint32_t t = begin; t < end;) {
        const uint32_t tile = t / 16, stop = end < tile * 16 + 16 ? end : tile * 16 + 16;
        const uint64_t offset = t % 16 * row_bytes;
        const uint8_t* v = tiles.v[tile] + offset;
        const uint8_t* ahead = tiles.v[tile + kAheadTiles] + offset + at;
        for (; t < stop; ++t, v += row_bytes, ahead += row_bytes) {
            for (uint32_t line = 0; line < Kv::v_row_bytes(U * Simd::kLanes); line += 64)
                Simd::prefetch(ahead + line);
            if constexpr (keeps_rows(N, U)) {
                Simd::F weight[N];
#pragma GCC unroll 16
                for (int r = 0; r < N; ++r) weight[r] = Simd::set(p[r * kRow + t]);
#pragma GCC unroll 8
                for (int u = 0; u < U; ++u) {
                    const Simd::F vd = Kv::value(v, d + static_cast<uint32_t>(u * Simd::kLanes));
#pragma GCC unroll 16
                    for (int r = 0; r < N; ++r) acc[r][u] = Simd::fma(weight[r], vd, acc[r][u]);
                }
                continue;
            }
            Simd::F vd[U];
#pragma GCC unroll 8
            for (int u = 0; u < U; ++u)
                vd[u] = Kv::value(v, d + static_cast<uint32_t>(u * Simd::kLanes));
#pragma GCC unroll 16
            for (int r = 0; r < N; ++r) {
                const Simd::F weight = Simd::set(p[r * kRow + t]);
#pragma GCC unroll 8
                for (int u = 0; u < U; ++u) acc[r][u] = Simd::fma(weight, vd[u], acc[r][u]);
            }
        }
    }
#pragma GCC unroll 16
    for (int r = 0; r < N; ++r)
#pragma GCC unroll 8
        for (int u = 0; u < U; ++u) total[r][u] = acc[r][u];
}

// What all rows of a group see, [low, high) tokens of the chunk; the rest is each row's own.
struct Common {
    uint32_t low, high;
};

// Weighted values of N rows for U registers of dimensions, merged into o.
template <class Kv, int N, int U>
void merge_values(const Queries& queries, const Tiles& tiles, uint32_t d, Common common,
                  const Merge& merge) {
    const AttentionChunk& chunk = queries.chunk;
    Simd::F acc[N][U];
#pragma GCC unroll 16
    for (int r = 0; r < N; ++r) {
#pragma GCC unroll 8
        for (int u = 0; u < U; ++u) acc[r][u] = Simd::zero();
    }
    const auto add_own = [&](int r, uint32_t begin, uint32_t end) {
        if (begin >= end) return;
        const Queries one = {chunk, queries.first + static_cast<uint32_t>(r)};
        add_values<Kv, 1, U>(one, tiles, d, begin, end, acc + r);
    };
    if constexpr (N > 1)
        for (int r = 0; r < N; ++r)
            add_own(r, chunk.begin[queries.first + static_cast<uint32_t>(r)], common.low);
    add_values<Kv, N, U>(queries, tiles, d, common.low, common.high, acc);
    if constexpr (N > 1)
        for (int r = 0; r < N; ++r)
            add_own(r, common.high, chunk.end[queries.first + static_cast<uint32_t>(r)]);
    for (int r = 0; r < N; ++r) {
        float* o = chunk.o + (queries.first + static_cast<uint32_t>(r)) * uint64_t{kMaxHeadDim} + d;
        for (int u = 0; u < U; ++u, o += Simd::kLanes)
            Simd::store(o, Simd::fma(Simd::load(o), Simd::set(merge.a[r]),
                                     Simd::mul(acc[r][u], Simd::set(merge.b[r]))));
    }
}

// All dimensions from d on that U registers fill, then with half as many.
template <class Kv, int N, int U>
void merge_dims(const Queries& queries, const Tiles& tiles, uint32_t d, Common common,
                const Merge& merge) {
    for (; d + U * Simd::kLanes <= queries.chunk.head_dim; d += U * Simd::kLanes)
        merge_values<Kv, N, U>(queries, tiles, d, common, merge);
    if constexpr (U > 1) merge_dims<Kv, N, U / 2>(queries, tiles, d, common, merge);
}

// N rows together; all of them see something, and `common` is not empty.
template <class Kv, int N>
void attend_rows(const AttentionChunk& chunk, uint32_t r0, Common common) {
    uint32_t first = chunk.begin[r0], last = chunk.end[r0];
    for (uint32_t r = r0; r < r0 + N; ++r) {
        if (chunk.begin[r] < first) first = chunk.begin[r];
        if (chunk.end[r] > last) last = chunk.end[r];
    }
    const Tiles tiles(chunk, first / 16, (last + 15) / 16);
    const Queries queries = {chunk, r0};
    score_tiles<Kv, N>(queries, tiles);
    Merge merge;
    softmax_rows<Kv>(queries, tiles, N, merge);
    merge_dims<Kv, N, dims_at_once(N)>(queries, tiles, 0, common, merge);
}

template <class Kv, int N>
void attend_n(const AttentionChunk& chunk, uint32_t r0, uint32_t n, Common common) {
    if constexpr (N > 1) {
        if (n < N) return attend_n<Kv, N - 1>(chunk, r0, n, common);
    }
    attend_rows<Kv, N>(chunk, r0, common);
}

template <class Kv>
void attend(const AttentionChunk& chunk) {
    for (uint32_t r0 = 0; r0 < chunk.n_queries; r0 += kQueryRows) {
        const uint32_t stop = r0 + kQueryRows < chunk.n_queries ? r0 + kQueryRows : chunk.n_queries;
        Common common = {0, kChunkTokens};
        for (uint32_t r = r0; r < stop; ++r) {
            if (chunk.begin[r] > common.low) common.low = chunk.begin[r];
            if (chunk.end[r] < common.high) common.high = chunk.end[r];
        }
        if (common.low < common.high) {
            attend_n<Kv, kQueryRows>(chunk, r0, stop - r0, common);
            continue;
        }
        for (uint32_t r = r0; r < stop; ++r)  // some row sees nothing, or no token is common
            if (chunk.begin[r] < chunk.end[r])
                attend_rows<Kv, 1>(chunk, r, {chunk.begin[r], chunk.end[r]});
    }
}

void merge_state(float m, float l, const float* o, uint32_t head_dim, float* into_m, float* into_l,
                 float* into_o) {
    if (m == -__builtin_inff()) return;
    const float now = *into_m > m ? *into_m : m;
    const float a = spec_exp(*into_m - now);
    const float b = spec_exp(m - now);
    *into_m = now;
    *into_l = __builtin_fmaf(*into_l, a, l * b);
    for (uint32_t d = 0; d < head_dim; d += Simd::kLanes)
        Simd::store(into_o + d, Simd::fma(Simd::load(into_o + d), Simd::set(a),
                                          Simd::mul(Simd::load(o + d), Simd::set(b))));
}

}  // namespace
}  // namespace kvik
