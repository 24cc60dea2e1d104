// Sums and functions that the scalar reference's parts share (R4 and R6 of SPEC.md).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/numerics.h"

namespace kvik::reference {

// R4's tree over 16 lanes: 8, 4, 2, 1.
inline float tree(float* lanes) noexcept {
    for (int half = 8; half > 0; half /= 2)
        for (int i = 0; i < half; ++i) lanes[i] += lanes[i + half];
    return lanes[0];
}

// R6. fmaf is the correctly rounded fused operation of the standard, whichever way libm does it.
inline float spec_exp(float x) noexcept {
    if (!(x >= numerics::kExpMin)) return 0.0f;
    if (x > numerics::kExpMax) x = numerics::kExpMax;
    const float n = std::nearbyintf(x * numerics::kLog2E);
    float r = std::fmaf(-n, numerics::kLn2High, x);
    r = std::fmaf(-n, numerics::kLn2Low, r);
    float p = numerics::kExpPoly[0];
    for (int i = 1; i < 7; ++i) p = std::fmaf(p, r, numerics::kExpPoly[i]);
    const auto shift = static_cast<uint32_t>(static_cast<int32_t>(n)) << 23;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(p) + shift);
}

inline float spec_gelu(float x) noexcept {
    const float twice_y = x * std::fmaf(x * x, numerics::kGeluCube, numerics::kGeluLine);
    return x / (1.0f + spec_exp(-twice_y));
}

}  // namespace kvik::reference
