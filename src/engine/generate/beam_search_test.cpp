#include "engine/generate/beam_search.h"

#include <gtest/gtest.h>

#include <limits>

#include "support/naive_beams.h"
#include "support/requests.h"
#include "support/same_beams.h"

namespace kvik {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

// A language: a row of logits for every list of ids. Few different logits make ties.
struct Language {
    uint32_t seed = 1;
    uint32_t vocab_size = 40;
    uint32_t n_levels = 1000;
    uint32_t percent_forbidden = 0;

    std::vector<float> operator()(std::span<const TokenId> ids) const {
        uint64_t state = seed * 0x9e3779b97f4a7c15ull;
        for (const TokenId id : ids)
            state = (state ^ static_cast<uint64_t>(id + 1)) * 0x100000001b3ull;
        Random random(static_cast<uint32_t>(state ^ state >> 32));
        std::vector<float> row(vocab_size);
        for (float& logit : row) {
            logit = static_cast<float>(random.below(n_levels)) * 6 / static_cast<float>(n_levels);
            if (random.below(100) < percent_forbidden) logit = -kInf;
        }
        row[random.below(vocab_size)] = 6;
        return row;
    }
};

// Drives a search by lists of ids alone; the rows of a step come in any order, some of them twice.
std::vector<Beam> search(const ColdLogits& language, const BeamSearchOptions& options,
                         std::span<const TokenId> end_tokens, Random& random) {
    BeamSearch search(options);
    std::vector<std::vector<TokenId>> beams(1);
    while (!search.is_over()) {
        std::vector<uint32_t> order(beams.size());
        std::iota(order.begin(), order.end(), 0u);
        std::shuffle(order.begin(), order.end(), random.generator);
        for (const uint32_t k : order) {
            EXPECT_FALSE(search.has_all_rows());
            EXPECT_TRUE(search.take_row(k, {.logits = language(beams[k])}));
        }
        if (random.below(10) == 0) {
            search.forget_rows();
            continue;
        }
        search.advance([&](const BeamSearch::Move& move) {
            const bool ends = std::count(end_tokens.begin(), end_tokens.end(), move.token) > 0;
            return ends ? BeamSearch::Ending::without_token : BeamSearch::Ending::none;
        });
        std::vector<std::vector<TokenId>> next;
        for (const BeamSearch::Move& move : search.moves())
            next.push_back(joined(beams[move.parent], {move.token}));
        beams = next;
    }
    return search.results();
}

TEST(BeamSearch, finds_what_a_search_that_sorts_everything_finds) {
    for (uint32_t seed = 1; seed <= 300; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        Random random(seed);
        const Language language = {.seed = seed,
                                   .vocab_size = 1 + random.below(60),
                                   .n_levels = random.below(2) ? 1000u : 3u,
                                   .percent_forbidden = random.below(3) ? 0 : random.below(95)};
        const BeamParams params = {.n_beams = 1 + random.below(8),
                                   .length_penalty = random.below(5) * 0.5 - 0.5};
        const uint32_t n_tokens = 1 + random.below(12);
        std::vector<TokenId> end_tokens(random.below(4));
        for (TokenId& id : end_tokens) id = static_cast<TokenId>(random.below(60));
        std::sort(end_tokens.begin(), end_tokens.end());
        end_tokens.erase(std::unique(end_tokens.begin(), end_tokens.end()), end_tokens.end());
        NaiveBeams naive(language, params, {end_tokens, n_tokens});
        expect_same(search(language,
                           {.params = params,
                            .n_end_tokens = static_cast<uint32_t>(end_tokens.size()),
                            .max_tokens = n_tokens,
                            .wants_logits_hash = true},
                           end_tokens, random),
                    naive.search({}));
        if (::testing::Test::HasFailure()) return;
    }
}

// Logits that differ by less than their sum can tell: the lower id wins, as if they were equal.
TEST(BeamSearch, takes_the_lower_id_where_the_sums_are_equal_and_the_logits_are_not) {
    const ColdLogits language = [](std::span<const TokenId>) {
        return std::vector<float>{20.0f, 1e-30f, 2e-30f, 3e-30f, 4e-30f};
    };
    Random random(1);
    const std::vector<Beam> beams =
        search(language, {.params = {.n_beams = 2}, .max_tokens = 1}, {}, random);
    ASSERT_EQ(beams.size(), 2u);
    EXPECT_EQ(beams[0].ids, std::vector<TokenId>{0});
    EXPECT_EQ(beams[1].ids, std::vector<TokenId>{1});
}

TEST(BeamSearch, scores_the_sum_over_a_power_of_the_tokens) {
    EXPECT_EQ(BeamSearch::score(-6, 3, 1), -2);
    EXPECT_EQ(BeamSearch::score(-6, 3, 0), -6);
    EXPECT_DOUBLE_EQ(BeamSearch::score(-6, 4, 0.5), -3);
    EXPECT_DOUBLE_EQ(BeamSearch::score(-6, 3, 2), -6.0 / 9);
    EXPECT_DOUBLE_EQ(BeamSearch::score(-6, 2, -1), -12);
}

// Two tokens; the second ends. Ending at once is likelier, but long answers lose less a token.
TEST(BeamSearch, lets_a_length_penalty_choose_the_longer_answer) {
    const ColdLogits language = [](std::span<const TokenId> ids) {
        return ids.empty() ? std::vector<float>{1.0f, 1.1f} : std::vector<float>{3.0f, 0.0f};
    };
    Random random(1);
    const std::vector<TokenId> end_tokens = {1};
    const auto best = [&](double length_penalty) {
        return search(language,
                      {.params = {.n_beams = 2, .length_penalty = length_penalty},
                       .n_end_tokens = 1,
                       .max_tokens = 4},
                      end_tokens, random)[0]
            .ids.size();
    };
    EXPECT_EQ(best(0), 0u);
    EXPECT_EQ(best(1), 4u);
}

TEST(BeamSearch, keeps_what_there_is_when_it_is_stopped) {
    const Language language;
    BeamSearch search({.params = {.n_beams = 3}, .max_tokens = 9});
    ASSERT_TRUE(search.take_row(0, {.logits = language({})}));
    search.advance([](const BeamSearch::Move&) { return BeamSearch::Ending::none; });
    search.stop(FinishReason::cancelled);
    EXPECT_TRUE(search.is_over());
    const std::vector<Beam> beams = search.results();
    ASSERT_EQ(beams.size(), 3u);
    EXPECT_EQ(beams[0].ids.size(), 1u);
    EXPECT_GT(beams[0].score, beams[1].score);
    EXPECT_EQ(beams[0].reason, FinishReason::cancelled);
}

TEST(BeamSearch, refuses_a_row_that_is_none) {
    BeamSearch search({.params = {}, .max_tokens = 9});
    const std::vector<float> rows[] = {{1, kInf, 0}, {1, std::nanf(""), 0}, {-kInf, -kInf}};
    for (const std::vector<float>& row : rows) {
        const auto taken = search.take_row(0, {.logits = row, .position = 17});
        ASSERT_FALSE(taken);
        EXPECT_NE(taken.error().message.find("position 17"), std::string::npos);
    }
}

}  // namespace
}  // namespace kvik
