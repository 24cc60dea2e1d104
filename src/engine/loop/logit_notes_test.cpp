#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>

#include "engine/loop/step_executor.h"
#include "kernels/note_tiles.h"
#include "kernels/select.h"
#include "sample/tiles.h"

namespace kvik {
namespace {

constexpr uint32_t kVocab = 1003;

GenerateRequest request_with(float top_p) {
    GenerateRequest request;
    request.sampling.temperature = 0.5f;
    request.sampling.top_p = top_p;
    return request;
}

}  // namespace

TEST(LogitNotes, ask_for_the_last_row_of_a_request_alone) {
    LogitNotes notes(8, kVocab);
    notes.begin();
    notes.add(request_with(1), 3);
    notes.add(request_with(1), 0);
    notes.add(request_with(1), 1);
    const auto rows = notes.rows(0, 4);
    EXPECT_TRUE(rows[0].maxima.empty() && rows[1].maxima.empty());
    EXPECT_EQ(rows[2].maxima.size(), n_logit_tiles(kVocab));
    EXPECT_EQ(rows[3].maxima.size(), n_logit_tiles(kVocab));
    EXPECT_NE(rows[2].maxima.data(), rows[3].maxima.data());
    notes.begin();
    notes.add(request_with(1), 1);
    EXPECT_EQ(notes.rows(0, 1)[0].maxima.size(), n_logit_tiles(kVocab));
}

TEST(LogitNotes, ask_for_what_the_request_needs) {
    LogitNotes notes(3, kVocab);
    notes.begin();
    notes.add(request_with(1), 1);
    notes.add(request_with(0.9f), 1);
    GenerateRequest request = request_with(0.9f);
    request.want_logprobs = true;
    request.sampling.top_k = 5;
    notes.add(request, 1);
    const auto rows = notes.rows(0, 3);
    EXPECT_TRUE(rows[0].sum_exps.empty() && rows[0].tempered.empty());
    EXPECT_TRUE(rows[1].sum_exps.empty());
    EXPECT_EQ(rows[1].tempered.size(), n_logit_tiles(kVocab));
    EXPECT_EQ(rows[1].inverse_temperature, 2.0f);
    EXPECT_EQ(rows[2].sum_exps.size(), n_logit_tiles(kVocab));
    EXPECT_TRUE(rows[2].tempered.empty());
}

// A kept row has no notes: sampling makes them itself, and nobody must see a difference.
TEST(LogitNotes, are_the_same_bits_from_kernels_and_from_sampling) {
    std::mt19937_64 random(71);
    std::normal_distribution<float> normal(0.0f, 6.0f);
    for (const KernelTable* kernels : runnable_kernels())
        for (uint32_t n = 1; n < 300; ++n) {
            std::vector<float> row(n);
            for (float& l : row) l = normal(random);
            for (auto i = random() % 4; i > 0; --i)
                row[random() % n] =
                    std::vector{-std::numeric_limits<float>::infinity(), -0.0f,
                                std::numeric_limits<float>::quiet_NaN(), 0.0f}[random() % 4];
            const size_t n_tiles = n_logit_tiles(n);
            std::vector<float> a(3 * n_tiles), b(3 * n_tiles);
            const auto part = [&](std::vector<float>& of, size_t i) {
                return std::span(of).subspan(i * n_tiles, n_tiles);
            };
            note_tiles(*kernels, row.data(), n, {part(a, 0), part(a, 1), part(a, 2), 1 / 0.7f});
            note_maxima(row, part(b, 0));
            note_sum_exp(row, part(b, 0), 1.0f, part(b, 1));
            note_sum_exp(row, part(b, 0), 1 / 0.7f, part(b, 2));
            ASSERT_EQ(std::memcmp(a.data(), b.data(), a.size() * 4), 0)
                << kernels->name << " n " << n;
        }
}

}  // namespace kvik
