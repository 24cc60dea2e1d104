#include "cli/bench_sweep.h"

#include <gtest/gtest.h>

namespace kvik::cli {
namespace {

constexpr Ceilings kCeilings = {.read_bytes_per_s = {.one = 1, .all = 1000},
                                .int8_ops_per_s = {.one = 1, .all = 1000},
                                .f32_ops_per_s = {.one = 1, .all = 1000}};

BenchWhat rows(uint32_t m, uint32_t depth = 0) {
    return {.test = BenchTest::rows, .n = m, .rows = m, .depth = depth, .n_tokens = m};
}

BenchPoint point(
    const BenchWhat& what, std::function<double()> ms = [] { return 1.0; }) {
    return {what, [ms]() -> Result<double> { return ms(); }};
}

std::vector<Measured> measure(const std::vector<BenchPoint>& points, uint32_t n_rounds) {
    auto all = measure_by_turns(points, n_rounds, {.ceilings = [] { return kCeilings; }});
    EXPECT_TRUE(all.has_value());
    return all.value_or(std::vector<Measured>{});
}

TEST(BenchSweep, every_round_runs_every_test_once_there_and_back) {
    std::string order;
    const auto tells = [&](char name) { return [&order, name] { return order += name, 1.0; }; };
    measure({point(rows(1), tells('a')), point(rows(2), tells('b')), point(rows(4), tells('c'))},
            3);
    EXPECT_EQ(order, "abccbaabc");
}

TEST(BenchSweep, a_slow_round_leaves_ratios_alone) {
    double slowness = 1;
    uint32_t n_runs = 0;
    const auto takes = [&](double ms) {
        return [&, ms] {
            slowness = n_runs++ / 2 == 1 ? 10 : 1;  // the second of three rounds
            return ms * slowness;
        };
    };
    const auto all = measure({point(rows(1), takes(2)), point(rows(4), takes(3))}, 3);
    ASSERT_TRUE(all[1].x1.has_value());
    EXPECT_DOUBLE_EQ(all[1].x1->min, 1.5);
    EXPECT_DOUBLE_EQ(all[1].x1->max, 1.5);
    EXPECT_DOUBLE_EQ(all[1].ms.p50, 3);
    EXPECT_DOUBLE_EQ(all[1].ms.max, 30);
}

TEST(BenchSweep, streams_are_held_against_the_tokens_of_one) {
    const BenchWhat one{.test = BenchTest::streams, .n = 8, .streams = 1, .n_tokens = 8};
    const BenchWhat four{.test = BenchTest::streams, .n = 8, .streams = 4, .n_tokens = 32};
    const auto all = measure({point(one, [] { return 8.0; }), point(four, [] { return 16.0; })}, 1);
    EXPECT_DOUBLE_EQ(all[0].x1->p50, 1);
    EXPECT_DOUBLE_EQ(all[1].x1->p50, 2);
}

TEST(BenchSweep, a_width_is_held_against_the_narrowest_at_its_own_depth) {
    const std::vector<BenchPoint> points = {point(rows(1)), point(rows(8)), point(rows(2, 64)),
                                            point(rows(8, 64))};
    EXPECT_EQ(base_of(points, 1), 0u);
    EXPECT_EQ(base_of(points, 3), 2u);
    EXPECT_EQ(base_of(points, 2), 2u);
}

TEST(BenchSweep, a_depth_is_held_against_the_least_one) {
    const BenchWhat near{.test = BenchTest::tg, .n = 8, .depth = 0, .n_tokens = 8};
    const BenchWhat far{.test = BenchTest::tg, .n = 8, .depth = 64, .n_tokens = 8};
    const BenchWhat prompt{.test = BenchTest::pp, .n = 8, .depth = 0, .n_tokens = 8};
    const std::vector<BenchPoint> points = {point(prompt), point(near), point(far)};
    EXPECT_EQ(base_of(points, 2), 1u);
    EXPECT_EQ(base_of(points, 0), std::nullopt);
}

TEST(BenchSweep, a_share_is_of_the_better_ceiling_around_the_run) {
    BenchWhat what = rows(1);
    what.work.read_bytes = 100;
    const std::vector<BenchPoint> points = {point(what, [] { return 200.0; })};
    const std::vector<double> rates = {500, 1000, 10,
                                       2000};  // before, between and after three runs
    size_t n_asked = 0;
    const auto ceilings = [&] { return Ceilings{{1, rates[n_asked++]}, {1, 1}, {1, 1}}; };
    const auto all = measure_by_turns(points, 3, {.ceilings = ceilings});
    ASSERT_TRUE(all.has_value());
    EXPECT_EQ(n_asked, 4u);
    EXPECT_DOUBLE_EQ((*all)[0].percent, 50);  // of 50, 50 and 25
    EXPECT_EQ((*all)[0].of, "read");
}

TEST(BenchSweep, the_median_of_an_even_number_lies_between_the_two_in_the_middle) {
    const Spread spread = spread_of({4, 1, 3, 10});
    EXPECT_DOUBLE_EQ(spread.p50, 3.5);
    EXPECT_DOUBLE_EQ(spread.min, 1);
    EXPECT_DOUBLE_EQ(spread.max, 10);
}

TEST(BenchSweep, a_run_that_fails_ends_it) {
    const std::vector<BenchPoint> points = {
        {rows(1), []() -> Result<double> { return fail(ErrorKind::memory, "full"); }}};
    EXPECT_FALSE(measure_by_turns(points, 2, {.ceilings = [] { return kCeilings; }}).has_value());
}

}  // namespace
}  // namespace kvik::cli
