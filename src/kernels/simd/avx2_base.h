// What AVX2 (with FMA and F16C) gives to both vocabularies of 8 lanes, avx2.h and avx2_vnni.h: all
// but the dot products. A tile is two halves. Everything is internal to the file in isa/ that
// includes it.
#pragma once

#include <immintrin.h>
#include <stdint.h>

#include "kernels/simd/fold.h"

namespace kvik {
namespace {

typedef int __attribute__((may_alias)) aliasing_int;

struct Avx2 {
    static constexpr int kLanes = 8;
    using F = __m256;
    using I = __m256i;
    struct Sums {
        int first, last;
    };

    static F zero() { return _mm256_setzero_ps(); }
    static F set(float x) { return _mm256_set1_ps(x); }
    static F load(const float* p) { return _mm256_loadu_ps(p); }
    static void store(float* p, F v) { _mm256_storeu_ps(p, v); }
    static F load_half(const void* p) {
        return _mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(p)));
    }
    static F load_bfloat(const void* p) {
        return _mm256_castsi256_ps(_mm256_slli_epi32(
            _mm256_cvtepu16_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p))), 16));
    }
    static void store_half(void* p, F v) {
        _mm_storeu_si128(static_cast<__m128i*>(p), _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
    }
    // p[i / 2] in lane i.
    static F load_twice(const float* p) {
        const __m256i half = _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3);
        return _mm256_permutevar8x32_ps(_mm256_castps128_ps256(_mm_loadu_ps(p)), half);
    }
    static F swap_pairs(F v) { return _mm256_permute_ps(v, 0xb1); }
    static F sub_add(F a, F b) {  // a - b in even lanes, a + b in odd ones
        return _mm256_addsub_ps(a, b);
    }
    static F add(F a, F b) { return _mm256_add_ps(a, b); }
    static F sub(F a, F b) { return _mm256_sub_ps(a, b); }
    static F mul(F a, F b) { return _mm256_mul_ps(a, b); }
    static F div(F a, F b) { return _mm256_div_ps(a, b); }
    static F max(F a, F b) { return _mm256_max_ps(a, b); }
    static F min(F a, F b) { return _mm256_min_ps(a, b); }
    static F fma(F a, F b, F c) { return _mm256_fmadd_ps(a, b, c); }
    static F round(F v) { return _mm256_round_ps(v, 8); }
    // v where x >= floor, else +0 (also where x is NaN).
    static F keep_at_least(F x, F floor, F v) {
        return _mm256_and_ps(v, _mm256_cmp_ps(x, floor, _CMP_GE_OQ));
    }
    // v in lanes [begin, end), else `other`.
    static F select_range(int begin, int end, F v, F other) {
        const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        const __m256i inside =
            _mm256_andnot_si256(_mm256_cmpgt_epi32(_mm256_set1_epi32(begin), lane),
                                _mm256_cmpgt_epi32(_mm256_set1_epi32(end), lane));
        return _mm256_blendv_ps(other, v, _mm256_castsi256_ps(inside));
    }
    static F scale_by_power(F v, F n) {  // exponent add
        return _mm256_castsi256_ps(
            _mm256_add_epi32(_mm256_castps_si256(v), _mm256_slli_epi32(_mm256_cvtps_epi32(n), 23)));
    }

    static I izero() { return _mm256_setzero_si256(); }
    static I iset(int x) { return _mm256_set1_epi32(x); }
    static I iload(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
    static void istore(void* p, I v) { _mm256_storeu_si256(static_cast<__m256i*>(p), v); }
    static I low_nibbles(I v) { return _mm256_and_si256(v, _mm256_set1_epi8(15)); }
    static I high_nibbles(I v) {
        return _mm256_and_si256(_mm256_srli_epi16(v, 4), _mm256_set1_epi8(15));
    }
    // w with bit kTo set in bytes whose bit `kBit` of `bits` is.
    template <int kBit, int kTo>
    static I add_bit(I w, I bits) {
        const I moved = kBit < kTo ? _mm256_slli_epi16(bits, kBit < kTo ? kTo - kBit : 0)
                                   : _mm256_srli_epi16(bits, kBit < kTo ? 0 : kBit - kTo);
        return _mm256_or_si256(w, _mm256_and_si256(moved, _mm256_set1_epi8(1 << kTo)));
    }
    static I look_up(I nibbles, const uint8_t* table) {
        const __m128i t = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table));
        return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(t), nibbles);
    }
    template <int kByte>
    static F byte_to_float(I v) {
        return _mm256_cvtepi32_ps(
            _mm256_and_si256(_mm256_srli_epi32(v, 8 * kByte), _mm256_set1_epi32(255)));
    }
    static F to_float(I v) { return _mm256_cvtepi32_ps(v); }
    static I abs_bits(F v) {
        return _mm256_and_si256(_mm256_castps_si256(v), _mm256_set1_epi32(0x7fffffff));
    }
    static I imax(I a, I b) { return _mm256_max_epi32(a, b); }
    static int reduce_max(I v) {
        __m128i h = _mm_max_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
        h = _mm_max_epi32(h, _mm_shuffle_epi32(h, 0x4e));
        h = _mm_max_epi32(h, _mm_shuffle_epi32(h, 0xb1));
        return _mm_cvtsi128_si32(h);
    }
    // 16 floats -> 16 int8, rounded to nearest even, clamped.
    static void store_rounded_16(int8_t* p, const F* v) {
        const __m256i w = _mm256_packs_epi32(_mm256_cvtps_epi32(v[0]), _mm256_cvtps_epi32(v[1]));
        const __m256i ordered = _mm256_permute4x64_epi64(w, 0xd8);
        _mm_storeu_si128(
            reinterpret_cast<__m128i*>(p),
            _mm_packs_epi16(_mm256_castsi256_si128(ordered), _mm256_extracti128_si256(ordered, 1)));
    }
    // 32 floats -> 32 int8, rounded to nearest even, clamped; the sums of the first 16 and the last.
    static Sums store_rounded_32(int8_t* p, const F* v) {
        const __m256i a = _mm256_packs_epi32(_mm256_cvtps_epi32(v[0]), _mm256_cvtps_epi32(v[1]));
        const __m256i b = _mm256_packs_epi32(_mm256_cvtps_epi32(v[2]), _mm256_cvtps_epi32(v[3]));
        const __m256i w = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(a, b),
                                                      _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), w);
        __m256i s =
            _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_set1_epi8(1), w), _mm256_set1_epi16(1));
        s = _mm256_add_epi32(s, _mm256_shuffle_epi32(s, 0x4e));
        s = _mm256_add_epi32(s, _mm256_shuffle_epi32(s, 0xb1));
        return {_mm256_cvtsi256_si32(s), _mm_cvtsi128_si32(_mm256_extracti128_si256(s, 1))};
    }

    // 2 bytes a lane -> 2 x 16 bits a lane.
    static I load_byte_pairs(const void* p) {
        return _mm256_cvtepu8_epi16(_mm_loadu_si128(static_cast<const __m128i*>(p)));
    }
    // A byte a lane.
    static I load_bytes(const void* p) {
        return _mm256_cvtepu8_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(p)));
    }
    static void store_bytes(void* p, I v) {  // a lane a byte
        const __m128i w =
            _mm_packus_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
        _mm_storel_epi64(static_cast<__m128i*>(p), _mm_packus_epi16(w, w));
    }
    static I low_four(I v) { return _mm256_and_si256(v, _mm256_set1_epi32(15)); }
    static I above_four(I v) { return _mm256_srli_epi32(v, 4); }
    static F load_u8(const void* p) { return to_float(load_bytes(p)); }
    static F load_i8(const void* p) {
        return _mm256_cvtepi32_ps(
            _mm256_cvtepi8_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(p))));
    }
    // Bits 2 * kShift and 2 * kShift + 1 of each byte to bits 0, 1.
    template <int kShift>
    static I bit_pairs(I v) {
        return _mm256_and_si256(_mm256_srli_epi16(v, 2 * kShift), _mm256_set1_epi8(3));
    }
    template <int kShift>
    static I bit_pairs_high(I v) {  // bits 2 * kShift and 2 * kShift + 1 of each byte to bits 4, 5
        const I mask = _mm256_set1_epi8(0x30);
        if constexpr (kShift == 0) return _mm256_and_si256(_mm256_slli_epi16(v, 4), mask);
        if constexpr (kShift == 1) return _mm256_and_si256(_mm256_slli_epi16(v, 2), mask);
        if constexpr (kShift == 2) return _mm256_and_si256(v, mask);
        if constexpr (kShift == 3) return _mm256_and_si256(_mm256_srli_epi16(v, 2), mask);
    }
    static I shift_up(I v, unsigned by) {
        return _mm256_sll_epi32(v, _mm_cvtsi32_si128(static_cast<int>(by)));
    }
    static I ior(I a, I b) { return _mm256_or_si256(a, b); }

    // Volatile: GCC takes a function that only prefetches for one that does nothing, and drops it.
    static void prefetch(const void* p) {
        asm volatile("prefetcht0 %0" : : "m"(*static_cast<const char*>(p)));
    }
};

}  // namespace
}  // namespace kvik
