// Q5_0: groups of 32 five-bit values with one f16 scale. w = d * (q - 16). The low four bits lie as
// in Q4_0; bit k of qh is the fifth bit of element k.
// Source: the GGUF format's ggml block_q5_0.
#pragma once

#include <cstdint>
#include <cstring>

#include "tensor/half.h"

namespace kvik {

struct Q5_0Group {
    uint16_t d;      // f16 scale
    uint8_t qh[4];   // 32 fifth bits
    uint8_t qs[16];  // two nibbles a byte
};
static_assert(sizeof(Q5_0Group) == 22);

// Element k, 0 .. 31, from the nibbles and fifth bits of Q5_0 and Q5_1.
inline int five_bits(const uint8_t* qs, uint32_t qh, int k) noexcept {
    const int low = k < 16 ? qs[k] & 15 : qs[k - 16] >> 4;
    return low | static_cast<int>(qh >> k & 1u) << 4;
}

inline void decode_q5_0(const uint8_t* src, uint64_t n_groups, float* dst) noexcept {
    const auto* group = reinterpret_cast<const Q5_0Group*>(src);
    for (uint64_t g = 0; g < n_groups; ++g, ++group, dst += 32) {
        const float d = half_to_float(group->d);
        uint32_t qh = 0;
        std::memcpy(&qh, group->qh, 4);
        for (int k = 0; k < 32; ++k)
            dst[k] = static_cast<float>(five_bits(group->qs, qh, k) - 16) * d;
    }
}

}  // namespace kvik
