// The vocabulary on AVX-512 (F, BW, VL, DQ, VNNI): 16 lanes in one register.
// Included by isa/avx512.cpp alone; everything is internal to it.
#pragma once

#include <immintrin.h>
#include <stdint.h>

#include "kernels/simd/fold.h"

namespace kvik {
namespace {

typedef int __attribute__((may_alias)) aliasing_int;

struct Simd {
    static constexpr int kLanes = 16;
    static constexpr int kDirectCols = 12;   // columns of the on-the-fly matmul at a time
    static constexpr int kUnpackedRows = 2;  // row tiles x columns of the prefill matmul
    static constexpr int kUnpackedCols = 6;
    static constexpr bool kOneDot = true;  // Dot is the same for every width
    static constexpr int kFloatCols = 12;
    static constexpr int kSuperCols = 12;
    static constexpr bool kUnpackSuper = false;  // reading the tile is faster at every width
    using F = __m512;
    using I = __m512i;
    struct Sums {
        int first, last;
    };

    static F zero() { return _mm512_setzero_ps(); }
    static F set(float x) { return _mm512_set1_ps(x); }
    static F load(const float* p) { return _mm512_loadu_ps(p); }
    static void store(float* p, F v) { _mm512_storeu_ps(p, v); }
    static F load_half(const void* p) {
        return _mm512_cvtph_ps(_mm256_loadu_si256(static_cast<const __m256i*>(p)));
    }
    static F load_bfloat(const void* p) {
        return _mm512_castsi512_ps(_mm512_slli_epi32(
            _mm512_cvtepu16_epi32(_mm256_loadu_si256(static_cast<const __m256i*>(p))), 16));
    }
    static void store_half(void* p, F v) {
        _mm256_storeu_si256(static_cast<__m256i*>(p),
                            _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
    }
    // p[i / 2] in lane i.
    static F load_twice(const float* p) {
        const __m512i half = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
        return _mm512_permutexvar_ps(half, _mm512_castps256_ps512(_mm256_loadu_ps(p)));
    }
    static F swap_pairs(F v) { return _mm512_permute_ps(v, 0xb1); }
    static F sub_add(F a, F b) {  // a - b in even lanes, a + b in odd ones
        return _mm512_mask_sub_ps(_mm512_add_ps(a, b), 0x5555, a, b);
    }
    static F add(F a, F b) { return _mm512_add_ps(a, b); }
    static F sub(F a, F b) { return _mm512_sub_ps(a, b); }
    static F mul(F a, F b) { return _mm512_mul_ps(a, b); }
    static F div(F a, F b) { return _mm512_div_ps(a, b); }
    static F max(F a, F b) { return _mm512_max_ps(a, b); }
    static F min(F a, F b) { return _mm512_min_ps(a, b); }
    static F fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
    static F round(F v) { return _mm512_roundscale_ps(v, 8); }
    // v where x >= floor, else +0 (also where x is NaN).
    static F keep_at_least(F x, F floor, F v) {
        return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, floor, _CMP_GE_OQ), v);
    }
    // v in lanes [begin, end), else `other`.
    static F select_range(int begin, int end, F v, F other) {
        const unsigned below_end = (1u << end) - 1, below_begin = (1u << begin) - 1;
        return _mm512_mask_mov_ps(other, static_cast<__mmask16>(below_end & ~below_begin), v);
    }
    static F scale_by_power(F v, F n) {  // exponent add
        return _mm512_castsi512_ps(
            _mm512_add_epi32(_mm512_castps_si512(v), _mm512_slli_epi32(_mm512_cvtps_epi32(n), 23)));
    }

