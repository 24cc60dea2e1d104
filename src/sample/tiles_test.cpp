#include "sample/tiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "sample/candidates.h"
#include "sample/logprob.h"
#include "sample/row.h"
#include "sample/sampler.h"

namespace kvik {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> random_row(std::mt19937_64& random, size_t n) {
    std::normal_distribution<float> normal(0.0f, 4.0f);
    std::vector<float> row(n);
    for (float& l : row) l = random() % 10 == 0 ? -kInf : normal(random);
    if (random() % 4 == 0)
        for (float& l : row) l = std::round(l / 4);
    return row;
}

// A row with all that can be noted of its tiles.
struct Noted {
    Noted(std::vector<float> row, float inverse_temperature)
        : logits(std::move(row)),
          maxima(n_logit_tiles(logits.size())),
          sum_exps(maxima.size()),
          tempered(maxima.size()),
          tiles{maxima, sum_exps, tempered, inverse_temperature} {
        note_maxima(logits, maxima);
        note_sum_exp(logits, maxima, 1.0f, sum_exps);
        note_sum_exp(logits, maxima, inverse_temperature, tempered);
    }

    std::vector<float> logits, maxima, sum_exps, tempered;
    LogitTiles tiles;
};

uint64_t bits(double x) {
    return std::bit_cast<uint64_t>(x);
}

}  // namespace

TEST(Tiles, know_the_largest_of_each_sixteen) {
    std::mt19937_64 random(61);
    for (size_t n = 1; n < 100; ++n) {
        const Noted noted(random_row(random, n), 1.0f);
        for (size_t t = 0; t < noted.maxima.size(); ++t) {
            const auto first = noted.logits.begin() + static_cast<std::ptrdiff_t>(16 * t);
            const auto end = n < 16 * t + 16 ? noted.logits.end() : first + 16;
            ASSERT_EQ(noted.maxima[t], *std::max_element(first, end)) << n << " tile " << t;
        }
    }
}

TEST(Tiles, show_nan_wherever_it_stands_as_infinity) {
    for (size_t i = 0; i < 21; ++i)
        for (const float bad : {kNan, -kNan, kInf}) {
            std::vector<float> row(21, 1.0f), maxima(2);
            row[i] = bad;
            note_maxima(row, maxima);
            EXPECT_EQ(maxima[i / 16], kInf) << i;
            EXPECT_EQ(maxima[1 - i / 16], 1.0f) << i;
        }
}

TEST(Tiles, have_no_negative_zero_for_a_maximum) {
    std::vector<float> row(20, -0.0f), maxima(2);
    note_maxima(row, maxima);
    for (const float m : maxima) EXPECT_FALSE(std::signbit(m));
}

TEST(Tiles, weigh_what_their_exponentials_sum_to) {
    std::mt19937_64 random(62);
    for (size_t n = 1; n < 100; ++n)
        for (const float inverse : {1.0f, 1 / 0.7f, 0.01f, 1000.0f}) {
            const Noted noted(random_row(random, n), inverse);
            for (size_t t = 0; t < noted.maxima.size(); ++t) {
                long double sum = 0;
                for (size_t i = 16 * t; i < std::min(n, 16 * t + 16); ++i)
                    if (noted.logits[i] > -kInf)
                        sum +=
                            std::exp((noted.logits[i] - static_cast<long double>(noted.maxima[t])) *
                                     inverse);
                ASSERT_NEAR(noted.tempered[t], static_cast<double>(sum),
                            1e-5 * static_cast<double>(sum))
                    << n << " tile " << t << " of " << inverse;
            }
        }
}

TEST(Tiles, give_the_log_sum_of_their_row_bit_by_bit) {
    std::mt19937_64 random(63);
    for (const size_t n : {1u, 15u, 16u, 17u, 255u, 256u, 257u, 300u, 5000u, 49152u})
        for (int round = 0; round < 5; ++round) {
            std::vector<float> row = random_row(random, n);
            row[random() % n] = 3.0f;
            const Noted noted(std::move(row), 1.0f);
            ASSERT_EQ(bits(log_sum_exp(noted.tiles)), bits(log_sum_exp(noted.logits))) << n;
            EXPECT_EQ(log_softmax_at(noted.logits, 0, noted.tiles),
                      log_softmax_at(noted.logits, 0));
        }
}

TEST(Tiles, of_a_row_that_is_no_distribution_give_nan) {
    for (const float bad : {kNan, kInf}) {
        std::vector<float> row(300, 0.0f);
        row[277] = bad;
        EXPECT_TRUE(std::isnan(log_sum_exp(Noted(std::move(row), 1.0f).tiles)));
    }
    EXPECT_TRUE(std::isnan(log_sum_exp(Noted(std::vector<float>(300, -kInf), 1.0f).tiles)));
}

