#include "cli/bench_sweep.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace kvik::cli {
namespace {

struct Run {
    double ms = 0;
    Limit limit;

    double percent() const { return 100 * limit.ms / ms; }
};
using Rounds = std::vector<Run>;  // of one point

bool is_sweep_of_widths(BenchTest test) {
    return test == BenchTest::rows || test == BenchTest::streams;
}

// Rows: how much longer the wider step takes; the same for a depth. Streams: how many times the
// tokens of one stream come out of them together.
double ratio(const BenchWhat& what, const Run& run, const BenchWhat& base, const Run& base_run) {
    if (what.test != BenchTest::streams) return run.ms / base_run.ms;
    return (what.n_tokens / run.ms) / (base.n_tokens / base_run.ms);
}

// What disturbs a measurement makes it less.
Ceilings better(Ceilings a, const Ceilings& b) {
    a.read_bytes_per_s.all = std::max(a.read_bytes_per_s.all, b.read_bytes_per_s.all);
    a.int8_ops_per_s.all = std::max(a.int8_ops_per_s.all, b.int8_ops_per_s.all);
    a.f32_ops_per_s.all = std::max(a.f32_ops_per_s.all, b.f32_ops_per_s.all);
    return a;
}

Measured measured_of(const BenchWhat& what, Rounds rounds) {
    std::vector<double> times;
    for (const Run& run : rounds) times.push_back(run.ms);
    // The ceiling that binds may change with the memory's speed: the median run names it.
    const auto middle = rounds.begin() + static_cast<std::ptrdiff_t>(rounds.size() / 2);
    std::nth_element(rounds.begin(), middle, rounds.end(),
                     [](const Run& a, const Run& b) { return a.percent() < b.percent(); });
    return {.what = what,
            .n_runs = static_cast<uint32_t>(rounds.size()),
            .ms = spread_of(std::move(times)),
            .percent = middle->percent(),
            .of = middle->limit.name};
}

}  // namespace

Spread spread_of(std::vector<double> values) {
    KVIK_CHECK(!values.empty(), "a spread is of something");
    std::sort(values.begin(), values.end());
    const size_t half = values.size() / 2;
    const double p50 =
        values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
    return {p50, values.front(), values.back()};
}

std::optional<size_t> base_of(std::span<const BenchPoint> points, size_t i) {
    const BenchWhat& what = points[i].what;
    const bool by_width = is_sweep_of_widths(what.test);
    const auto key = [&](const BenchWhat& w) { return by_width ? w.rows * w.streams : w.depth; };
    size_t base = i;
    uint32_t n_alike = 0;
    for (size_t j = 0; j < points.size(); ++j) {
        const BenchWhat& other = points[j].what;
        const bool is_like = by_width ? other.depth == what.depth : other.n == what.n;
        if (other.test != what.test || !is_like) continue;
        ++n_alike;
        if (key(other) < key(points[base].what)) base = j;
    }
    if (n_alike < 2) return std::nullopt;
    return base;
}

Result<std::vector<Measured>> measure_by_turns(std::span<const BenchPoint> points,
                                               uint32_t n_rounds, const SweepHooks& hooks) {
    std::vector<Rounds> runs(points.size());
    std::vector<size_t> order(points.size());
    std::iota(order.begin(), order.end(), size_t{0});
    Ceilings before = hooks.ceilings();
    for (uint32_t round = 0; round < n_rounds; ++round) {
        for (const size_t i : order) {
            if (hooks.starts) hooks.starts(points[i].what, round);
            KVIK_TRY(const double ms, points[i].run_ms());
            const Ceilings after = hooks.ceilings();
            runs[i].push_back({ms, limit_of(points[i].what.work, better(before, after))});
            before = after;
        }
        std::reverse(order.begin(), order.end());
    }
    std::vector<Measured> all;
    for (size_t i = 0; i < points.size(); ++i) {
        all.push_back(measured_of(points[i].what, runs[i]));
        const auto base = base_of(points, i);
        if (!base) continue;
        std::vector<double> ratios;
        for (uint32_t round = 0; round < n_rounds; ++round)
            ratios.push_back(
                ratio(points[i].what, runs[i][round], points[*base].what, runs[*base][round]));
        all.back().x1 = spread_of(std::move(ratios));
    }
    return all;
}

}  // namespace kvik::cli
