// BenchSweep: tests measured by turns, so that all of them meet the same machine.
//
// Use     a round runs every test once, odd rounds backwards (A B C, C B A, ...). What a machine
//         does to its memory within a round it does to all tests, so a ratio is taken within one.
// Cost    what the tests take; ceilings are asked for before and after each run: the better counts.
// Source  the design is that of a paired comparison in randomised blocks: Fisher 1935, "The Design
//         of Experiments", chapter IV; alternating stands for drawing the order.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cli/bench_limits.h"
#include "cli/bench_plan.h"

namespace kvik::cli {

struct BenchWhat {
    BenchTest test = BenchTest::pp;
    uint32_t n = 0, rows = 1, streams = 1, depth = 0;
    uint32_t n_tokens = 0;  // that one run computes
    uint32_t n_threads = 0;
    Work work = {};  // of one run
};

struct BenchPoint {
    BenchWhat what;
    std::function<Result<double>()> run_ms;
};

struct Spread {
    double p50 = 0, min = 0, max = 0;
};
Spread spread_of(std::vector<double> values);  // at least one

struct Measured {
    BenchWhat what;
    uint32_t n_runs = 0;
    Spread ms;           // of one run
    double percent = 0;  // of the ceiling `of`, the median
    std::string_view of;
    std::optional<Spread> x1 = {};  // against the point of base_of

    double tokens_per_s() const { return what.n_tokens * 1000.0 / ms.p50; }
};

// What a point is held against: the narrowest of its rows or streams at the same depth, pp and tg
// at the least depth. Nothing if that is the point itself and there is no other.
std::optional<size_t> base_of(std::span<const BenchPoint> points, size_t i);

struct SweepHooks {
    std::function<Ceilings()> ceilings;
    std::function<void(const BenchWhat& what, uint32_t round)> starts = {};  // before each run
};
Result<std::vector<Measured>> measure_by_turns(std::span<const BenchPoint> points,
                                               uint32_t n_rounds, const SweepHooks& hooks);

}  // namespace kvik::cli