// The bounds decide what top-p keeps: they may be wide, never wrong.
TEST(Tiles, bound_the_weight_of_their_row) {
    std::mt19937_64 random(64);
    for (int round = 0; round < 2000; ++round) {
        const size_t n = 1 + random() % (round % 20 == 0 ? 20000 : 300);
        const float t = std::exp2(static_cast<float>(random() % 14) - 9.0f);
        std::vector<float> row = random_row(random, n);
        row[random() % n] = round % 3 == 0 ? 30.0f : 1.0f;
        const Noted noted(std::move(row), 1.0f / t);
        RowPatch patch(static_cast<uint32_t>(n));
        patch.begin(noted.logits, noted.maxima);
        for (auto i = random() % 4; i > 0; --i)
            patch.at(static_cast<TokenId>(random() % n)) = static_cast<float>(random() % 9) - 4;
        const TiledRow patched = patch.row();
        if (!is_sampleable(largest(patched))) continue;
        const Tempered tempered = {largest(patched), t};
        const uint64_t sum = sum_fixed_weights(tempered, patched);
        const TotalWeight total = estimate_fixed_weights(tempered, patched, noted.tempered);
        ASSERT_LE(total.low, sum) << "round " << round << " n " << n << " T " << t;
        ASSERT_GE(total.high, sum) << "round " << round << " n " << n << " T " << t;
        EXPECT_LE(static_cast<double>(total.high - total.low),
                  1.3e-5 * static_cast<double>(sum) + static_cast<double>(n) + 3);
    }
}

// Where tokens weigh less than the bounds are apart, only the sum itself can tell where to cut.
TEST(Tiles, leave_it_to_the_sum_where_the_bounds_do_not_decide) {
    std::mt19937_64 random(67);
    std::normal_distribution<float> normal(0.0f, 0.01f);
    std::vector<float> row(20000);
    for (float& l : row) l = normal(random);
    const Noted noted(std::move(row), 1.0f);
    const TiledRow tiled = {noted.logits, noted.maxima};
    const Tempered tempered = {largest(tiled), 1.0f};
    const uint64_t sum = sum_fixed_weights(tempered, tiled);
    const TotalWeight bounds = estimate_fixed_weights(tempered, tiled, noted.tempered);
    std::vector<Candidate> exact, bounded;
    for (const float top_p : {0.0f, 0.123f, 0.5f, 0.77f, 0.9f, 0.95f, 0.981f, 0.9999f, 0.999999f}) {
        gather_top_p(tiled, tempered, top_p, {sum, sum}, exact);
        gather_top_p(tiled, tempered, top_p, bounds, bounded);
        ASSERT_EQ(exact.size(), bounded.size()) << top_p;
        // Wider bounds ask for the sum more often and change nothing.
        gather_top_p(tiled, tempered, top_p, {bounds.low / 2, 2 * bounds.high}, bounded);
        ASSERT_EQ(exact.size(), bounded.size()) << top_p;
    }
}

TEST(Tiles, change_no_pick) {
    std::mt19937_64 random(65);
    for (int round = 0; round < 3000; ++round) {
        const size_t n = 1 + random() % (round % 20 == 0 ? 5000 : 100);
        SamplingParams params;
        params.temperature = std::exp2(static_cast<float>(random() % 5) - 2.0f);
        params.top_k = random() % 3 == 0 ? static_cast<uint32_t>(random() % 50) : 0;
        params.top_p = random() % 3 == 0 ? 1.0f : static_cast<float>(random() % 1000) / 1000;
        params.min_p = random() % 2 == 0 ? 0.0f : 0.01f;
        params.presence_penalty = random() % 2 == 0 ? 0.0f : 1.0f;
        params.seed = random();
        if (random() % 2 == 0)
            params.logit_bias = {{static_cast<TokenId>(random() % n), 2.0f},
                                 {static_cast<TokenId>(n - 1), -kInf}};
        std::vector<float> row = random_row(random, n);
        row[0] = 0.0f;
        const Noted noted(std::move(row), 1.0f / params.temperature);
        const std::vector<TokenId> history = {0, static_cast<TokenId>(n / 2)};
        SampleScratch scratch(static_cast<uint32_t>(n));
        const auto without = sample(params, {noted.logits, history, 9}, scratch);
        const auto with = sample(params, {noted.logits, history, 9, noted.tiles}, scratch);
        LogitTiles maxima;
        maxima.maxima = noted.tiles.maxima;
        const auto with_maxima = sample(params, {noted.logits, history, 9, maxima}, scratch);
        ASSERT_EQ(without.has_value(), with.has_value());
        ASSERT_EQ(without.has_value(), with_maxima.has_value());
        if (!without) continue;
        ASSERT_EQ(*without, *with) << "round " << round;
        ASSERT_EQ(*without, *with_maxima) << "round " << round;
    }
}

TEST(RowPatch, changes_only_what_it_was_told_and_forgets_it) {
    std::mt19937_64 random(66);
    RowPatch patch(100);
    for (int round = 0; round < 200; ++round) {
        const Noted noted(random_row(random, 100), 1.0f);
        std::vector<float> changed = noted.logits;
        patch.begin(noted.logits, noted.maxima);
        for (auto i = random() % 5; i > 0; --i) {
            const auto id = static_cast<TokenId>(random() % 100);
            EXPECT_EQ(patch.at(id), changed[static_cast<size_t>(id)]);
            changed[static_cast<size_t>(id)] = patch.at(id) = static_cast<float>(random() % 50);
        }
        const Noted expected(changed, 1.0f);
        const TiledRow row = patch.row();
        EXPECT_TRUE(std::ranges::equal(row.maxima, expected.maxima));
        for (size_t t = 0; t < expected.maxima.size(); ++t)
            EXPECT_TRUE(std::ranges::equal(
                row.tile(t),
                std::span(expected.logits).subspan(16 * t, std::min<size_t>(16, 100 - 16 * t))));
        patch.end();
    }
}

}  // namespace kvik
