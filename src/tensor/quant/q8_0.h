// Q8_0: groups of 32 signed bytes with one f16 scale. w = d * q.
// Source: the GGUF format's ggml block_q8_0.
#pragma once

#include <cstdint>

#include "tensor/half.h"

namespace kvik {

struct Q8_0Group {
    uint16_t d;    // f16 scale
    int8_t q[32];  // -128..127
};
static_assert(sizeof(Q8_0Group) == 34);

inline void decode_q8_0(const uint8_t* src, uint64_t n_groups, float* dst) noexcept {
    const auto* group = reinterpret_cast<const Q8_0Group*>(src);
    for (uint64_t g = 0; g < n_groups; ++g, ++group, dst += 32) {
        const float d = half_to_float(group->d);
        for (int k = 0; k < 32; ++k) dst[k] = static_cast<float>(group->q[k]) * d;
    }
}

}  // namespace kvik
