// Q4_K: groups of 256 nibbles in 8 sub-groups of 32, each with a 6-bit scale and a 6-bit minimum
// under two f16 scales. w = (d * sc) * q - (dmin * m).
//
// Element 64 j + k, k < 32, is the low nibble of byte 32 j + k; element 64 j + 32 + k the high one.
// Source: the GGUF format's ggml block_q4_K.
#pragma once

#include <cstdint>

#include "tensor/half.h"

namespace kvik {

struct Q4_KGroup {
    uint16_t d;          // f16 scale of the scales
    uint16_t dmin;       // f16 scale of the minimums
    uint8_t scales[12];  // 8 scales and 8 minimums of 6 bits
    uint8_t qs[128];     // two nibbles a byte
};
static_assert(sizeof(Q4_KGroup) == 144);

struct ScaleMin {
    uint8_t scale, min;
};

// Scale and minimum of sub-group i, 0 .. 7, of Q4_K and Q5_K: four pairs lie whole in the low six
// bits of bytes 0 .. 7; the rest have their low four bits in bytes 8 .. 11 and their high two bits
// on top of the first eight bytes.
inline ScaleMin k_scale_min(const uint8_t* scales, int i) noexcept {
    if (i < 4)
        return {static_cast<uint8_t>(scales[i] & 63), static_cast<uint8_t>(scales[i + 4] & 63)};
    return {static_cast<uint8_t>((scales[i + 4] & 15) | (scales[i - 4] >> 6) << 4),
            static_cast<uint8_t>((scales[i + 4] >> 4) | (scales[i] >> 6) << 4)};
}

inline void decode_q4_k(const uint8_t* src, uint64_t n_groups, float* dst) noexcept {
    const auto* group = reinterpret_cast<const Q4_KGroup*>(src);
    for (uint64_t g = 0; g < n_groups; ++g, ++group, dst += 256) {
        const float d = half_to_float(group->d);
        const float dmin = half_to_float(group->dmin);
        for (int i = 0; i < 8; ++i) {
            const ScaleMin s = k_scale_min(group->scales, i);
            const float scale = d * static_cast<float>(s.scale);
            const float min = dmin * static_cast<float>(s.min);
            for (int k = 0; k < 32; ++k) {
                const uint8_t byte = group->qs[i / 2 * 32 + k];
                const int q = i % 2 == 0 ? byte & 15 : byte >> 4;
                dst[32 * i + k] = scale * static_cast<float>(q) - min;
            }
        }
    }
}

}  // namespace kvik
