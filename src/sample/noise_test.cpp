#include "sample/noise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/philox.h"

namespace kvik {

TEST(Noise, is_the_first_word_of_philox_at_position_token_and_sample) {
    const NoiseKey key = {0x123456789abcdef0ull, 77, 3};
    EXPECT_EQ(noise_bits(key, 4242), philox4x32({77, 4242, 3, 0}, {0x9abcdef0u, 0x12345678u})[0]);
}

TEST(Noise, stays_inside_the_bounds_that_the_skip_relies_on) {
    EXPECT_GE(gumbel(0), kNoiseMin);
    EXPECT_NEAR(gumbel(0), kNoiseMin, 1e-3);
    EXPECT_LE(gumbel(UINT32_MAX), kNoiseMax);
    EXPECT_NEAR(gumbel(UINT32_MAX), kNoiseMax, 1e-3);
}

TEST(Noise, grows_with_its_bits) {
    for (uint32_t bits = 0; bits < UINT32_MAX - 65536; bits += 65521)
        ASSERT_LT(gumbel(bits), gumbel(bits + 65521)) << bits;
}

TEST(Noise, never_exceeds_its_cheap_bound) {
    std::mt19937_64 random(31);
    for (int i = 0; i < 200'000; ++i) {
        const auto any = static_cast<uint32_t>(random());
        const uint32_t near_one = ~(any >> random() % 32);
        ASSERT_LE(gumbel(any), gumbel_bound(any)) << any;
        ASSERT_LE(gumbel(near_one), gumbel_bound(near_one)) << near_one;
    }
    ASSERT_LE(gumbel(UINT32_MAX), gumbel_bound(UINT32_MAX));
}

// Gumbel's mean is Euler's constant, its variance pi^2 / 6: 4.9 standard errors of 100 000 draws.
TEST(Noise, has_the_mean_of_gumbels_distribution) {
    double sum = 0;
    for (TokenId token = 0; token < 100'000; ++token) sum += gumbel(noise_bits({1, 2, 3}, token));
    EXPECT_NEAR(sum / 100'000, 0.5772156649, 4.9 * 1.28255 / std::sqrt(100'000.0));
}

}  // namespace kvik
