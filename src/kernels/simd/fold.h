// Sums and maxima across the lanes of registers, in R4's tree: 8, 4, 2, 1.
// Included by body/attention.inl alone; everything is internal to it.
#pragma once

#include <immintrin.h>

namespace kvik {

namespace {

struct Add {
    static __m256 of(__m256 a, __m256 b) { return _mm256_add_ps(a, b); }
    static __m128 of(__m128 a, __m128 b) { return _mm_add_ps(a, b); }
};
struct Max {
    static __m256 of(__m256 a, __m256 b) { return _mm256_max_ps(a, b); }
    static __m128 of(__m128 a, __m128 b) { return _mm_max_ps(a, b); }
};

template <class Op>
float fold_eight(__m256 v) {
    __m128 four = Op::of(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    four = Op::of(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(Op::of(four, _mm_movehdup_ps(four)));
}

// 16 lanes in one register or two.
#ifdef __AVX512F__
template <class Op>
float fold(const __m512* v) {
    return fold_eight<Op>(Op::of(_mm512_castps512_ps256(v[0]), _mm512_extractf32x8_ps(v[0], 1)));
}
#else
template <class Op>
float fold(const __m256* v) {
    return fold_eight<Op>(Op::of(v[0], v[1]));
}
#endif

}  // namespace

// ----
// How wide a weight is where it meets an activation: it decides how sums of byte products stay exact.

enum class WeightBits {
    three,  // 0 .. 7
    four,   // 0 .. 15
    five,   // 0 .. 31
    six,    // 0 .. 63
    eight,  // 0 .. 255 around a zero point of 128
};

}  // namespace kvik
