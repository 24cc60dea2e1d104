// One chunk of attention over the vocabulary `Simd` (R5 of SPEC.md). Query rows go through
// together, so that K and V are read (and widened) once for all of them.

namespace kvik {
namespace {

Simd::F load_kv(const uint16_t* p) {
    return Simd::load_half(p);
}
Simd::F load_kv(const float* p) {
    return Simd::load(p);
}

// Independent chains that hide the latency of fma: N rows go over this many registers of tokens
// (scores) or dimensions (values) at a time.
constexpr int chains(int n) {
    constexpr int kRegisters = Simd::kLanes == 16 ? 12 : 8;
    return n == 1 ? 8 : kRegisters / n > 4 ? 4 : kRegisters / n > 1 ? kRegisters / n : 1;
}

// Scores of N query rows against U registers of tokens: lanes are tokens, a chain over head_dim.
template <class T, int N, int U>
void score_tokens(const AttentionChunk& chunk, uint32_t r0, uint32_t token) {
    const float* q = chunk.q + static_cast<uint64_t>(r0) * kMaxHeadDim;
    float* out = chunk.scores + static_cast<uint64_t>(r0) * kChunkTokens + token;
    const T* k[U];
    Simd::F s[U][N];
#pragma GCC unroll 8
    for (int u = 0; u < U; ++u) {
        const uint32_t t = token + static_cast<uint32_t>(u * Simd::kLanes);
        k[u] = static_cast<const T*>(chunk.k_tiles[t / 16]) + t % 16;
#pragma GCC unroll 16
        for (int r = 0; r < N; ++r) s[u][r] = Simd::zero();
    }
    for (uint32_t d = 0; d < chunk.head_dim; ++d) {
#pragma GCC unroll 8
        for (int u = 0; u < U; ++u) {
            const Simd::F kd = load_kv(k[u] + d * 16);
#pragma GCC unroll 16
            for (int r = 0; r < N; ++r)
                s[u][r] =
                    Simd::fma(Simd::set(q[r * static_cast<int>(kMaxHeadDim) + d]), kd, s[u][r]);
        }
    }
    const Simd::F scale = Simd::set(chunk.scale);
#pragma GCC unroll 16
    for (int r = 0; r < N; ++r) {
#pragma GCC unroll 8
        for (int u = 0; u < U; ++u)
            Simd::store(out + r * static_cast<int>(kChunkTokens) + u * Simd::kLanes,
                        Simd::mul(s[u][r], scale));
    }
}

// All tokens of tiles [first, last).
template <class T, int N>
void score_tiles(const AttentionChunk& chunk, uint32_t r0, uint32_t first, uint32_t last) {
    constexpr int kMany = chains(N);
    uint32_t t = first * 16;
    for (; t + kMany * Simd::kLanes <= last * 16; t += kMany * Simd::kLanes)
        score_tokens<T, N, kMany>(chunk, r0, t);
    for (; t < last * 16; t += Simd::kLanes) score_tokens<T, N, 1>(chunk, r0, t);
}

struct Merge {
    float a, b;  // weights of what was and of this chunk
};

// Masks, maximum, exponentials and sum of one row; merges m and l.
Merge softmax_row(const AttentionChunk& chunk, uint32_t r) {
    const int begin = static_cast<int>(chunk.begin[r]), end = static_cast<int>(chunk.end[r]);
    float* p = chunk.scores + static_cast<uint64_t>(r) * kChunkTokens;
    const Simd::F never = Simd::set(-__builtin_inff());
    const int first = begin / 16 * 16, last = (end + 15) / 16 * 16;
    Simd::F top = never;
    for (int at = first; at < last; at += Simd::kLanes) {
        Simd::F s = Simd::load(p + at);
        if (at < begin || at + Simd::kLanes > end) {
            const int low = begin - at < 0              ? 0
                            : begin - at > Simd::kLanes ? Simd::kLanes
                                                        : begin - at;
            const int high = end - at < 0 ? 0 : end - at > Simd::kLanes ? Simd::kLanes : end - at;
            s = Simd::select_range(low, high < low ? low : high, s, never);
            Simd::store(p + at, s);
        }
        top = Simd::max(top, s);
    }
    alignas(64) float lanes[Simd::kLanes];
    Simd::store(lanes, top);
    float chunk_max = lanes[0];
    for (int i = 1; i < Simd::kLanes; ++i)
        if (lanes[i] > chunk_max) chunk_max = lanes[i];

    Simd::F sums[kRegs];
    for (Simd::F& v : sums) v = Simd::zero();
    const Simd::F shift = Simd::set(chunk_max);
    for (int at = first; at < last; at += 16)
#pragma GCC unroll 2
        for (int j = 0; j < kRegs; ++j) {
            float* here = p + at + j * Simd::kLanes;
            const Simd::F e = spec_exp(Simd::sub(Simd::load(here), shift));
            Simd::store(here, e);
            sums[j] = Simd::add(sums[j], e);
        }
    const float sum = tree(sums);
    const float before = chunk.m[r];
    const float now = before > chunk_max ? before : chunk_max;
    const Merge merge = {spec_exp(before - now), spec_exp(chunk_max - now)};
    chunk.m[r] = now;
    chunk.l[r] = __builtin_fmaf(chunk.l[r], merge.a, sum * merge.b);
    return merge;
}

// Adds tokens [begin, end) to the values of N rows, U registers of dimensions from d on.
template <class T, int N, int U>
void add_values(const AttentionChunk& chunk, uint32_t r0, uint32_t d, uint32_t begin, uint32_t end,
                Simd::F (*acc)[U]) {
    const float* p = chunk.scores + static_cast<uint64_t>(r0) * kChunkTokens;
    for (uint32_t t = begin; t < end; ++t) {
        const T* v = static_cast<const T*>(chunk.v_tiles[t / 16]) + t % 16 * chunk.head_dim + d;
#pragma GCC unroll 8
        for (int u = 0; u < U; ++u) {
            const Simd::F vd = load_kv(v + u * Simd::kLanes);
#pragma GCC unroll 16
            for (int r = 0; r < N; ++r)
                acc[r][u] =
                    Simd::fma(Simd::set(p[r * static_cast<int>(kChunkTokens) + t]), vd, acc[r][u]);
        }
    }
}

// Weighted values of N rows for U registers of dimensions, merged into o. [low, high) is what all
// rows see; the rest is each row's own.
template <class T, int N, int U>
void merge_values(const AttentionChunk& chunk, uint32_t r0, uint32_t d, uint32_t low, uint32_t high,
                  const Merge* merge) {
    Simd::F acc[N][U];
#pragma GCC unroll 16
    for (int r = 0; r < N; ++r) {
#pragma GCC unroll 8
        for (int u = 0; u < U; ++u) acc[r][u] = Simd::zero();
    }
    if constexpr (N > 1)
        for (int r = 0; r < N; ++r)
            add_values<T, 1, U>(chunk, r0 + r, d, chunk.begin[r0 + r], low, acc + r);
    add_values<T, N, U>(chunk, r0, d, low, high, acc);
    if constexpr (N > 1)
        for (int r = 0; r < N; ++r)
            add_values<T, 1, U>(chunk, r0 + r, d, high, chunk.end[r0 + r], acc + r);
    for (int r = 0; r < N; ++r) {
        float* o = chunk.o + static_cast<uint64_t>(r0 + r) * kMaxHeadDim + d;
        for (int u = 0; u < U; ++u, o += Simd::kLanes)
            Simd::store(o, Simd::fma(Simd::load(o), Simd::set(merge[r].a),
                                     Simd::mul(acc[r][u], Simd::set(merge[r].b))));
    }
}

// N rows together; all of them see something, and [low, high) is what all of them see.
template <class T, int N>
void attend_rows(const AttentionChunk& chunk, uint32_t r0, uint32_t low, uint32_t high) {
    uint32_t first = chunk.begin[r0], last = chunk.end[r0];
    for (uint32_t r = r0; r < r0 + N; ++r) {
        if (chunk.begin[r] < first) first = chunk.begin[r];
        if (chunk.end[r] > last) last = chunk.end[r];
    }
    score_tiles<T, N>(chunk, r0, first / 16, (last + 15) / 16);
    Merge merge[N];
    for (int r = 0; r < N; ++r) merge[r] = softmax_row(chunk, r0 + static_cast<uint32_t>(r));
    constexpr int kMany = chains(N);
    uint32_t d = 0;
    for (; d + kMany * Simd::kLanes <= chunk.head_dim; d += kMany * Simd::kLanes)
        merge_values<T, N, kMany>(chunk, r0, d, low, high, merge);
    if constexpr (kMany > 4)  // heads of 64 have four registers of dimensions
        for (; d + 4 * Simd::kLanes <= chunk.head_dim; d += 4 * Simd::kLanes)
            merge_values<T, N, 4>(chunk, r0, d, low, high, merge);
    for (; d < chunk.head_dim; d += Simd::kLanes)
        merge_values<T, N, 1>(chunk, r0, d, low, high, merge);
}

template <class T, int N>
void attend_n(const AttentionChunk& chunk, uint32_t low, uint32_t high) {
    if constexpr (N > 1) {
        if (chunk.n_queries < N) return attend_n<T, N - 1>(chunk, low, high);
    }
    attend_rows<T, N>(chunk, 0, low, high);
}

template <class T>
void attend(const AttentionChunk& chunk) {
    uint32_t low = 0, high = kChunkTokens;
    for (uint32_t r = 0; r < chunk.n_queries; ++r) {
        if (chunk.begin[r] > low) low = chunk.begin[r];
        if (chunk.end[r] < high) high = chunk.end[r];
    }
    if (low < high) return attend_n<T, static_cast<int>(kMaxQueries)>(chunk, low, high);
    for (uint32_t r = 0; r < chunk.n_queries; ++r)  // some row sees nothing, or no token is common
        if (chunk.begin[r] < chunk.end[r])
            attend_rows<T, 1>(chunk, r, chunk.begin[r], chunk.end[r]);
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
