// The terms of the exponential over logits: what sampling and the head's kernels must compute alike,
// bit by bit, on machines with and without a fused operation. Constants only, so that every
// instruction set may include it.
//
//   n = round(x / ln 2);  r = (x - n ln2_high) - n ln2_low;  p = Horner(kPoly, r);  p * 2^n
//
// Every product and every sum is rounded; x <= 0; below kFloor it gives 0.
#pragma once

namespace kvik::exp_terms {

inline constexpr float kFloor = -86.0f;  // exp of it is still a normal number
inline constexpr float kInvLn2 = 1.44269504f;
inline constexpr float kLn2High = 0.693359375f;  // 10 bits: n times it is exact
inline constexpr float kLn2Low = -2.12194440e-4f;
inline constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
inline constexpr float kPoly[8] = {1.0f / 5040, 1.0f / 720, 1.0f / 120, 1.0f / 24,
                                   1.0f / 6,    0.5f,       1.0f,       1.0f};

}  // namespace kvik::exp_terms
