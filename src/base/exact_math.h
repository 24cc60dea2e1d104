// exp, log, pow, sin and cos in double precision from +, -, * and / alone, so that they give the
// same bits on every machine, compiler and C library. Errors are a few units in the last place.
//
// Cost    20 to 60 ns a call; for tables, noise and log-probabilities, not for inner loops (those
//         have the kernels' own f32 exp).
// Domain  exact_exp: below -708 gives 0, above 709 gives infinity. exact_log: x > 0.
//         exact_sincos: |x| <= 2^20; beyond, the error grows as |x| * 2^-54.
#pragma once

namespace kvik {

struct SinCos {
    double sin = 0;
    double cos = 1;
};

double exact_exp(double x) noexcept;
double exact_log(double x) noexcept;
double exact_pow(double base, double exponent) noexcept;  // base > 0
SinCos exact_sincos(double x) noexcept;

}  // namespace kvik
