// What is noted of tiles of logits: every instruction set gives the scalar reference's bits.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/logit_tiles.h"
#include "kernels/kernels_test_support.h"
#include "kernels/select.h"

namespace kvik::testing {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

class LogitTileKernels : public IsaTest {};

INSTANTIATE_TEST_SUITE_P(Isa, LogitTileKernels, ::testing::ValuesIn(runnable_kernels()), test_name);

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * 4) == 0;
}

std::vector<float> random_logits(Rng& rng, uint32_t n) {
    const float scales[] = {0.0f, 1e-3f, 1.0f, 5.0f, 40.0f, 1e30f};
    std::vector<float> x(n);
    const float scale = scales[below(rng, 6)];
    const bool is_odd = below(rng, 3) == 0;
    for (float& l : x) {
        l = normal(rng, scale);
        if (!is_odd) continue;
        const float odd[] = {-kInf, kInf, kNan, -kNan, -0.0f, 0.0f, l, l};
        l = odd[below(rng, below(rng, 2) == 0 ? 1 : 8)];
    }
    return x;
}

TEST_P(LogitTileKernels, note_alike_at_every_length) {
    for (uint32_t n = 1; n <= 200; ++n)
        for (int round = 0; round < 20; ++round) {
            const std::vector<float> x = random_logits(rng, n);
            std::vector<float> a(n_logit_tiles(n) + 1, 7.0f), b(a);
            scalar.tile_maxima(x.data(), n, a.data());
            fast.tile_maxima(x.data(), n, b.data());
            ASSERT_TRUE(same_bits(a, b)) << "maxima of " << n;
            for (const float inverse : {1.0f, 1 / 0.7f, 0.01f, 1000.0f}) {
                std::vector<float> c(a.size(), 7.0f), d(c);
                scalar.tile_sum_exp(x.data(), n, a.data(), inverse, c.data());
                fast.tile_sum_exp(x.data(), n, a.data(), inverse, d.data());
                ASSERT_TRUE(same_bits(c, d)) << "sum_exps of " << n << " times " << inverse;
                EXPECT_EQ(d.back(), 7.0f) << "only the tiles are written";
            }
            EXPECT_EQ(b.back(), 7.0f) << "only the tiles are written";
        }
}

TEST_P(LogitTileKernels, exponentials_alike_over_their_whole_range) {
    std::vector<float> x(1 << 16);
    for (size_t i = 0; i < x.size(); ++i)
        x[i] = -88.0f * static_cast<float>(i) / static_cast<float>(x.size());
    x[0] = -86.0f;
    x[1] = std::nextafter(-86.0f, -100.0f);
    const std::vector<float> zeros(x.size() / 16, 0.0f);
    std::vector<float> a(zeros), b(zeros);
    const auto n = static_cast<uint32_t>(x.size());
    scalar.tile_sum_exp(x.data(), n, zeros.data(), 1.0f, a.data());
    fast.tile_sum_exp(x.data(), n, zeros.data(), 1.0f, b.data());
    EXPECT_TRUE(same_bits(a, b));
}

TEST_P(LogitTileKernels, know_the_largest_and_what_the_others_weigh_beside_it) {
    std::vector<float> x(16, -1.0f), maximum(1), sum_exp(1);
    x[5] = 2.0f;
    x[15] = -kInf;
    fast.tile_maxima(x.data(), 16, maximum.data());
    fast.tile_sum_exp(x.data(), 16, maximum.data(), 0.5f, sum_exp.data());
    EXPECT_EQ(maximum[0], 2.0f);
    EXPECT_NEAR(sum_exp[0], 1 + 14 * std::exp(-1.5), 1e-6);
    x[3] = kNan;
    fast.tile_maxima(x.data(), 16, maximum.data());
    EXPECT_EQ(maximum[0], kInf);
}

}  // namespace
}  // namespace kvik::testing
