// Q3_K: groups of 256 three-bit values in 16 sub-groups of 16, each with a signed 6-bit scale under
// one f16 scale. w = (d * (sc - 32)) * q, q in -4 .. 3.
//
// Each half of 128 elements has 32 bytes of bit pairs: element 32 s + k, s < 4, is bits 2s, 2s+1 of
// qs[k]. Bit 4 * half + s of hmask[k] is set where 4 is not taken off.
// Source: the GGUF format's ggml block_q3_K.
#pragma once

#include <cstdint>

#include "tensor/half.h"

namespace kvik {

struct Q3_KGroup {
    uint8_t hmask[32];
    uint8_t qs[64];
    uint8_t scales[12];  // 16 scales of 6 bits
    uint16_t d;          // f16
};
static_assert(sizeof(Q3_KGroup) == 110);

// Scale of sub-group i, 0 .. 15: low four bits in bytes 0 .. 7 (low nibbles first), high two bits in
// bytes 8 .. 11.
inline int q3_k_scale(const uint8_t* scales, int i) noexcept {
    const int low = i < 8 ? scales[i] & 15 : scales[i - 8] >> 4;
    const int high = scales[8 + i % 4] >> (2 * (i / 4)) & 3;
    return (low | high << 4) - 32;
}

// Element i, 0 .. 255, without the zero point: 0 .. 7.
inline int three_bits(const Q3_KGroup& group, int i) noexcept {
    const int half = i / 128, shift = i % 128 / 32, k = i % 32;
    const int low = group.qs[32 * half + k] >> (2 * shift) & 3;
    return low | (group.hmask[k] >> (4 * half + shift) & 1) << 2;
}

inline void decode_q3_k(const uint8_t* src, uint64_t n_groups, float* dst) noexcept {
    const auto* group = reinterpret_cast<const Q3_KGroup*>(src);
    for (uint64_t g = 0; g < n_groups; ++g, ++group, dst += 256) {
        const float d = half_to_float(group->d);
        for (int i = 0; i < 256; ++i) {
            const float scale = d * static_cast<float>(q3_k_scale(group->scales, i / 16));
            dst[i] = scale * static_cast<float>(three_bits(*group, i) - 4);
        }
    }
}

}  // namespace kvik
