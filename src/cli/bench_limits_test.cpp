#include "cli/bench_limits.h"

#include <gtest/gtest.h>

namespace kvik::cli {
namespace {

constexpr ModelNeeds kNeeds = {
    .weight_bytes = 3000, .step_bytes = 2000, .quantised_macs = 500, .float_macs = 100};

Ceilings ceilings() {
    return {.read_bytes_per_s = {.one = 1, .all = 1000},
            .int8_ops_per_s = {.one = 1, .all = 4000},
            .f32_ops_per_s = {.one = 1, .all = 1000}};
}

TEST(BenchLimits, a_step_reads_its_weights_once) {
    const BenchLimits limits(kNeeds, ceilings(), Act::int8);
    EXPECT_DOUBLE_EQ(limits.of_steps(3).ms, 6000);
    EXPECT_EQ(limits.of_steps(3).name, "read");
}

TEST(BenchLimits, a_prompt_multiplies_each_token_with_quantised_and_other_weights) {
    const BenchLimits limits(kNeeds, ceilings(), Act::int8);
    EXPECT_DOUBLE_EQ(limits.of_prompt(2).ms, 2 * (250 + 200));
    EXPECT_EQ(limits.of_prompt(2).name, "int8");
}

TEST(BenchLimits, without_int8_all_of_it_is_f32) {
    EXPECT_DOUBLE_EQ(BenchLimits(kNeeds, ceilings(), Act::f32).of_prompt(1).ms, 1200);
    EXPECT_EQ(BenchLimits(kNeeds, ceilings(), Act::f32).of_prompt(1).name, "f32");
    const ModelNeeds floats = {
        .weight_bytes = 0, .step_bytes = 0, .quantised_macs = 0, .float_macs = 50};
    EXPECT_EQ(BenchLimits(floats, ceilings(), Act::int8).of_prompt(1).name, "f32");
}

}  // namespace
}  // namespace kvik::cli
