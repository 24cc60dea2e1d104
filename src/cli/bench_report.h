// BenchReport: what `kvik bench` measured, as a table while it goes on or as JSON at the end; and the
// words for a ProgressLine that say where it is.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/bench_sweep.h"

namespace kvik::cli {

// The head of the table, and a line of it.
std::string bench_head();
std::string bench_line(const Measured& measured);
// The list that --json prints; docs/contracts.md names its keys.
std::string bench_json(std::span<const Measured> all);
// "round 2 of 5: streams 8 at depth 512"
std::string bench_progress(const BenchWhat& what, uint32_t round, uint32_t n_rounds);

}  // namespace kvik::cli
