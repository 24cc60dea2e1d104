// Q2_K: groups of 256 two-bit values in 16 sub-groups of 16, each with a 4-bit scale and a 4-bit
// minimum (low and high nibble of its byte) under two f16 scales. w = (d * sc) * q - (dmin * m).
//
// Each half of 128 elements has 32 bytes: element 32 s + k, s < 4, is bits 2s, 2s+1 of byte k.
// Source: the GGUF format's ggml block_q2_K.
#pragma once

#include <cstdint>

#include "tensor/half.h"

namespace kvik {

struct Q2_KGroup {
    uint8_t scales[16];
    uint8_t qs[64];
    uint16_t d;     // f16 scale of the scales
    uint16_t dmin;  // f16 scale of the minimums
};
static_assert(sizeof(Q2_KGroup) == 84);

// Element i, 0 .. 255: 0 .. 3.
inline int two_bits(const Q2_KGroup& group, int i) noexcept {
    return group.qs[i / 128 * 32 + i % 32] >> (2 * (i % 128 / 32)) & 3;
}

inline void decode_q2_k(const uint8_t* src, uint64_t n_groups, float* dst) noexcept {
    const auto* group = reinterpret_cast<const Q2_KGroup*>(src);
    for (uint64_t g = 0; g < n_groups; ++g, ++group, dst += 256) {
        const float d = half_to_float(group->d);
        const float dmin = half_to_float(group->dmin);
        for (int i = 0; i < 256; ++i) {
            const uint8_t s = group->scales[i / 16];
            const float scale = d * static_cast<float>(s & 15);
            dst[i] =
                scale * static_cast<float>(two_bits(*group, i)) - dmin * static_cast<float>(s >> 4);
        }
    }
}

}  // namespace kvik
