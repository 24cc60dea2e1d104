#include "cli/bench_limits.h"

#include <gtest/gtest.h>

namespace kvik::cli {
namespace {

constexpr Ceilings kCeilings = {.read_bytes_per_s = {.one = 1, .all = 1000},
                                .int8_ops_per_s = {.one = 1, .all = 4000},
                                .f32_ops_per_s = {.one = 1, .all = 500}};

TEST(BenchLimits, reading_binds_while_it_takes_longer_than_multiplying) {
    const Limit limit = limit_of({.read_bytes = 2000, .int8_ops = 4000}, kCeilings);
    EXPECT_DOUBLE_EQ(limit.ms, 2000);
    EXPECT_EQ(limit.name, "read");
}

TEST(BenchLimits, products_of_both_kinds_wait_for_each_other) {
    const Limit limit = limit_of({.read_bytes = 2000, .int8_ops = 8000, .f32_ops = 500}, kCeilings);
    EXPECT_DOUBLE_EQ(limit.ms, 3000);
    EXPECT_EQ(limit.name, "int8");
}

TEST(BenchLimits, the_longer_kind_of_product_gives_the_name) {
    EXPECT_EQ(limit_of({.int8_ops = 100, .f32_ops = 100}, kCeilings).name, "f32");
}

}  // namespace
}  // namespace kvik::cli
