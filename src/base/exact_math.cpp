#include "base/exact_math.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>

namespace kvik {
namespace {

// ln 2 in two parts; the high part has 32 trailing zero bits, so that n * kLn2High is exact.
constexpr double kLn2High = 6.93147180369123816490e-01;
constexpr double kLn2Low = 1.90821492927058770002e-10;
constexpr double kInvLn2 = 1.44269504088896338700e+00;

// pi / 2 in three parts of 33, 33 and 53 bits: k * part is exact for the first two while |k| <
// 2^20, which |x| <= 2^20 keeps.
constexpr double kPio2High = 1.57079632673412561417e+00;
constexpr double kPio2Mid = 6.07710050630396597660e-11;
constexpr double kPio2Low = 2.02226624879595063154e-21;
constexpr double kTwoOverPi = 6.36619772367581382433e-01;

// Nearest integer, half away from zero, without depending on the rounding mode.
double nearest(double x) noexcept {
    return x < 0 ? -std::floor(0.5 - x) : std::floor(x + 0.5);
}

double power_of_two(int n) noexcept {  // -1022 <= n <= 1023
    return std::bit_cast<double>(static_cast<uint64_t>(n + 1023) << 52);
}

}  // namespace

double exact_exp(double x) noexcept {
    if (!(x >= -708.0)) return x != x ? x : 0.0;
    if (x > 709.0) return std::numeric_limits<double>::infinity();
    const double n = nearest(x * kInvLn2);
    const double r = (x - n * kLn2High) - n * kLn2Low;  // |r| <= ln2 / 2
    // Taylor to r^13 / 13!: the first term left out is under 2^-57.
    double p = 1.0 / 6227020800.0;
    for (const double c :
         {1.0 / 479001600.0, 1.0 / 39916800.0, 1.0 / 3628800.0, 1.0 / 362880.0, 1.0 / 40320.0,
          1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0})
        p = p * r + c;
    const int k = static_cast<int>(n);
    // Two factors, because 2^k alone may be out of the normal range at the ends.
    return p * power_of_two(k / 2) * power_of_two(k - k / 2);
}

double exact_log(double x) noexcept {
    if (!(x > 0))
        return x == 0 ? -std::numeric_limits<double>::infinity()
                      : std::numeric_limits<double>::quiet_NaN();
    if (x == std::numeric_limits<double>::infinity()) return x;
    int exponent = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        exponent = -54;
    }
    uint64_t u = std::bit_cast<uint64_t>(x);
    exponent += static_cast<int>(u >> 52) - 1023;
    double m = std::bit_cast<double>((u & 0xfffffffffffffull) | 0x3ff0000000000000ull);
    if (m > 1.41421356237309514547) {
        m *= 0.5;
        ++exponent;
    }
    // log m = 2 atanh(s), s = (m - 1) / (m + 1), |s| < 0.1716; terms to s^23 / 23.
    const double s = (m - 1.0) / (m + 1.0);
    const double z = s * s;
    double p = 1.0 / 23.0;
    for (int k = 21; k >= 3; k -= 2) p = p * z + 1.0 / k;
    const double two_s = 2.0 * s;
    return exponent * kLn2High + (two_s + (two_s * z * p + exponent * kLn2Low));
}

double exact_pow(double base, double exponent) noexcept {
    return exact_exp(exponent * exact_log(base));
}

SinCos exact_sincos(double x) noexcept {
    const double k = nearest(x * kTwoOverPi);
    const double r = ((x - k * kPio2High) - k * kPio2Mid) - k * kPio2Low;  // |r| <= pi / 4
    const double z = r * r;
    double s = -1.0 / 1307674368000.0;  // Taylor: sin to r^15, cos to r^16
    for (const double c : {1.0 / 6227020800.0, -1.0 / 39916800.0, 1.0 / 362880.0, -1.0 / 5040.0,
                           1.0 / 120.0, -1.0 / 6.0})
        s = s * z + c;
    s = r + r * z * s;
    double c = 1.0 / 20922789888000.0;
    for (const double a : {-1.0 / 87178291200.0, 1.0 / 479001600.0, -1.0 / 3628800.0, 1.0 / 40320.0,
                           -1.0 / 720.0, 1.0 / 24.0, -0.5})
        c = c * z + a;
    c = 1.0 + z * c;
    switch (static_cast<int64_t>(k) & 3) {
        case 0:
            return {s, c};
        case 1:
            return {c, -s};
        case 2:
            return {-s, -c};
        default:
            return {-c, s};
    }
}

}  // namespace kvik
