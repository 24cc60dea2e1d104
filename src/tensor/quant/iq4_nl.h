// IQ4_NL: groups of 32 nibbles that index a fixed table of 16 values, with one f16 scale.
// w = d * table[q]; nibbles lie as in Q4_0.
// Source: the GGUF format's ggml block_iq4_nl.
#pragma once

#include <cstdint>

#include "tensor/half.h"

namespace kvik {

struct IQ4_NLGroup {
    uint16_t d;      // f16 scale
    uint8_t qs[16];  // two nibbles a byte
};
static_assert(sizeof(IQ4_NLGroup) == 18);

inline constexpr int8_t kIq4NlValues[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                            1,    13,   25,  38,  53,  69,  89,  113};

inline void decode_iq4_nl(const uint8_t* src, uint64_t n_groups, float* dst) noexcept {
    const auto* group = reinterpret_cast<const IQ4_NLGroup*>(src);
    for (uint64_t g = 0; g < n_groups; ++g, ++group, dst += 32) {
        const float d = half_to_float(group->d);
        for (int k = 0; k < 16; ++k) {
            dst[k] = static_cast<float>(kIq4NlValues[group->qs[k] & 15]) * d;
            dst[k + 16] = static_cast<float>(kIq4NlValues[group->qs[k] >> 4]) * d;
        }
    }
}

}  // namespace kvik
