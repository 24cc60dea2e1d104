// Against long double of the C library, whose own error (a fraction of 2^-64) does not count.
#include "base/exact_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace kvik {
namespace {

constexpr int kDraws = 300'000;
constexpr uint64_t kSeed = 71;
constexpr double kInf = std::numeric_limits<double>::infinity();

class Uniform {
  public:
    double operator()(double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(random_);
    }

  private:
    std::mt19937_64 random_{kSeed};
};

// Distance in units of the exact value's last place.
double ulps(double got, long double exact) {
    int exponent = 0;
    std::frexp(static_cast<double>(exact), &exponent);
    return static_cast<double>(std::fabs(got - exact) / std::ldexp(1.0L, exponent - 53));
}

}  // namespace

TEST(ExactExp, is_within_one_and_a_half_units_in_the_last_place) {
    Uniform uniform;
    for (int i = 0; i < kDraws; ++i) {
        const double wide = uniform(-708, 709);
        const double near = uniform(-2, 2);
        ASSERT_LT(ulps(exact_exp(wide), std::exp(static_cast<long double>(wide))), 1.5) << wide;
        ASSERT_LT(ulps(exact_exp(near), std::exp(static_cast<long double>(near))), 1.5) << near;
    }
}

TEST(ExactExp, has_its_special_values) {
    EXPECT_EQ(exact_exp(0.0), 1.0);
    EXPECT_EQ(exact_exp(-0.0), 1.0);
    EXPECT_EQ(exact_exp(-708.1), 0.0);
    EXPECT_EQ(exact_exp(-kInf), 0.0);
    EXPECT_EQ(exact_exp(709.1), kInf);
    EXPECT_EQ(exact_exp(kInf), kInf);
    EXPECT_TRUE(std::isnan(exact_exp(std::nan(""))));
}

TEST(ExactLog, is_within_two_and_a_half_units_in_the_last_place) {
    Uniform uniform;
    for (int i = 0; i < kDraws; ++i) {
        const double wide = std::exp2(uniform(-1022, 1023));
        const double near = uniform(0.5, 2);
        const double below_one = 1 - std::exp2(uniform(-52, -1));
        for (const double x : {wide, near, below_one})
            ASSERT_LT(ulps(exact_log(x), std::log(static_cast<long double>(x))), 2.5) << x;
    }
}

TEST(ExactLog, knows_denormal_numbers) {
    for (const double x : {0x1p-1074, 0x1.8p-1050, 0x1.fffffp-1023})
        EXPECT_LT(ulps(exact_log(x), std::log(static_cast<long double>(x))), 2.5) << x;
}

TEST(ExactLog, has_its_special_values) {
    EXPECT_EQ(exact_log(1.0), 0.0);
    EXPECT_EQ(exact_log(0.0), -kInf);
    EXPECT_EQ(exact_log(-0.0), -kInf);
    EXPECT_EQ(exact_log(kInf), kInf);
    EXPECT_TRUE(std::isnan(exact_log(-1.0)));
    EXPECT_TRUE(std::isnan(exact_log(std::nan(""))));
}

// log is within 2.5 units, the product rounds by half a unit: a relative error of 3 * 2^-52 in
// y = e log b at most, which exp turns into |y| times as much; exp adds 1.5 units.
TEST(ExactPow, is_as_exact_as_a_logarithm_in_double_allows) {
    Uniform uniform;
    for (int i = 0; i < kDraws; ++i) {
        const double base = std::exp2(uniform(-20, 24));
        const double exponent = uniform(-2, 2);
        const long double exact =
            std::pow(static_cast<long double>(base), static_cast<long double>(exponent));
        const double y = exponent * std::log(base);
        const auto relative =
            static_cast<double>(std::fabs(exact_pow(base, exponent) - exact) / exact);
        ASSERT_LT(relative, (3 * std::fabs(y) + 1.5) * 0x1p-52) << base << "^" << exponent;
    }
}

TEST(ExactSincos, is_within_two_to_the_minus_52_over_its_domain) {
    Uniform uniform;
    for (int i = 0; i < kDraws; ++i)
        for (const double range : {1.0, 100.0, 8192.0, 0x1p20}) {
            const double x = uniform(-range, range);
            const SinCos got = exact_sincos(x);
            ASSERT_LT(std::fabs(got.sin - std::sin(static_cast<long double>(x))), 0x1p-52) << x;
            ASSERT_LT(std::fabs(got.cos - std::cos(static_cast<long double>(x))), 0x1p-52) << x;
        }
}

TEST(ExactSincos, is_right_beside_every_quarter_turn) {
    for (int k = -1000; k <= 1000; ++k) {
        const double x = k * 1.5707963267948966;
        for (const double near : {std::nextafter(x, -kInf), x, std::nextafter(x, kInf)}) {
            const SinCos got = exact_sincos(near);
            ASSERT_LT(std::fabs(got.sin - std::sin(static_cast<long double>(near))), 0x1p-52) << k;
            ASSERT_LT(std::fabs(got.cos - std::cos(static_cast<long double>(near))), 0x1p-52) << k;
        }
    }
}

TEST(ExactSincos, of_zero_is_zero_and_one) {
    EXPECT_EQ(exact_sincos(0).sin, 0.0);
    EXPECT_EQ(exact_sincos(0).cos, 1.0);
}

// Golden bits: a compiler or a machine that gives others breaks the promise of the header.
TEST(ExactMath, gives_the_same_bits_everywhere) {
    EXPECT_EQ(exact_exp(-1.25), 0x1.25618372a584fp-2);
    EXPECT_EQ(exact_log(3.0), 0x1.193ea7aad030bp+0);
    EXPECT_EQ(exact_pow(10000.0, -0.15625), 0x1.e5a84719edcdp-3);
    EXPECT_EQ(exact_sincos(2047.0).sin, -0x1.efc78c81772e1p-1);
    EXPECT_EQ(exact_sincos(2047.0).cos, 0x1.ff6ab69ab99fap-3);
}

}  // namespace kvik
