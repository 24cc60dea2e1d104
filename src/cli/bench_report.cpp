#include "cli/bench_report.h"

#include <fmt/format.h>

#include "cli/json.h"

namespace kvik::cli {

std::string bench_head() {
    return fmt::format("{:8}{:>7}{:>6}{:>9}{:>7}{:>11}{:>12}{:>8}{:>6}{:>6} of limit\n", "test",
                       "n", "rows", "streams", "depth", "tokens/s", "ms", "ratio", "runs", "%");
}

std::string bench_line(const Measured& m) {
    const BenchWhat& what = m.what;
    return fmt::format("{:8}{:7}{:6}{:9}{:7}{:11.1f}{:12.3f}{:>8}{:6}{:6.0f} {}\n",
                       name_of(what.test), what.n, what.rows, what.streams, what.depth,
                       m.tokens_per_s(), m.ms.p50, m.x1 ? fmt::format("{:.2f}", m.x1->p50) : "-",
                       m.n_runs, m.percent, m.of == "read" ? "memory" : m.of);
}

std::string bench_json(std::span<const Measured> all) {
    Json list = Json::array();
    for (const Measured& m : all) {
        Json row = {{"test", name_of(m.what.test)},
                    {"n", m.what.n},
                    {"rows", m.what.rows},
                    {"streams", m.what.streams},
                    {"depth", m.what.depth},
                    {"threads", m.what.n_threads},
                    {"tokens_per_s", m.tokens_per_s()},
                    {"ms", m.ms.p50},
                    {"ms_min", m.ms.min},
                    {"ms_max", m.ms.max},
                    {"runs", m.n_runs},
                    {"percent", m.percent},
                    {"of", m.of}};
        if (m.x1) {
            row["x1"] = m.x1->p50;
            row["x1_min"] = m.x1->min;
            row["x1_max"] = m.x1->max;
        }
        list.push_back(std::move(row));
    }
    return to_line(list);
}

std::string bench_progress(const BenchWhat& what, uint32_t round, uint32_t n_rounds) {
    const bool by_width = what.test == BenchTest::rows || what.test == BenchTest::streams;
    return fmt::format("round {} of {}: {} {} at depth {}", round + 1, n_rounds, name_of(what.test),
                       by_width ? what.rows * what.streams : what.n, what.depth);
}

}  // namespace kvik::cli
