#include "sample/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "base/exact_math.h"
#include "base/philox.h"
#include "sample/logits.h"
#include "sample/noise.h"

namespace kvik {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

std::vector<float> naive_row(const SamplingParams& params, const SampleInput& input) {
    std::vector<float> row(input.logits.begin(), input.logits.end());
    std::vector<uint32_t> counts(row.size());
    adjust_logits(params, input.history, counts, [&](TokenId id) -> float& { return row[id]; });
    return row;
}

// The definition, word by word: sort everything, cut prefixes, noise for every token kept.
TokenId naive_sample(const SamplingParams& params, const SampleInput& input) {
    std::vector<Candidate> all;
    for (const float l : naive_row(params, input))
        all.push_back({0, l, static_cast<TokenId>(all.size())});
    std::erase_if(all, [](const Candidate& c) { return c.logit == -kInf; });
    std::sort(all.begin(), all.end(), is_before);
    if (params.temperature == 0) return all[0].id;
    const double t = params.temperature;

    if (params.top_k > 0 && params.top_k < all.size()) all.resize(params.top_k);
    if (params.top_p < 1) {
        uint64_t total = 0;
        for (Candidate& c : all)
            total += c.weight = fixed_weight({all[0].logit, params.temperature}, c.logit);
        uint64_t reached = 0;
        size_t n = 0;
        while (n == 0 || reached < top_p_target(params.top_p, total)) reached += all[n++].weight;
        all.resize(n);
    }
    if (params.min_p > 0) {
        const double max = all[0].logit / t;
        const double floor = exact_log(params.min_p);
        std::erase_if(all, [&](const Candidate& c) { return c.logit / t - max < floor; });
    }
    TokenId winner = -1;
    double best = -std::numeric_limits<double>::infinity();
    std::sort(all.begin(), all.end(), [](auto& a, auto& b) { return a.id < b.id; });
    for (const Candidate& c : all) {
        const auto random =
            philox4x32({input.position, static_cast<uint32_t>(c.id), params.sample_index, 0},
                       {static_cast<uint32_t>(params.seed.value_or(0)),
                        static_cast<uint32_t>(params.seed.value_or(0) >> 32)});
        const double u = (random[0] + 0.5) / 4294967296.0;
        const double score = c.logit / t - exact_log(-exact_log(u));
        if (score > best) {
            best = score;
            winner = c.id;
        }
    }
    return winner;
}

// Rows of every kind that is hard: ties, forbidden tokens, huge spans, flat, one peak.
std::vector<float> random_row(std::mt19937_64& random, uint32_t vocab_size) {
    std::normal_distribution<float> normal(0.0f, 3.0f);
    std::vector<float> row(vocab_size);
    const auto kind = random() % 6;
    for (float& l : row) {
        l = normal(random);
        if (kind == 1) l = std::round(l / 2);
        if (kind == 2 && random() % 2 == 0) l = -kInf;
        if (kind == 3) l = std::copysign(std::exp(4 * std::fabs(l)), l);
        if (kind == 4) l = 1.5f;
    }
    row[random() % vocab_size] = kind == 5 ? 40.0f : 2.0f;
    return row;
}

SamplingParams random_params(std::mt19937_64& random, uint32_t vocab_size) {
    const auto pick = [&](std::initializer_list<float> values) {
        return values.begin()[random() % values.size()];
    };
    SamplingParams p;
    p.temperature = pick({0.0f, 0.001f, 0.7f, 1.0f, 1.0f, 4.0f, 100.0f});
    p.top_k = static_cast<uint32_t>(pick({0, 0, 1, 2, 7, 40})) % (vocab_size + 2);
    p.top_p = pick({0.0f, 0.1f, 0.5f, 0.9f, 0.999f, 1.0f, 1.0f, 1.0f});
    p.min_p = pick({0.0f, 0.0f, 0.0f, 0.001f, 0.05f, 0.5f, 1.0f});
    p.repeat_penalty = pick({1.0f, 1.0f, 1.3f, 0.5f});
    p.presence_penalty = pick({0.0f, 0.0f, 0.5f, -1.0f});
    p.frequency_penalty = pick({0.0f, 0.0f, 0.25f});
    for (auto n = random() % 3; n > 0; --n)
        p.logit_bias.emplace_back(random() % vocab_size, pick({-kInf, 5.0f, -2.0f}));
    p.seed = random();
    p.sample_index = static_cast<uint32_t>(random() % 3);
    return p;
}

void expect_equals_naive(uint64_t seed, uint32_t max_vocab, int n_rounds) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    for (int round = 0; round < n_rounds; ++round) {
        const auto vocab_size = static_cast<uint32_t>(1 + random() % max_vocab);
        SampleScratch scratch(vocab_size);
        const std::vector<float> row = random_row(random, vocab_size);
        std::vector<TokenId> history(random() % 30);
        for (TokenId& id : history) id = static_cast<TokenId>(random() % vocab_size);
        for (int i = 0; i < 20; ++i) {
            const SamplingParams params = random_params(random, vocab_size);
            const SampleInput input = {row, history, static_cast<uint32_t>(random() % 5000)};
            const Result<TokenId> token = sample(params, input, scratch);
            const std::vector<float> changed = naive_row(params, input);
            if (*std::max_element(changed.begin(), changed.end()) == -kInf) {
                ASSERT_FALSE(token) << "round " << round;
                continue;
            }
            ASSERT_TRUE(token) << token.error().message;
            ASSERT_EQ(*token, naive_sample(params, input))
                << "round " << round << " draw " << i << ": vocab " << vocab_size << " T "
                << params.temperature << " top_k " << params.top_k << " top_p " << params.top_p
                << " min_p " << params.min_p;
        }
    }
}

