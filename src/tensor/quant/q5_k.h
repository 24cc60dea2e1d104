// Q5_K: Q4_K with a fifth bit: bit i of qh[k] belongs to element k of sub-group i.
// w = (d * sc) * q - (dmin * m).
// Source: the GGUF format's ggml block_q5_K.
#pragma once

#include <cstdint>

#include "tensor/half.h"
#include "tensor/quant/q4_k.h"

namespace kvik {

struct Q5_KGroup {
    uint16_t d;          // f16 scale of the scales
    uint16_t dmin;       // f16 scale of the minimums
    uint8_t scales[12];  // as in Q4_K
    uint8_t qh[32];      // fifth bits
    uint8_t qs[128];     // nibbles as in Q4_K
};
static_assert(sizeof(Q5_KGroup) == 176);

inline void decode_q5_k(const uint8_t* src, uint64_t n_groups, float* dst) noexcept {
    const auto* group = reinterpret_cast<const Q5_KGroup*>(src);
    for (uint64_t g = 0; g < n_groups; ++g, ++group, dst += 256) {
        const float d = half_to_float(group->d);
        const float dmin = half_to_float(group->dmin);
        for (int i = 0; i < 8; ++i) {
            const ScaleMin s = k_scale_min(group->scales, i);
            const float scale = d * static_cast<float>(s.scale);
            const float min = dmin * static_cast<float>(s.min);
            for (int k = 0; k < 32; ++k) {
                const uint8_t byte = group->qs[i / 2 * 32 + k];
                const int low = i % 2 == 0 ? byte & 15 : byte >> 4;
                const int q = low | (group->qh[k] >> i & 1) << 4;
                dst[32 * i + k] = scale * static_cast<float>(q) - min;
            }
        }
    }
}

}  // namespace kvik
