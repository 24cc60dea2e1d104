#include "sample/logits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

namespace kvik {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

std::vector<float> adjust(const SamplingParams& params, std::vector<TokenId> history,
                          std::vector<float> row) {
    std::vector<uint32_t> counts(row.size());
    adjust_logits(params, history, counts, [&](TokenId id) -> float& { return row[id]; });
    return row;
}

}  // namespace

TEST(Logits, follow_the_formula_token_by_token) {
    const uint64_t seed = 11;
    std::mt19937_64 random(seed);
    std::normal_distribution<float> normal(0.0f, 5.0f);
    for (int round = 0; round < 200; ++round) {
        std::vector<float> row(50);
        for (float& l : row) l = normal(random);
        std::vector<TokenId> history(random() % 120);
        for (TokenId& id : history) id = static_cast<TokenId>(random() % 40);
        SamplingParams p;
        p.repeat_penalty = 1.25f;
        p.presence_penalty = 0.5f;
        p.frequency_penalty = -0.125f;
        p.logit_bias = {{3, 1.0f}, {45, -2.0f}, {3, 0.5f}};
        const std::vector<float> changed = adjust(p, history, row);
        for (TokenId id = 0; id < 50; ++id) {
            const auto n = std::count(history.begin(), history.end(), id);
            float l = row[id];
            if (n > 0) {
                l = l > 0 ? l / 1.25f : l * 1.25f;
                l -= 0.5f;
                l -= -0.125f * static_cast<float>(n);
            }
            if (id == 3) l = (l + 1.0f) + 0.5f;
            if (id == 45) l += -2.0f;
            ASSERT_EQ(changed[id], l) << "seed " << seed << " round " << round << " id " << id;
        }
    }
}

TEST(Logits, make_a_repeated_token_less_likely_whatever_its_sign) {
    SamplingParams p;
    p.repeat_penalty = 2.0f;
    EXPECT_EQ(adjust(p, {0, 1, 2}, {4.0f, -4.0f, 0.0f, 4.0f}),
              (std::vector<float>{2.0f, -8.0f, 0.0f, 4.0f}));
}

TEST(Logits, take_the_presence_penalty_once) {
    SamplingParams p;
    p.presence_penalty = 1.0f;
    EXPECT_EQ(adjust(p, {0, 0, 0}, {4.0f, 4.0f}), (std::vector<float>{3.0f, 4.0f}));
}

TEST(Logits, take_the_frequency_penalty_for_each_time) {
    SamplingParams p;
    p.frequency_penalty = 0.5f;
    EXPECT_EQ(adjust(p, {0, 1, 0, 0}, {4.0f, 4.0f}), (std::vector<float>{2.5f, 3.5f}));
}

TEST(Logits, are_forbidden_by_a_bias_of_minus_infinity) {
    SamplingParams p;
    p.logit_bias = {{1, -kInf}};
    EXPECT_EQ(adjust(p, {}, {4.0f, 4.0f}), (std::vector<float>{4.0f, -kInf}));
}

TEST(Logits, stay_forbidden_under_every_penalty) {
    SamplingParams p;
    p.repeat_penalty = 0.5f;
    p.presence_penalty = -5.0f;
    p.logit_bias = {{0, 100.0f}};
    EXPECT_EQ(adjust(p, {0}, {-kInf}), (std::vector<float>{-kInf}));
}

TEST(Logits, leave_the_counts_as_they_were) {
    SamplingParams p;
    p.presence_penalty = 1.0f;
    std::vector<float> row(8);
    std::vector<uint32_t> counts(8);
    const std::vector<TokenId> history = {7, 1, 7};
    adjust_logits(p, history, counts, [&](TokenId id) -> float& { return row[id]; });
    EXPECT_EQ(counts, std::vector<uint32_t>(8));
}

TEST(Logits, need_no_copy_when_nothing_changes_them) {
    EXPECT_FALSE(adjusts_logits({}));
    SamplingParams biased;
    biased.logit_bias = {{0, 1.0f}};
    EXPECT_TRUE(adjusts_logits(biased));
    SamplingParams repeating;
    repeating.repeat_penalty = 1.1f;
    EXPECT_TRUE(adjusts_logits(repeating));
}

}  // namespace kvik
