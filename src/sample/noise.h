// Gumbel noise: a function of (seed, position, token, sample index) alone, so that a draw does not
// depend on what was drawn, drafted or refused before.
//
//   n = Philox4x32-10(key = seed, counter = (position, token, sample index, 0))[0]
//   u = (n + 0.5) * 2^-32;  g = -log(-log(u))
//
// Invariant kNoiseMin <= g <= kNoiseMax: a token further behind than their difference never wins.
// Source  Gumbel-max: Maddison, Tarlow, Minka 2014, "A* sampling", section 2.
#pragma once

#include <cstdint>

#include "base/types.h"

namespace kvik {

inline constexpr double kNoiseMin = -3.1301;  // u = 2^-33:      -log(33 log 2)
inline constexpr double kNoiseMax = 22.874;   // u = 1 - 2^-33:  33 log 2

struct NoiseKey {
    uint64_t seed = 0;
    uint32_t position = 0;
    uint32_t sample_index = 0;
};

uint32_t noise_bits(const NoiseKey& key, TokenId token) noexcept;
double gumbel(uint32_t bits) noexcept;
// gumbel(bits) <= gumbel_bound(bits), without a logarithm: about 2 ns instead of 60.
double gumbel_bound(uint32_t bits) noexcept;

}  // namespace kvik
