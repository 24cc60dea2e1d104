// What is drawn follows the distribution that the parameters describe. Each test draws with many
// seeds and compares counts with known probabilities by Pearson's chi-squared.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "sample/sampler.h"

namespace kvik {
namespace {

constexpr int kDraws = 40'000;

// Quantile of chi-squared that a right sampler passes once in a million (z = 4.753), by Wilson and
// Hilferty's cube: within 1 % for 2 degrees of freedom and more.
double chi_squared_limit(int n_degrees) {
    const double a = 2.0 / (9.0 * n_degrees);
    return n_degrees * std::pow(1 - a + 4.753 * std::sqrt(a), 3);
}

enum class Vary { seed, position, sample_index };

std::vector<int> count_draws(SamplingParams params, const std::vector<float>& row, Vary vary) {
    SampleScratch scratch(static_cast<uint32_t>(row.size()));
    std::vector<int> seen(row.size());
    for (int i = 0; i < kDraws; ++i) {
        const auto n = static_cast<uint32_t>(i);
        if (vary == Vary::seed) params.seed = n;
        if (vary == Vary::sample_index) params.sample_index = n;
        const uint32_t position = vary == Vary::position ? n : 17;
        ++seen[static_cast<size_t>(*sample(params, {row, {}, position}, scratch))];
    }
    return seen;
}

// `p` need not sum to 1; a token with p = 0 must never be drawn.
void expect_follows(const std::vector<int>& seen, std::vector<double> p) {
    const double total = std::accumulate(p.begin(), p.end(), 0.0);
    double sum = 0;
    int n_kept = 0;
    for (size_t i = 0; i < p.size(); ++i) {
        if (p[i] == 0) {
            EXPECT_EQ(seen[i], 0) << "token " << i << " was cut";
            continue;
        }
        const double expected = kDraws * p[i] / total;
        ASSERT_GE(expected, 10) << "chi-squared needs filled cells";
        sum += (seen[i] - expected) * (seen[i] - expected) / expected;
        ++n_kept;
    }
    EXPECT_LT(sum, chi_squared_limit(n_kept - 1));
}

const std::vector<double> kP = {0.08, 0.3, 0.02, 0.2, 0.15, 0.1, 0.1, 0.05};

std::vector<float> logits_of(const std::vector<double>& p) {
    std::vector<float> row;
    for (const double x : p) row.push_back(static_cast<float>(std::log(x)) + 3.0f);
    return row;
}

SamplingParams plain() {
    SamplingParams params;
    params.temperature = 1;
    params.min_p = 0;
    return params;
}

}  // namespace

TEST(Distribution, is_the_softmax_over_seeds) {
    expect_follows(count_draws(plain(), logits_of(kP), Vary::seed), kP);
}

TEST(Distribution, is_the_softmax_over_positions) {
    expect_follows(count_draws(plain(), logits_of(kP), Vary::position), kP);
}

TEST(Distribution, is_the_softmax_over_sample_indices) {
    expect_follows(count_draws(plain(), logits_of(kP), Vary::sample_index), kP);
}

TEST(Distribution, is_flattened_by_a_temperature_of_two) {
    std::vector<double> root;
    for (const double x : kP) root.push_back(std::sqrt(x));
    SamplingParams params = plain();
    params.temperature = 2;
    expect_follows(count_draws(params, logits_of(kP), Vary::seed), root);
}

TEST(Distribution, keeps_the_three_likeliest_for_top_k_3) {
    SamplingParams params = plain();
    params.top_k = 3;
    expect_follows(count_draws(params, logits_of(kP), Vary::seed), {0, 0.3, 0, 0.2, 0.15, 0, 0, 0});
}

TEST(Distribution, keeps_the_lower_id_of_two_at_the_edge_of_top_k) {
    SamplingParams params = plain();
    params.top_k = 4;
    expect_follows(count_draws(params, logits_of(kP), Vary::seed),
                   {0, 0.3, 0, 0.2, 0.15, 0.1, 0, 0});
}

// 0.3 + 0.2 + 0.15 = 0.65 is short of 0.7; the token that crosses, the first of the two at 0.1, is
// kept.
TEST(Distribution, keeps_the_token_that_crosses_top_p) {
    SamplingParams params = plain();
    params.top_p = 0.7f;
    expect_follows(count_draws(params, logits_of(kP), Vary::seed),
                   {0, 0.3, 0, 0.2, 0.15, 0.1, 0, 0});
}

// Of the three that top-k keeps, the first two hold 0.5 / 0.65 = 0.77.
TEST(Distribution, takes_top_p_of_what_top_k_kept) {
    SamplingParams params = plain();
    params.top_k = 3;
    params.top_p = 0.76f;
    expect_follows(count_draws(params, logits_of(kP), Vary::seed), {0, 0.3, 0, 0.2, 0, 0, 0, 0});
}

TEST(Distribution, keeps_what_min_p_allows_relative_to_the_likeliest) {
    SamplingParams params = plain();
    params.min_p = 0.3f;  // of 0.3: 0.09
    expect_follows(count_draws(params, logits_of(kP), Vary::seed),
                   {0, 0.3, 0, 0.2, 0.15, 0.1, 0.1, 0});
}

// At temperature 2 the ratios are roots: sqrt(0.08 / 0.3) = 0.52 stays, sqrt(0.05 / 0.3) = 0.41
// not.
TEST(Distribution, measures_min_p_after_the_temperature) {
    SamplingParams params = plain();
    params.min_p = 0.45f;
    params.temperature = 2;
    std::vector<double> root;
    for (const double x : kP) root.push_back(x > 0.06 ? std::sqrt(x) : 0);
    expect_follows(count_draws(params, logits_of(kP), Vary::seed), root);
}

// A row wide enough that most tokens are left out by the bound on the noise.
TEST(Distribution, gives_the_tail_its_share) {
    std::vector<float> row(1001, 0.0f);
    row[500] = std::log(3000.0f);
    const std::vector<int> seen = count_draws(plain(), row, Vary::seed);
    const double expected = kDraws * 0.75;
    const double deviation = std::sqrt(kDraws * 0.75 * 0.25);
    EXPECT_NEAR(seen[500], expected, 4.9 * deviation);  // once in a million
}

}  // namespace kvik
