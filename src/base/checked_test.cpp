#include "base/checked.h"

#include <gtest/gtest.h>

namespace kvik {

TEST(Checked, adds_up_to_the_largest_number) {
    EXPECT_EQ(checked_add(2, 3), 5u);
    EXPECT_EQ(checked_add(UINT64_MAX, 0), UINT64_MAX);
    EXPECT_EQ(checked_add(UINT64_MAX - 7, 7), UINT64_MAX);
}

TEST(Checked, has_no_sum_that_wraps) {
    EXPECT_EQ(checked_add(UINT64_MAX, 1), std::nullopt);
    EXPECT_EQ(checked_add(1ull << 63, 1ull << 63), std::nullopt);
}

TEST(Checked, multiplies_up_to_the_largest_number) {
    EXPECT_EQ(checked_mul(0, UINT64_MAX), 0u);
    EXPECT_EQ(checked_mul(UINT64_MAX, 1), UINT64_MAX);
    EXPECT_EQ(checked_mul(0xffffffffu, 0x100000001u), UINT64_MAX);
}

TEST(Checked, has_no_product_that_wraps) {
    EXPECT_EQ(checked_mul(1ull << 32, 1ull << 32), std::nullopt);
    EXPECT_EQ(checked_mul((1ull << 63) + 1, 2), std::nullopt);
}

TEST(RoundUp, goes_to_the_next_multiple_and_stays_on_one) {
    EXPECT_EQ(round_up(0, 64), 0u);
    EXPECT_EQ(round_up(1, 64), 64u);
    EXPECT_EQ(round_up(64, 64), 64u);
    EXPECT_EQ(round_up(65, 48), 96u);
}

}  // namespace kvik
