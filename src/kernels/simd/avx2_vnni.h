// The vocabulary on AVX2 with AVX-VNNI (and FMA and F16C): dot products by `vpdpbusd`, which adds four
// products of bytes to 32 bits and never saturates.
// Included by isa/avx2_vnni.cpp alone; everything is internal to it.
#pragma once

#include "kernels/simd/avx2_base.h"

namespace kvik {
namespace {

struct Simd : Avx2 {
    static constexpr int kDirectCols = 6;
    static constexpr int kUnpackedRows = 1;
    static constexpr int kUnpackedCols = 6;
    static constexpr bool kOneDot = true;  // Dot is the same for every width
    static constexpr int kFloatCols = 6;
    static constexpr int kSuperCols = 4;
    static constexpr bool kUnpackSuper = true;

    // Dot products of 4 bytes a lane with 4 activations broadcast, the same for every width.
    template <WeightBits>
    struct Dot {
        using Sum = I;
        static Sum begin(int nsum, unsigned zero_shift) {
            return zero_shift == 0 ? izero() : shift_up(_mm256_set1_epi32(nsum), zero_shift);
        }
        static I broadcast(const int8_t* a) {
            return _mm256_set1_epi32(*reinterpret_cast<const aliasing_int*>(a));
        }
        static void step(Sum& s, int, I w, I x) { s = _mm256_dpbusd_avx_epi32(s, w, x); }
        static void step(Sum& s, int vector, I w, const int8_t* a) {
            step(s, vector, w, broadcast(a));
        }
        static I end(Sum s, int, unsigned) { return s; }
    };

    // Pairs of 16-bit products, summed to 32 bits and added.
    static I dot_pairs(I sum, I a, I b) { return _mm256_dpwssd_avx_epi32(sum, a, b); }
};

}  // namespace
}  // namespace kvik
