// Four f32 lanes in GCC's vector extension: the compiler makes them SSE2, NEON or scalar code, and
// every operation is an IEEE one, so the bits are the same on all of them.
//
// Cost    exp4 about 3 ns for four at -O2.
// Domain  exp4: x <= 0; below exp_terms::kFloor it gives 0, NaN too. Relative error under 4e-7
//         (see there).
#pragma once

#include <cstdint>
#include <cstring>

#include "base/exp_terms.h"

namespace kvik {

using F32x4 = float __attribute__((vector_size(16)));
using I32x4 = int32_t __attribute__((vector_size(16)));
using F64x2 = double __attribute__((vector_size(16)));
using F32x2 = float __attribute__((vector_size(8)));
using I64x2 = int64_t __attribute__((vector_size(16)));

inline F32x4 all4(float x) noexcept {
    return F32x4{x, x, x, x};
}

inline F32x4 load4(const float* from) noexcept {
    F32x4 x;
    std::memcpy(&x, from, sizeof x);
    return x;
}

inline bool any4(I32x4 mask) noexcept {
    const I64x2 halves = reinterpret_cast<I64x2>(mask);
    return (halves[0] | halves[1]) != 0;
}

// exp(x) = 2^n exp(r), n the nearest integer to x / ln 2, |r| <= 0.3466. Taylor to r^7: the rest is
// under r^8 / 8! = 6e-9; ln 2 in two parts, of which n times the first is exact, leaves r with an
// error of 3e-8; seven roundings of shrinking terms add under 2e-7. Sum: under 4e-7.
inline F32x4 exp4(F32x4 x) noexcept {
    using namespace exp_terms;
    const I32x4 kept = x >= kFloor;
    x = reinterpret_cast<F32x4>(reinterpret_cast<I32x4>(x) & kept);  // exp(0) where not kept
    const F32x4 shifted = x * kInvLn2 + kRound;
    const F32x4 n = shifted - kRound;
    const F32x4 r = (x - n * kLn2High) - n * kLn2Low;
    F32x4 p = all4(kPoly[0]);
    for (int i = 1; i < 8; ++i) p = p * r + kPoly[i];
    const I32x4 scaled = reinterpret_cast<I32x4>(p) + (reinterpret_cast<I32x4>(shifted) << 23);
    return reinterpret_cast<F32x4>(scaled & kept);
}

inline F64x2 low_to_f64(F32x4 x) noexcept {
    return __builtin_convertvector(F32x2{x[0], x[1]}, F64x2);
}

inline F64x2 high_to_f64(F32x4 x) noexcept {
    return __builtin_convertvector(F32x2{x[2], x[3]}, F64x2);
}

}  // namespace kvik
