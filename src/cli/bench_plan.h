// BenchPlan: what `kvik bench` measures, from its flags.
//
// Invariant a test is measured if --test names it; without --test, if its own flag is given (-p: pp,
//         -n: tg, -b: rows and streams); without any of these, every test is. 0 tokens and no
//         widths leave a test out in any case. --profile has steps of one row unless -b is given.
#pragma once

#include <cstdint>
#include <vector>

#include "cli/flags/bench_flags.h"
#include "kvik/kvik.h"
#include "model/model.h"

namespace kvik::cli {

struct BenchPlan {
    std::vector<uint32_t> prompts;        // tokens of a prompt, ascending
    std::vector<uint32_t> decodes;        // tokens that one sequence decodes, ascending
    uint32_t n_stream_tokens = 0;         // tokens that each of several decodes
    std::vector<uint32_t> rows, streams;  // widths
    std::vector<uint32_t> depths;         // ascending
    uint32_t n_runs = 0;

    uint32_t most_rows() const;
    uint32_t most_streams() const;
    uint32_t deepest() const { return depths.back(); }
    bool has_requests() const { return !prompts.empty() || !decodes.empty() || !streams.empty(); }
};

// Errors: nothing to measure.
Result<BenchPlan> plan_bench(const BenchOptions& options);

// Positions that the tests need, or --ctx if that asks for more.
// Errors: --ctx or the model has fewer.
Result<uint32_t> context_for(const BenchPlan& plan, const EngineOptions& engine,
                             const ModelSpec& model);

}  // namespace kvik::cli
