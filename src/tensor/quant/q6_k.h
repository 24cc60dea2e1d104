// Q6_K: groups of 256 six-bit values in 16 sub-groups of 16, each with a signed 8-bit scale under one
// f16 scale. w = (d * sc) * (q - 32).
//
// Each half of 128 elements has 64 bytes of low nibbles and 32 bytes of high bit pairs: with k < 32,
// element k is the low nibble of ql[k] and bits 0-1 of qh[k], 32 + k the low nibble of ql[32 + k] and
// bits 2-3, 64 + k the high nibble of ql[k] and bits 4-5, 96 + k that of ql[32 + k] and bits 6-7.
// Source: the GGUF format's ggml block_q6_K.
#pragma once

#include <cstdint>

#include "tensor/half.h"

namespace kvik {

struct Q6_KGroup {
    uint8_t ql[128];
    uint8_t qh[64];
    int8_t scales[16];
    uint16_t d;  // f16
};
static_assert(sizeof(Q6_KGroup) == 210);

// Element i, 0 .. 255, without the zero point: 0 .. 63.
inline int six_bits(const Q6_KGroup& group, int i) noexcept {
    const int half = i / 128, quarter = i % 128 / 32, k = i % 32;
    const uint8_t low = group.ql[64 * half + 32 * (quarter & 1) + k];
    const int nibble = quarter < 2 ? low & 15 : low >> 4;
    return nibble | (group.qh[32 * half + k] >> (2 * quarter) & 3) << 4;
}

inline void decode_q6_k(const uint8_t* src, uint64_t n_groups, float* dst) noexcept {
    const auto* group = reinterpret_cast<const Q6_KGroup*>(src);
    for (uint64_t g = 0; g < n_groups; ++g, ++group, dst += 256) {
        const float d = half_to_float(group->d);
        for (int i = 0; i < 256; ++i) {
            const int8_t scale = group->scales[i / 16];
            dst[i] = d * static_cast<float>(scale) * static_cast<float>(six_bits(*group, i) - 32);
        }
    }
}

}  // namespace kvik
