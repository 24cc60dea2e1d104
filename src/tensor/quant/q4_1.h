// Q4_1: groups of 32 unsigned nibbles with an f16 scale and an f16 minimum. w = d * q + m, rounded
// after the product and after the sum. Element k < 16 is the low nibble of byte k, element k >= 16
// the high nibble of byte k - 16.
// Source: the GGUF format's ggml block_q4_1.
#pragma once

#include <cstdint>

#include "tensor/half.h"

namespace kvik {

struct Q4_1Group {
    uint16_t d;      // f16 scale
    uint16_t m;      // f16 minimum
    uint8_t qs[16];  // two nibbles a byte
};
static_assert(sizeof(Q4_1Group) == 20);

inline void decode_q4_1(const uint8_t* src, uint64_t n_groups, float* dst) noexcept {
    const auto* group = reinterpret_cast<const Q4_1Group*>(src);
    for (uint64_t g = 0; g < n_groups; ++g, ++group, dst += 32) {
        const float d = half_to_float(group->d);
        const float m = half_to_float(group->m);
        for (int k = 0; k < 16; ++k) {
            dst[k] = static_cast<float>(group->qs[k] & 15) * d + m;
            dst[k + 16] = static_cast<float>(group->qs[k] >> 4) * d + m;
        }
    }
}

}  // namespace kvik
