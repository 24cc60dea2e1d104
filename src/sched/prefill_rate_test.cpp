#include <gtest/gtest.h>

#include "sched/step_costs.h"

namespace kvik {
namespace {

double cost(uint32_t n, uint32_t depth, double base, double slope) {
    return n * (base + slope * (depth + (n - 1) / 2.0));
}

TEST(PrefillRate, knows_nothing_before_the_first_step) {
    EXPECT_EQ(PrefillRate().ms(100, 1000), 0);
}

TEST(PrefillRate, finds_what_a_row_costs_and_what_depth_adds) {
    PrefillRate rate;
    for (uint32_t i = 0; i < 8; ++i) rate.note(512, 512 * i, cost(512, 512 * i, 0.2, 0.0001));
    EXPECT_NEAR(rate.ms(100, 3000), cost(100, 3000, 0.2, 0.0001), 1e-6);
    EXPECT_NEAR(rate.ms(512, 0), cost(512, 0, 0.2, 0.0001), 1e-6);
}

TEST(PrefillRate, takes_one_depth_for_what_every_depth_costs) {
    PrefillRate rate;
    for (int i = 0; i < 3; ++i) rate.note(100, 0, 20);
    EXPECT_NEAR(rate.ms(10, 0), 2, 1e-9);
    EXPECT_NEAR(rate.ms(10, 4000), 2, 1e-9);
}

TEST(PrefillRate, forgets_a_machine_that_was_slower_then) {
    PrefillRate rate;
    for (int i = 0; i < 10; ++i) rate.note(100, 0, 200);
    for (int i = 0; i < 300; ++i) rate.note(100, 0, 20);
    EXPECT_NEAR(rate.ms(100, 0), 20, 1);
}

TEST(PrefillRate, is_never_negative_and_never_less_at_a_greater_depth) {
    PrefillRate rate;
    for (uint32_t i = 0; i < 50; ++i) {
        rate.note(1 + i * 37 % 512, i * 911 % 8000, i * 131 % 97);
        double before = 0;
        for (uint32_t depth = 0; depth < 8192; depth += 512) {
            EXPECT_GE(rate.ms(32, depth), before);
            before = rate.ms(32, depth);
        }
    }
}

}  // namespace
}  // namespace kvik
