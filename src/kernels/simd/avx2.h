// The vocabulary on AVX2 (with FMA and F16C): dot products by way of 16 bits.
// Included by isa/avx2.cpp alone; everything is internal to it.
#pragma once

#include "kernels/simd/avx2_base.h"

namespace kvik {
namespace {

struct Simd : Avx2 {
    static constexpr int kDirectCols = 4;
    static constexpr int kUnpackedRows = 1;
    static constexpr int kUnpackedCols = 4;
    static constexpr bool kOneDot = false;  // Dot is the same for every width
    static constexpr int kFloatCols = 6;
    static constexpr int kSuperCols = 4;
    static constexpr bool kUnpackSuper = true;

    // Dot products of 4 bytes a lane with 4 activations broadcast. maddubs saturates at 16 bits:
    // weights of at most 4 bits stay inside over a group of 8 vectors (8 * 2 * 15 * 127 = 30480), of 5
    // bits over four (4 * 2 * 31 * 127 = 31496), so that a group has two 16-bit sums, and of 6 over
    // two (2 * 2 * 63 * 127 = 32004), so that a sub-group of 4 has two. u8 weights go through |w| and
    // the sign of w instead (2 * 128 * 127 = 32512), which also takes the zero point of 128 off.
    template <WeightBits kBits>
    struct Dot {
        static constexpr bool kTwo = kBits == WeightBits::five || kBits == WeightBits::six;
        struct Sum {
            I half[kTwo ? 2 : 1];
        };
        // A sum stays where it is: GCC would make trees of a chain of integer additions, which need
        // more registers than there are (a third of the speed).
        static void keep(I& sum) { asm("" : "+x"(sum)); }
        static Sum begin(int, unsigned) {
            Sum s;
            for (I& half : s.half) half = izero();
            return s;
        }
        static I broadcast(const int8_t* a) {
            return _mm256_set1_epi32(*reinterpret_cast<const aliasing_int*>(a));
        }
        static void step(Sum& s, int vector, I w, I x) {
            if constexpr (kBits == WeightBits::eight) {
                const I v = _mm256_xor_si256(w, _mm256_set1_epi8(-128));
                const I pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(v), _mm256_sign_epi8(x, v));
                s.half[0] =
                    _mm256_add_epi32(s.half[0], _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
                keep(s.half[0]);
            } else {
                I& half = s.half[kTwo ? vector / (kBits == WeightBits::six ? 2 : 4) : 0];
                half = _mm256_add_epi16(half, _mm256_maddubs_epi16(w, x));
                keep(half);
            }
        }
        static void step(Sum& s, int vector, I w, const int8_t* a) {
            step(s, vector, w, broadcast(a));
        }
        static I end(Sum s, int nsum, unsigned zero_shift) {
            if constexpr (kBits == WeightBits::eight) {
                return s.half[0];
            } else {
                const I ones = _mm256_set1_epi16(1);
                I sum = _mm256_madd_epi16(s.half[0], ones);
                if constexpr (kTwo) sum = _mm256_add_epi32(sum, _mm256_madd_epi16(s.half[1], ones));
                if (zero_shift == 0) return sum;
                return _mm256_add_epi32(sum, shift_up(_mm256_set1_epi32(nsum), zero_shift));
            }
        }
    };

    // Pairs of 16-bit products, summed to 32 bits and added.
    static I dot_pairs(I sum, I a, I b) { return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b)); }
};

}  // namespace
}  // namespace kvik
