#include "sample/logprob.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "sample/lanes.h"

namespace kvik {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

long double exact_log_sum_exp(const std::vector<float>& row) {
    long double max = -kInf;
    for (const float l : row) max = std::max(max, static_cast<long double>(l));
    long double sum = 0;
    for (const float l : row) sum += std::exp(l - max);
    return max + std::log(sum);
}

}  // namespace

// The bound of logprob.cpp.
TEST(Logprob, is_within_two_millionths_of_the_exact_value) {
    const uint64_t seed = 21;
    std::mt19937_64 random(seed);
    for (const float spread : {0.0f, 0.01f, 1.0f, 4.0f, 30.0f, 1000.0f})
        for (const size_t n : {1u, 5u, 16u, 100u, 49152u}) {
            std::normal_distribution<float> normal(7.0f, spread);
            std::vector<float> row(n);
            for (float& l : row) l = spread == 0 ? 7.0f : normal(random);
            EXPECT_NEAR(log_sum_exp(row), static_cast<double>(exact_log_sum_exp(row)), 2e-6)
                << "seed " << seed << " spread " << spread << " n " << n;
        }
}

TEST(Logprob, sums_to_one_over_a_row) {
    std::mt19937_64 random(22);
    std::normal_distribution<float> normal(0.0f, 2.0f);
    std::vector<float> row(1000);
    for (float& l : row) l = normal(random);
    double sum = 0;
    for (TokenId id = 0; id < 1000; ++id) sum += std::exp(log_softmax_at(row, id));
    EXPECT_NEAR(sum, 1.0, 2e-6);
}

TEST(Logprob, of_a_forbidden_token_is_minus_infinity) {
    const std::vector<float> row = {0.0f, -kInf, 1.0f};
    EXPECT_EQ(log_softmax_at(row, 1), -std::numeric_limits<double>::infinity());
}

TEST(Logprob, of_a_row_that_is_no_distribution_is_nan) {
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), kInf}) {
        std::vector<float> row(19, 0.0f);
        row[18] = bad;
        EXPECT_TRUE(std::isnan(log_sum_exp(row))) << bad;
    }
    EXPECT_TRUE(std::isnan(log_sum_exp(std::vector<float>(19, -kInf))));
}

// A golden value: the bits may not change with machine, compiler or options.
TEST(Logprob, gives_the_same_bits_everywhere) {
    std::vector<float> row(1000);
    for (size_t i = 0; i < row.size(); ++i) row[i] = static_cast<float>(i * 7919 % 1000) / 64.0f;
    EXPECT_EQ(log_sum_exp(row), 0x1.3c6abe224462ep+4);
}

TEST(Exp4, is_within_4e_minus_7_of_the_exact_value) {
    const auto relative_error = [](float x) {
        const long double exact = std::exp(static_cast<long double>(x));
        return static_cast<double>(std::fabs((exp4(all4(x))[0] - exact) / exact));
    };
    double worst = 0;
    for (float x = -86.0f + 1e-5f; x < 0; x += 1.7e-4f) worst = std::max(worst, relative_error(x));
    EXPECT_LT(worst, 4e-7);
}

TEST(Exp4, is_one_at_zero_and_zero_below_its_floor) {
    const F32x4 e = exp4(F32x4{0.0f, -86.1f, -1e30f, -kInf});
    EXPECT_EQ(e[0], 1.0f);
    EXPECT_EQ(e[1], 0.0f);
    EXPECT_EQ(e[2], 0.0f);
    EXPECT_EQ(e[3], 0.0f);
}

}  // namespace kvik
