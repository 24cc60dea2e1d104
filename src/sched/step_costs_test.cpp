#include "sched/step_costs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "support/random_costs.h"

namespace kvik {
namespace {

// a + b rows + depth (c + d rows): bilinear everywhere.
StepCosts bilinear(double a, double b, double c, double d) {
    StepCosts costs;
    for (size_t i = 0; i < StepCosts::kDepths.size(); ++i)
        for (size_t r = 0; r < StepCosts::kTokens.size(); ++r)
            costs.step_ms[i][r] = a + b * StepCosts::kTokens[r] +
                                  StepCosts::kDepths[i] * (c + d * StepCosts::kTokens[r]);
    for (size_t i = 0; i < StepCosts::kChunks.size(); ++i)
        costs.chunk_ms[i] = a + b * StepCosts::kChunks[i];
    return costs;
}

TEST(StepCosts, say_at_the_points_what_the_table_holds) {
    std::mt19937 random(3);
    for (int round = 0; round < 200; ++round) {
        const StepCosts costs = random_costs(random);
        for (size_t d = 0; d < StepCosts::kDepths.size(); ++d)
            for (size_t r = 0; r < StepCosts::kTokens.size(); ++r)
                ASSERT_EQ(costs.ms(StepCosts::kTokens[r], StepCosts::kDepths[d]),
                          costs.step_ms[d][r]);
        for (size_t i = 0; i < StepCosts::kChunks.size(); ++i)
            ASSERT_EQ(costs.prompt_ms(StepCosts::kChunks[i]), costs.chunk_ms[i]);
    }
}

TEST(StepCosts, are_linear_between_and_beyond_the_points) {
    const StepCosts costs = bilinear(2, 0.25, 1e-3, 1e-4);
    EXPECT_NEAR(costs.ms(3, 0), 2.75, 1e-12);
    EXPECT_NEAR(costs.ms(3, 1024), 2.75 + 1024 * 1.3e-3, 1e-12);
    EXPECT_NEAR(costs.ms(40, 20000), 12 + 20000 * 5e-3, 1e-9);
    EXPECT_NEAR(costs.depth_ms(4, 5000), 5000 * 1.4e-3, 1e-9);
    EXPECT_NEAR(costs.prompt_ms(512), 130, 1e-9);
    EXPECT_EQ(costs.ms(0, 100), 0);
    EXPECT_EQ(costs.prompt_ms(0), 0);
}

TEST(StepCosts, never_fall_with_rows_or_depth_and_are_never_negative) {
    std::mt19937 random(5);
    for (int round = 0; round < 100; ++round) {
        const StepCosts costs = random_costs(random);
        ASSERT_TRUE(costs.is_lawful());
        for (uint32_t depth = 0; depth < 30000; depth += 1 + depth / 3)
            for (uint32_t n = 1; n < 600; n += 1 + n / 5) {
                const double slack = 1e-9 * (1 + costs.ms(n, depth));
                ASSERT_GE(costs.ms(n, depth), 0);
                ASSERT_GE(costs.ms(n + 1, depth), costs.ms(n, depth) - slack);
                ASSERT_GE(costs.ms(n, depth + 100), costs.ms(n, depth) - slack);
                ASSERT_GE(costs.depth_ms(n + 1, depth), costs.depth_ms(n, depth) - slack);
                ASSERT_GE(costs.prompt_ms(n + 1), costs.prompt_ms(n));
            }
    }
}

TEST(StepCosts, know_how_many_rows_come_almost_for_nothing) {
    const StepCosts costs = bilinear(10, 1, 0, 0);  // 11 ms for one row
    EXPECT_EQ(costs.tokens_within(1, 0), 1u);
    EXPECT_EQ(costs.tokens_within(1.37, 0), 5u);
    EXPECT_EQ(costs.tokens_within(100, 0), 16u);
}

TEST(StepCosts, that_break_the_law_are_known) {
    const StepCosts lawful = bilinear(1, 1, 1e-3, 1e-4);
    ASSERT_TRUE(lawful.is_lawful());
    const auto broken = [&](void (*change)(StepCosts&)) {
        StepCosts costs = lawful;
        change(costs);
        return !costs.is_lawful();
    };
    EXPECT_TRUE(broken([](StepCosts& c) { c.step_ms[0][0] = -1; }));
    EXPECT_TRUE(broken([](StepCosts& c) { c.step_ms[0][2] = 0.5; }));
    EXPECT_TRUE(broken([](StepCosts& c) { c.step_ms[1][5] = 1; }));
    EXPECT_TRUE(broken([](StepCosts& c) { c.step_ms[2][3] = std::nan(""); }));
    EXPECT_TRUE(
        broken([](StepCosts& c) { c.step_ms[2][5] = std::numeric_limits<double>::infinity(); }));
    EXPECT_TRUE(broken([](StepCosts& c) { c.step_ms[2][0] += 100; }));  // crosses beyond 8192
    EXPECT_TRUE(broken([](StepCosts& c) { c.chunk_ms[2] = 0; }));
    EXPECT_TRUE(broken([](StepCosts& c) { c.chunk_ms[1] = std::nan(""); }));
}

}  // namespace
}  // namespace kvik