    static I izero() { return _mm512_setzero_si512(); }
    static I iset(int x) { return _mm512_set1_epi32(x); }
    static I iload(const void* p) { return _mm512_loadu_si512(p); }
    static void istore(void* p, I v) { _mm512_storeu_si512(p, v); }
    static I low_nibbles(I v) { return _mm512_and_si512(v, _mm512_set1_epi8(15)); }
    static I high_nibbles(I v) {
        return _mm512_and_si512(_mm512_srli_epi16(v, 4), _mm512_set1_epi8(15));
    }
    // w with bit kTo set in bytes whose bit `kBit` of `bits` is; masks measure faster than shifts.
    template <int kBit, int kTo>
    static I add_bit(I w, I bits) {
        return _mm512_mask_add_epi8(w,
                                    _mm512_test_epi8_mask(bits, _mm512_set1_epi8(char(1 << kBit))),
                                    w, _mm512_set1_epi8(1 << kTo));
    }
    static I look_up(I nibbles, const uint8_t* table) {
        const __m128i t = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table));
        return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(t), nibbles);
    }
    template <int kByte>
    static F byte_to_float(I v) {
        return _mm512_cvtepi32_ps(
            _mm512_and_si512(_mm512_srli_epi32(v, 8 * kByte), _mm512_set1_epi32(255)));
    }
    static F to_float(I v) { return _mm512_cvtepi32_ps(v); }
    static I abs_bits(F v) {
        return _mm512_and_si512(_mm512_castps_si512(v), _mm512_set1_epi32(0x7fffffff));
    }
    static I imax(I a, I b) { return _mm512_max_epi32(a, b); }
    static int reduce_max(I v) { return _mm512_reduce_max_epi32(v); }
    // 16 floats -> 16 int8, rounded to nearest even, clamped.
    static void store_rounded_16(int8_t* p, const F* v) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(p),
                         _mm512_cvtsepi32_epi8(_mm512_cvtps_epi32(v[0])));
    }
    // 32 floats -> 32 int8, rounded to nearest even, clamped; the sums of the first 16 and the last.
    static Sums store_rounded_32(int8_t* p, const F* v) {
        const __m256i w = _mm256_set_m128i(_mm512_cvtsepi32_epi8(_mm512_cvtps_epi32(v[1])),
                                           _mm512_cvtsepi32_epi8(_mm512_cvtps_epi32(v[0])));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), w);
        __m256i s = _mm256_dpbusd_epi32(_mm256_setzero_si256(), _mm256_set1_epi8(1), w);
        s = _mm256_add_epi32(s, _mm256_shuffle_epi32(s, 0x4e));
        s = _mm256_add_epi32(s, _mm256_shuffle_epi32(s, 0xb1));
        return {_mm256_cvtsi256_si32(s), _mm_cvtsi128_si32(_mm256_extracti128_si256(s, 1))};
    }

    // Dot products of 4 bytes a lane with 4 activations broadcast. `Sum` is what accumulates over one
    // group: 8 vectors, or 4 of six-bit weights.
    template <WeightBits kBits>
    struct Dot {
        using Sum = I;
        static Sum begin(int nsum, unsigned zero_shift) {
            return zero_shift == 0 ? izero()
                                   : _mm512_slli_epi32(_mm512_set1_epi32(nsum), zero_shift);
        }
        static void step(Sum& s, int, I w, const int8_t* a) {
#if defined(__clang__)
            s = _mm512_dpbusd_epi32(s, w,
                                    _mm512_set1_epi32(*reinterpret_cast<const aliasing_int*>(a)));
#else
            // The broadcast goes through the load port, as a memory operand; GCC would use a
            // register and a shuffle port.
            asm("vpdpbusd %2%{1to16%}, %1, %0"
                : "+v"(s)
                : "v"(w), "m"(*reinterpret_cast<const aliasing_int*>(a)));
#endif
        }
        static I broadcast(const int8_t* a) {
            I x = _mm512_set1_epi32(*reinterpret_cast<const aliasing_int*>(a));
            asm("" : "+v"(x));  // keeps one broadcast for both row tiles
            return x;
        }
        static void step(Sum& s, int, I w, I x) {
            s = _mm512_dpbusd_epi32(s, w, x);
        }
        static I end(Sum s, int, unsigned) {
            return s;
        }
    };

    // Pairs of 16-bit products, summed to 32 bits and added.
    static I dot_pairs(I sum, I a, I b) {
        return _mm512_dpwssd_epi32(sum, a, b);
    }
    // 2 bytes a lane -> 2 x 16 bits a lane.
    static I load_byte_pairs(const void* p) {
        return _mm512_cvtepu8_epi16(_mm256_loadu_si256(static_cast<const __m256i*>(p)));
    }
    // A byte a lane.
    static I load_bytes(const void* p) {
        return _mm512_cvtepu8_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p)));
    }
    static void store_bytes(void* p, I v) {  // a lane a byte
        _mm_storeu_si128(static_cast<__m128i*>(p), _mm512_cvtepi32_epi8(v));
    }
    static I low_four(I v) {
        return _mm512_and_si512(v, _mm512_set1_epi32(15));
    }
    static I above_four(I v) {
        return _mm512_srli_epi32(v, 4);
    }
    static F load_u8(const void* p) {
        return to_float(load_bytes(p));
    }
    static F load_i8(const void* p) {
        return _mm512_cvtepi32_ps(
            _mm512_cvtepi8_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p))));
    }
    // Bits 2 * kShift and 2 * kShift + 1 of each byte to bits 0, 1.
    template <int kShift>
    static I bit_pairs(I v) {
        return _mm512_and_si512(_mm512_srli_epi16(v, 2 * kShift), _mm512_set1_epi8(3));
    }
    template <int kShift>
    static I bit_pairs_high(I v) {  // bits 2 * kShift and 2 * kShift + 1 of each byte to bits 4, 5
        const I mask = _mm512_set1_epi8(0x30);
        if constexpr (kShift == 0) return _mm512_and_si512(_mm512_slli_epi16(v, 4), mask);
        if constexpr (kShift == 1) return _mm512_and_si512(_mm512_slli_epi16(v, 2), mask);
        if constexpr (kShift == 2) return _mm512_and_si512(v, mask);
        if constexpr (kShift == 3) return _mm512_and_si512(_mm512_srli_epi16(v, 2), mask);
    }
    static I ior(I a, I b) {
        return _mm512_or_si512(a, b);
    }

    // Volatile: GCC takes a function that only prefetches for one that does nothing, and drops it.
    static void prefetch(const void* p) {
        asm volatile("prefetcht0 %0" : : "m"(*static_cast<const char*>(p)));
    }
};

}  // namespace
}  // namespace kvik