SamplingParams unfiltered(float temperature) {
    SamplingParams params;
    params.temperature = temperature;
    params.min_p = 0;
    return params;
}

// Fraction of (seed, position) pairs for which two parameter sets pick the same of 1000 equal
// tokens.
double agreement(const SamplingParams& a, uint32_t position_a, const SamplingParams& b,
                 uint32_t position_b) {
    const std::vector<float> row(1000, 0.0f);
    SampleScratch scratch(1000);
    int n_same = 0;
    for (uint32_t i = 0; i < 200; ++i) {
        SamplingParams x = a;
        SamplingParams y = b;
        x.seed = a.seed.value_or(0) + i * 1000;
        y.seed = b.seed.value_or(0) + i * 1000;
        n_same += *sample(x, {row, {}, position_a}, scratch) ==
                  *sample(y, {row, {}, position_b}, scratch);
    }
    return n_same / 200.0;
}

}  // namespace

TEST(Sampler, picks_what_the_definition_picks_on_short_rows) {
    expect_equals_naive(1, 40, 1500);
}

TEST(Sampler, picks_what_the_definition_picks_on_long_rows) {
    expect_equals_naive(2, 3000, 60);
}

// Without any cut only the bound on the noise leaves tokens out. Temperatures from peaked to flat.
TEST(Sampler, skips_only_tokens_that_cannot_win) {
    std::mt19937_64 random(3);
    SampleScratch scratch(2000);
    for (int i = 0; i < 200; ++i) {
        const std::vector<float> row = random_row(random, 2000);
        SamplingParams params = unfiltered(std::exp2(static_cast<float>(i % 12) - 6.0f));
        params.seed = random();
        const SampleInput input = {row, {}, static_cast<uint32_t>(i)};
        const Result<TokenId> token = sample(params, input, scratch);
        ASSERT_TRUE(token) << token.error().message;
        ASSERT_EQ(*token, naive_sample(params, input)) << "draw " << i;
    }
}

TEST(Sampler, does_not_remember_what_it_was_asked_before) {
    std::mt19937_64 random(4);
    const std::vector<float> row = random_row(random, 500);
    const std::vector<TokenId> history = {1, 2, 3, 2};
    SampleScratch used(500);
    for (int i = 0; i < 300; ++i) {
        const SamplingParams params = random_params(random, 500);
        SampleScratch fresh(500);
        const SampleInput input = {row, history, static_cast<uint32_t>(i)};
        const Result<TokenId> a = sample(params, input, used);
        const Result<TokenId> b = sample(params, input, fresh);
        ASSERT_EQ(a.has_value(), b.has_value());
        if (!a) continue;
        ASSERT_EQ(*a, *b) << "draw " << i;
    }
}

TEST(Sampler, takes_the_lowest_id_of_equal_logits_when_greedy) {
    SampleScratch scratch(100);
    std::vector<float> row(100, 1.0f);
    row[37] = row[38] = row[99] = 2.0f;
    EXPECT_EQ(*sample(unfiltered(0), {row, {}, 0}, scratch), 37);
}

