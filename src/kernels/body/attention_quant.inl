// q8 KV (R10 of SPEC.md): K meets the query in integers, as weights meet activations; the scale of
// V goes into the weights of its tokens.

namespace kvik {
namespace {

int quantize_group(const float* x, uint32_t n, int8_t* q, float* d) {
    Simd::I top = Simd::izero();
    for (uint32_t i = 0; i < n; i += Simd::kLanes)
        top = Simd::imax(top, Simd::abs_bits(Simd::load(x + i)));
    const int bits = Simd::reduce_max(top);
    float amax;
    __builtin_memcpy(&amax, &bits, 4);
    if (bits >= 0x7f800000 || !(amax >= numerics::kQuantFloor)) {
        __builtin_memset(q, 0, n);
        *d = 0.0f;
        return bits < 0x7f800000;
    }
    *d = amax / 127.0f;
    const Simd::F inverse = Simd::set(127.0f / amax);
    constexpr uint32_t kLanes = Simd::kLanes;
    for (uint32_t i = 0; i < n; i += 32) {
        Simd::F v[32 / kLanes];
        for (uint32_t j = 0; j < 32 / kLanes; ++j)  // the last 16 may have nothing behind them
            v[j] = i + j * kLanes < n ? Simd::mul(Simd::load(x + i + j * kLanes), inverse)
                                      : Simd::zero();
        int8_t rounded[32];
        Simd::store_rounded_32(rounded, v);
        __builtin_memcpy(q + i, rounded, n - i < 32 ? 16 : 32);
    }
    return 1;
}

struct QuantKv {
    using Dot = Simd::Dot<WeightBits::eight>;
    static constexpr unsigned kZeroShift = 7;  // K lies as q + 128

    // Two sums a row and register of tokens, a group's in integers and the score: with more than a
    // tile at a time they measure slower, but for a row alone.
    static constexpr int tiles_at_once(int n) { return Simd::kLanes == 16 && n == 1 ? 4 : 1; }
    static uint32_t v_row_bytes(uint32_t head_dim) { return head_dim; }
    static Simd::F value(const uint8_t* v, uint32_t d) { return Simd::load_i8(v + d); }
    static Simd::F weigh(Simd::F p, const uint8_t* v, uint32_t head_dim, int j) {
        const auto* scales = reinterpret_cast<const float*>(v + head_dim * 16);
        return Simd::mul(p, Simd::load(scales + j * Simd::kLanes));
    }

    template <int N, int kTiles>
    static void score(const Queries& queries, const Tiles& tiles, uint32_t tile) {
        constexpr int U = kTiles * kRegs;
        const uint32_t dims = queries.chunk.head_dim, n_vectors = dims / 4;
        const QuantQueries& quant = queries.chunk.quant;
        const int8_t* q = quant.q + queries.first * kMaxHeadDim;
        const uint32_t row0 = queries.first * kMaxQueryGroups;
        const uint8_t* k[kTiles];
        const uint8_t* ahead[kTiles];
        Simd::F s[N][U];
#pragma GCC unroll 8
        for (int i = 0; i < kTiles; ++i) {
            k[i] = tiles.k[tile + static_cast<uint32_t>(i)];
            ahead[i] = tiles.k[tile + kAheadTiles + static_cast<uint32_t>(i)];
            Simd::prefetch(tiles.v[tile + static_cast<uint32_t>(i)] + dims * 16);
        }
#pragma GCC unroll 16
        for (int r = 0; r < N; ++r)
#pragma GCC unroll 8
            for (int u = 0; u < U; ++u) s[r][u] = Simd::zero();
        for (uint32_t g = 0; g * 8 < n_vectors; ++g) {
            const uint32_t end = g * 8 + 8 < n_vectors ? g * 8 + 8 : n_vectors;
            typename Dot::Sum sum[N][U];
#pragma GCC unroll 16
            for (int r = 0; r < N; ++r) {
                const auto begin = Dot::begin(
                    quant.nsum[row0 + static_cast<uint32_t>(r) * kMaxQueryGroups + g], kZeroShift);
#pragma GCC unroll 8
                for (int u = 0; u < U; ++u) sum[r][u] = begin;
            }
            for (uint32_t j = g * 8; j < end; ++j) {
                Simd::I w[U];
#pragma GCC unroll 8
                for (int i = 0; i < kTiles; ++i) Simd::prefetch(ahead[i] + j * 64);
#pragma GCC unroll 8
                for (int u = 0; u < U; ++u)
                    w[u] = Simd::iload(k[u / kRegs] + j * 64 + u % kRegs * 4 * Simd::kLanes);
#pragma GCC unroll 16
                for (int r = 0; r < N; ++r) {
                    const int8_t* four = q + r * static_cast<int>(kMaxHeadDim) + j * 4;
                    if constexpr (U == 1) {
                        Dot::step(sum[r][0], 0, w[0], four);
                        continue;
                    }
                    const Simd::I x = Dot::broadcast(four);
#pragma GCC unroll 8
                    for (int u = 0; u < U; ++u) Dot::step(sum[r][u], 0, w[u], x);
                }
            }
#pragma GCC unroll 8
            for (int i = 0; i < kTiles; ++i) Simd::prefetch(ahead[i] + dims * 16 + g * 64);
#pragma GCC unroll 8
            for (int u = 0; u < U; ++u) {
                const Simd::F scale =
                    Simd::load(reinterpret_cast<const float*>(k[u / kRegs] + dims * 16) + g * 16 +
                               u % kRegs * Simd::kLanes);
#pragma GCC unroll 16
                for (int r = 0; r < N; ++r) {
                    const uint32_t at = row0 + static_cast<uint32_t>(r) * kMaxQueryGroups + g;
                    const Simd::F t =
                        Simd::to_float(Dot::end(sum[r][u], quant.nsum[at], kZeroShift));
                    s[r][u] = Simd::fma(Simd::mul(t, Simd::set(quant.d[at])), scale, s[r][u]);
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
