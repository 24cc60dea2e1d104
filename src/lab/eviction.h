// The eviction experiment: each policy on each trace, with caches of several sizes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lab/replay.h"
#include "lab/report.h"

namespace kvik::lab {

struct EvictionOptions {
    uint64_t seed = 1;
    uint32_t block_tokens = 32;
    std::vector<uint32_t> cache_tokens = {8192, 16384, 32768, 65536, 131072};
    std::function<void(const std::string& what)> progress = nullptr;
};

struct EvictionRun {
    EvictionPolicy policy = EvictionPolicy::lru;
    uint32_t cache_tokens = 0;
    ReplayResult result;
};

struct TraceResult {
    Trace trace;
    TraceFacts facts;
    ReplayResult unlimited;            // nothing is ever evicted
    std::vector<EvictionRun> runs;     // policy by policy, each with the sizes ascending
    std::vector<double> most_percent;  // [cache_tokens] of hits that any policy could reach
};

struct EvictionResult {
    EvictionOptions options;
    std::vector<TraceResult> traces;
};

Result<EvictionResult> run_eviction(const EvictionOptions& options);
Report eviction_report(const EvictionResult& result);
Table eviction_table(const EvictionResult& result);  // for a terminal

}  // namespace kvik::lab
