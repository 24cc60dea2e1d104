// Q5_1: groups of 32 five-bit values with an f16 scale and an f16 minimum. w = d * q + m, rounded
// after the product and after the sum; bits as in Q5_0.
// Source: the GGUF format's ggml block_q5_1.
#pragma once

#include <cstdint>
#include <cstring>

#include "tensor/half.h"
#include "tensor/quant/q5_0.h"

namespace kvik {

struct Q5_1Group {
    uint16_t d;      // f16 scale
    uint16_t m;      // f16 minimum
    uint8_t qh[4];   // 32 fifth bits
    uint8_t qs[16];  // two nibbles a byte
};
static_assert(sizeof(Q5_1Group) == 24);

inline void decode_q5_1(const uint8_t* src, uint64_t n_groups, float* dst) noexcept {
    const auto* group = reinterpret_cast<const Q5_1Group*>(src);
    for (uint64_t g = 0; g < n_groups; ++g, ++group, dst += 32) {
        const float d = half_to_float(group->d);
        const float m = half_to_float(group->m);
        uint32_t qh = 0;
        std::memcpy(&qh, group->qh, 4);
        for (int k = 0; k < 32; ++k)
            dst[k] = static_cast<float>(five_bits(group->qs, qh, k)) * d + m;
    }
}

}  // namespace kvik
