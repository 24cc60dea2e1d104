#include "sample/candidates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "sample/tiles.h"

namespace kvik {
namespace {

std::vector<float> random_row(std::mt19937_64& random, size_t n) {
    std::normal_distribution<float> normal(0.0f, 3.0f);
    std::vector<float> row(n);
    const bool has_ties = random() % 2 == 0;
    for (float& l : row) l = has_ties ? std::round(normal(random)) : normal(random);
    if (random() % 4 == 0) std::sort(row.begin(), row.end());
    return row;
}

// A row with the maxima of its tiles.
struct Tiled {
    explicit Tiled(std::vector<float> row)
        : logits(std::move(row)), maxima(n_logit_tiles(logits.size())) {
        note_maxima(logits, maxima);
    }
    TiledRow row() const { return {logits, maxima}; }

    std::vector<float> logits, maxima;
};

std::vector<Candidate> sorted_all(const std::vector<float>& row) {
    std::vector<Candidate> all;
    for (const float l : row) all.push_back({0, l, static_cast<TokenId>(all.size())});
    std::sort(all.begin(), all.end(), is_before);
    return all;
}

std::vector<TokenId> sorted_ids(const std::vector<Candidate>& candidates) {
    std::vector<TokenId> ids;
    for (const Candidate& c : candidates) ids.push_back(c.id);
    std::sort(ids.begin(), ids.end());
    return ids;
}

}  // namespace

TEST(Candidates, of_top_k_are_the_first_k_of_a_full_sort) {
    std::mt19937_64 random(41);
    std::vector<Candidate> out;
    for (int round = 0; round < 300; ++round) {
        const std::vector<float> row = random_row(random, 1 + random() % 2000);
        const auto k = static_cast<uint32_t>(1 + random() % 300);
        gather_top_k(Tiled(row).row(), k, kLowestLogit, out);
        std::vector<Candidate> expected = sorted_all(row);
        expected.resize(std::min<size_t>(k, expected.size()));
        ASSERT_EQ(sorted_ids(out), sorted_ids(expected)) << "round " << round << " k " << k;
    }
}

TEST(Candidates, of_a_mass_are_the_shortest_prefix_of_a_full_sort) {
    std::mt19937_64 random(42);
    for (int round = 0; round < 300; ++round) {
        std::vector<Candidate> sorted = sorted_all(random_row(random, 1 + random() % 500));
        uint64_t total = 0;
        for (Candidate& c : sorted) total += c.weight = random() % 1000;
        const uint64_t target = total * (random() % 101) / 100;
        std::vector<Candidate> kept = sorted;
        std::shuffle(kept.begin(), kept.end(), random);
        keep_mass(target, kept);
        uint64_t reached = 0;
        size_t n = 0;
        while (n == 0 || reached < target) reached += sorted[n++].weight;
        sorted.resize(n);
        ASSERT_EQ(sorted_ids(kept), sorted_ids(sorted)) << "round " << round;
    }
}

TEST(Candidates, weigh_what_the_exponential_says) {
    const Tempered tempered = {12.5f, 0.7f};
    for (float l = -2.0f; l <= 12.5f; l += 0.01f) {
        const double exact = std::exp((l - 12.5) / 0.7f) * 0x1p44;
        ASSERT_NEAR(static_cast<double>(fixed_weight(tempered, l)), exact, 4e-6 * exact + 1) << l;
    }
    EXPECT_EQ(fixed_weight(tempered, 12.5f), 1ull << 44);
}

TEST(Candidates, weigh_together_what_they_weigh_alone) {
    std::mt19937_64 random(43);
    for (size_t n = 1; n < 70; ++n) {
        const Tiled tiled(random_row(random, n));
        for (const float t : {0.01f, 0.2f, 1.3f}) {
            const Tempered tempered = {largest(tiled.row()), t};
            uint64_t sum = 0;
            for (const float l : tiled.logits) sum += fixed_weight(tempered, l);
            EXPECT_EQ(sum_fixed_weights(tempered, tiled.row()), sum) << n << " T " << t;
        }
    }
}

TEST(Candidates, beyond_the_limit_are_beyond_it_for_sure) {
    std::mt19937_64 random(44);
    for (int i = 0; i < 100'000; ++i) {
        const float magnitude = std::exp2(static_cast<float>(random() % 100) - 40.0f);
        const float max = magnitude * (static_cast<float>(random() % 2001) / 1000 - 1);
        const float t = std::exp2(static_cast<float>(random() % 16) - 9.0f);
        const double log_ratio = -static_cast<double>(random() % 25'000) / 1000;
        const float limit = limit_below({max, t}, log_ratio);
        const float below = std::nextafter(limit, kLowestLogit);
        ASSERT_LT(below / static_cast<double>(t) - max / static_cast<double>(t), log_ratio)
            << max << " " << t << " " << log_ratio;
    }
}

TEST(Row, finds_maximum_and_first_place_at_every_length) {
    std::mt19937_64 random(45);
    for (size_t n = 1; n < 100; ++n) {
        const Tiled tiled(random_row(random, n));
        const auto best = std::max_element(tiled.logits.begin(), tiled.logits.end());
        ASSERT_EQ(largest(tiled.row()), *best) << n;
        ASSERT_EQ(first_equal(tiled.row(), *best), best - tiled.logits.begin()) << n;
    }
}

}  // namespace kvik
