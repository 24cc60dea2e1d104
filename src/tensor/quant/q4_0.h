// Q4_0: groups of 32 nibbles with one f16 scale. w = d * (q - 8). Element k < 16 is the low nibble of
// byte k, element k >= 16 the high nibble of byte k - 16.
// Source: the GGUF format's ggml block_q4_0.
#pragma once

#include <cstdint>

#include "tensor/half.h"

namespace kvik {

struct Q4_0Group {
    uint16_t d;      // f16 scale
    uint8_t qs[16];  // two nibbles a byte
};
static_assert(sizeof(Q4_0Group) == 18);

inline void decode_q4_0(const uint8_t* src, uint64_t n_groups, float* dst) noexcept {
    const auto* group = reinterpret_cast<const Q4_0Group*>(src);
    for (uint64_t g = 0; g < n_groups; ++g, ++group, dst += 32) {
        const float d = half_to_float(group->d);
        for (int k = 0; k < 16; ++k) {
            dst[k] = static_cast<float>((group->qs[k] & 15) - 8) * d;
            dst[k + 16] = static_cast<float>((group->qs[k] >> 4) - 8) * d;
        }
    }
}

}  // namespace kvik
