// Tiles of logits over the vocabulary `Simd` (R11 of SPEC.md): the maximum of each 16, and what they
// weigh beside it. Four tiles go together, so that what is left of each ends in a lane of its own.

namespace kvik {
namespace {

typedef float Quad __attribute__((vector_size(16)));
typedef int QuadMask __attribute__((vector_size(16)));

constexpr float kInfinity = __builtin_inff();
constexpr uint32_t kTilesAtOnce = 4;

Quad load_quad(const float* p) {
    Quad q;
    __builtin_memcpy(&q, p, sizeof q);
    return q;
}

struct TakeLarger {
    static Quad of(Quad a, Quad b) { return a > b ? a : b; }
    // NaN becomes +inf.
    static Quad load(const float* p) {
        const Quad x = load_quad(p), infinity = {kInfinity, kInfinity, kInfinity, kInfinity};
        return x < infinity ? x : infinity;
    }
};

struct TakeSum {
    static Quad of(Quad a, Quad b) { return a + b; }
    static Quad load(const float* p) { return load_quad(p); }
};

// R4's tree over 16 lanes, of 4 x 16 numbers: 8 and 4 within a tile, 2 and 1 across.
template <class Op>
Quad four_trees(const float* x) {
    Quad t[4];
    for (int i = 0; i < 4; ++i, x += 16)
        t[i] =
            Op::of(Op::of(Op::load(x), Op::load(x + 8)), Op::of(Op::load(x + 4), Op::load(x + 12)));
    const Quad a = Op::of(__builtin_shufflevector(t[0], t[1], 0, 1, 4, 5),
                          __builtin_shufflevector(t[0], t[1], 2, 3, 6, 7));
    const Quad b = Op::of(__builtin_shufflevector(t[2], t[3], 0, 1, 4, 5),
                          __builtin_shufflevector(t[2], t[3], 2, 3, 6, 7));
    return Op::of(__builtin_shufflevector(a, b, 0, 2, 4, 6),
                  __builtin_shufflevector(a, b, 1, 3, 5, 7));
}

// Calls f(x, t, n_tiles) for four tiles at a time from tile t; the last ones are filled up with
// -inf, which is never the largest and weighs nothing.
template <class Function>
void for_each_four_tiles(const float* x, uint32_t n, const Function& f) {
    constexpr uint32_t kAtOnce = kTilesAtOnce * 16;
    uint32_t i = 0;
    for (; i + kAtOnce <= n; i += kAtOnce) f(x + i, i / 16, kTilesAtOnce);
    if (i == n) return;
    alignas(64) float rest[kAtOnce];
    for (uint32_t k = 0; k < kAtOnce; ++k) rest[k] = i + k < n ? x[i + k] : -kInfinity;
    f(rest, i / 16, (n - i + 15) / 16);
}

void tile_maxima(const float* x, uint32_t n, float* maxima) {
    for_each_four_tiles(x, n, [&](const float* four, uint32_t t, uint32_t n_tiles) {
        const Quad m = four_trees<TakeLarger>(four) + 0.0f;  // -0 + 0 = 0
        __builtin_memcpy(maxima + t, &m, n_tiles * sizeof(float));
    });
}

// The exponential of base/exp_terms.h: every product and sum rounded.
Simd::F rounded_exp(Simd::F x) {
    const Simd::F magic = Simd::set(exp_terms::kRound);
    const Simd::F n =
        Simd::sub(Simd::add(Simd::mul(x, Simd::set(exp_terms::kInvLn2)), magic), magic);
    const Simd::F r = Simd::sub(Simd::sub(x, Simd::mul(n, Simd::set(exp_terms::kLn2High))),
                                Simd::mul(n, Simd::set(exp_terms::kLn2Low)));
    Simd::F p = Simd::set(exp_terms::kPoly[0]);
#pragma GCC unroll 7
    for (int i = 1; i < 8; ++i) p = Simd::add(Simd::mul(p, r), Simd::set(exp_terms::kPoly[i]));
    return Simd::keep_at_least(x, Simd::set(exp_terms::kFloor), Simd::scale_by_power(p, n));
}

void tile_sum_exp(const float* x, uint32_t n, const float* maxima, float inverse_temperature,
                 float* sum_exps) {
    const Simd::F inverse = Simd::set(inverse_temperature);
    for_each_four_tiles(x, n, [&](const float* four, uint32_t t, uint32_t n_tiles) {
        alignas(64) float terms[kTilesAtOnce * 16];
        for (uint32_t i = 0; i < kTilesAtOnce; ++i) {
            const Simd::F maximum = Simd::set(maxima[t + (i < n_tiles ? i : 0)]);
            for (int j = 0; j < kRegs; ++j) {
                const uint32_t at = i * 16 + static_cast<uint32_t>(j * Simd::kLanes);
                Simd::store(terms + at, rounded_exp(Simd::mul(
                                            Simd::sub(Simd::load(four + at), maximum), inverse)));
            }
        }
        const Quad m = four_trees<TakeSum>(terms);
        __builtin_memcpy(sum_exps + t, &m, n_tiles * sizeof(float));
    });
}

}  // namespace
}  // namespace kvik