TEST(Sampler, takes_penalties_and_bias_into_account_when_greedy) {
    SampleScratch scratch(3);
    const std::vector<float> row = {3.0f, 2.0f, 1.0f};
    SamplingParams params = unfiltered(0);
    params.presence_penalty = 1.5f;
    params.logit_bias = {{2, 0.75f}};
    const std::vector<TokenId> history = {0, 1};
    EXPECT_EQ(*sample(params, {row, history, 2}, scratch), 2);
}

TEST(Sampler, draws_other_noise_at_another_position) {
    const SamplingParams params = unfiltered(1);
    EXPECT_LT(agreement(params, 5, params, 6), 0.05);  // by chance 0.001
}

TEST(Sampler, draws_other_noise_for_another_seed) {
    SamplingParams other = unfiltered(1);
    other.seed = 1;
    EXPECT_LT(agreement(unfiltered(1), 5, other, 5), 0.05);
}

TEST(Sampler, draws_other_noise_for_a_seed_that_differs_in_its_high_half) {
    SamplingParams other = unfiltered(1);
    other.seed = 1ull << 40;
    EXPECT_LT(agreement(unfiltered(1), 5, other, 5), 0.05);
}

TEST(Sampler, draws_other_noise_for_another_sample_index) {
    SamplingParams other = unfiltered(1);
    other.sample_index = 1;
    EXPECT_LT(agreement(unfiltered(1), 5, other, 5), 0.05);
}

TEST(Sampler, never_draws_a_forbidden_token) {
    SampleScratch scratch(4);
    const std::vector<float> row = {-kInf, 0.0f, 9.0f, -kInf};
    SamplingParams params = unfiltered(100);
    params.logit_bias = {{2, -kInf}};
    for (uint32_t position = 0; position < 1000; ++position)
        ASSERT_EQ(*sample(params, {row, {}, position}, scratch), 1);
}

TEST(Sampler, says_so_when_every_token_is_forbidden) {
    SampleScratch scratch(20);
    const std::vector<float> row(20, -kInf);
    const Result<TokenId> token = sample({}, {row, {}, 12}, scratch);
    ASSERT_FALSE(token);
    EXPECT_NE(token.error().message.find("forbidden at position 12"), std::string::npos);
}

TEST(Sampler, refuses_a_row_with_nan_wherever_it_stands) {
    SampleScratch scratch(21);
    for (size_t i = 0; i < 21; ++i) {
        std::vector<float> row(21, 1.0f);
        row[i] = std::numeric_limits<float>::quiet_NaN();
        EXPECT_FALSE(sample(unfiltered(0), {row, {}, 0}, scratch)) << i;
    }
}

TEST(Sampler, refuses_a_row_with_infinity) {
    SampleScratch scratch(21);
    std::vector<float> row(21, 1.0f);
    row[20] = kInf;
    EXPECT_FALSE(sample(unfiltered(1), {row, {}, 0}, scratch));
}

TEST(Sampler, asks_for_tempered_masses_only_where_top_p_cuts_a_whole_row) {
    SamplingParams params = unfiltered(1);
    EXPECT_FALSE(wants_tempered_sum_exp(params, 100));
    params.top_p = 0.9f;
    EXPECT_TRUE(wants_tempered_sum_exp(params, 100));
    params.top_k = 100;
    EXPECT_TRUE(wants_tempered_sum_exp(params, 100));
    params.top_k = 99;
    EXPECT_FALSE(wants_tempered_sum_exp(params, 100));
    params.top_k = 0;
    params.temperature = 0;
    EXPECT_FALSE(wants_tempered_sum_exp(params, 100));
}

TEST(Sampler, allocates_nothing_for_a_token) {
    SampleScratch scratch(1000);
    const Candidate* const before = scratch.candidates.data();
    const std::vector<float> row(1000, 0.0f);
    SamplingParams params = unfiltered(1);
    for (const float top_p : {1.0f, 0.9f})
        for (const uint32_t top_k : {0u, 999u}) {
            params.top_p = top_p;
            params.top_k = top_k;
            ASSERT_TRUE(sample(params, {row, {}, 0}, scratch));
        }
    EXPECT_EQ(scratch.candidates.data(), before);
}

}  // namespace kvik
