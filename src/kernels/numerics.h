// The constants of SPEC.md that every instruction set shares.
#pragma once

namespace kvik::numerics {

inline constexpr float kQuantFloor = 0x1p-100f;  // R2: below this a group is all zero
inline constexpr float kHalfMax = 65504.0f;

// R6, exp: x = n ln2 + r; degree-6 polynomial in r; scaled by adding n to the exponent.
inline constexpr float kExpMin = -87.0f;  // below: +0
inline constexpr float kExpMax = 88.0f;   // above: exp(88)
inline constexpr float kLog2E = 1.44269504f;
inline constexpr float kLn2High = 0.693145752f;
inline constexpr float kLn2Low = 1.42860677e-6f;
inline constexpr float kExpPoly[7] = {1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6,
                                      0.5f,       1.0f,       1.0f};

// R6, GELU: 2 sqrt(2 / pi), alone and times 0.044715.
inline constexpr float kGeluLine = 1.59576912f;
inline constexpr float kGeluCube = 0.0713548163f;

inline constexpr int kRevision = 1;  // part of every cache key; raise it when a bit changes

}  // namespace kvik::numerics
