#include "tensor/half.h"

#include <gtest/gtest.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <bit>
#include <cmath>
#include <random>

namespace kvik {
namespace {

bool is_nan(uint16_t h) {
    return (h & 0x7fffu) > 0x7c00u;
}

// A second opinion: the value from its definition.
float value(uint16_t h) {
    const int exponent = h >> 10 & 31;
    const auto mantissa = static_cast<float>(h & 1023);
    const float magnitude = exponent == 31  ? INFINITY
                            : exponent == 0 ? std::ldexp(mantissa, -24)
                                            : std::ldexp(1024 + mantissa, exponent - 25);
    return h & 0x8000u ? -magnitude : magnitude;
}

// Nearest half, ties to the even one, by searching the 31744 finite ones.
uint16_t nearest(float f) {
    const uint16_t sign = std::signbit(f) ? 0x8000u : 0;
    const double a = std::fabs(static_cast<double>(f));
    if (a >= 65520) return sign | 0x7c00u;  // 65504 + half a unit
    uint16_t low = 0;
    uint16_t high = 0x7c00;  // first that is larger than a
    while (high - low > 1) {
        const auto middle = static_cast<uint16_t>((low + high) / 2);
        (middle < 0x7c00 && value(middle) <= a ? low : high) = middle;
    }
    const double up = high == 0x7c00 ? 65536 : value(high);
    const double to_low = a - value(low);
    const double to_high = up - a;
    const bool takes_high = to_high < to_low || (to_high == to_low && (low & 1));
    return sign | (takes_high ? high : low);
}

// Floats of every exponent that matters, many of them right at or beside a tie.
float random_float(std::mt19937_64& random) {
    auto u = static_cast<uint32_t>(random());
    if (random() % 2 == 0) u = (u & 0xffffe000u) | 0x1000u;  // a tie
    if (random() % 4 == 0) u += random() % 2 ? 1 : -1;
    const uint32_t exponent = 95 + static_cast<uint32_t>(random() % 52);
    return std::bit_cast<float>((u & 0x807fffffu) | exponent << 23);
}

#if defined(__x86_64__)
__attribute__((target("f16c"))) uint16_t hardware(float f) {
    return static_cast<uint16_t>(
        _mm_extract_epi16(_mm_cvtps_ph(_mm_set_ss(f), _MM_FROUND_TO_NEAREST_INT), 0));
}
__attribute__((target("f16c"))) float hardware(uint16_t h) {
    return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(h)));
}
#endif

}  // namespace

TEST(Half, has_the_value_that_its_bits_say) {
    for (uint32_t h = 0; h < 65536; ++h) {
        if (is_nan(static_cast<uint16_t>(h))) continue;
        const auto half = static_cast<uint16_t>(h);
        ASSERT_EQ(std::bit_cast<uint32_t>(half_to_float(half)),
                  std::bit_cast<uint32_t>(value(half)))
            << h;
    }
}

TEST(Half, comes_back_from_f32_unchanged) {
    for (uint32_t h = 0; h < 65536; ++h) {
        const uint16_t back = float_to_half(half_to_float(static_cast<uint16_t>(h)));
        const bool is_signalling = is_nan(static_cast<uint16_t>(h)) && !(h & 0x200u);
        ASSERT_EQ(back, is_signalling ? h | 0x200u : h);  // NaN is made quiet, its payload kept
    }
}

TEST(Half, is_the_nearest_to_a_float_and_ties_go_to_even) {
    const uint64_t seed = 51;
    std::mt19937_64 random(seed);
    for (int i = 0; i < 300'000; ++i) {
        const float f = random_float(random);
        ASSERT_EQ(float_to_half(f), nearest(f)) << "seed " << seed << ": " << f;
    }
}

TEST(Half, rounds_to_infinity_from_halfway_past_the_largest) {
    EXPECT_EQ(float_to_half(65504.0f), 0x7bff);
    EXPECT_EQ(float_to_half(std::nextafter(65520.0f, 0.0f)), 0x7bff);
    EXPECT_EQ(float_to_half(65520.0f), 0x7c00);
    EXPECT_EQ(float_to_half(-3e38f), 0xfc00);
    EXPECT_EQ(float_to_half(INFINITY), 0x7c00);
}

TEST(Half, rounds_to_zero_up_to_half_the_smallest) {
    EXPECT_EQ(float_to_half(0x1p-25f), 0);
    EXPECT_EQ(float_to_half(std::nextafter(0x1p-25f, 1.0f)), 1);
    EXPECT_EQ(float_to_half(-0.0f), 0x8000);
    EXPECT_EQ(float_to_half(0x1p-149f), 0);
}

#if defined(__x86_64__)
TEST(Half, agrees_with_the_processors_own_conversion) {
    // A CPU with AVX2 has F16C, whose name clang 14 does not know; another has nothing to agree with.
    if (!__builtin_cpu_supports("avx2")) return;
    std::mt19937_64 random(52);
    for (uint32_t h = 0; h < 65536; ++h)
        ASSERT_EQ(std::bit_cast<uint32_t>(half_to_float(static_cast<uint16_t>(h))),
                  std::bit_cast<uint32_t>(hardware(static_cast<uint16_t>(h))))
            << h;
    for (int i = 0; i < 1'000'000; ++i) {
        const auto f = std::bit_cast<float>(static_cast<uint32_t>(random()));
        ASSERT_EQ(float_to_half(f), hardware(f)) << std::bit_cast<uint32_t>(f);
        const float near = random_float(random);
        ASSERT_EQ(float_to_half(near), hardware(near)) << std::bit_cast<uint32_t>(near);
    }
}
#endif

}  // namespace kvik
