// bench --profile: where the time of a step goes, part by part.
//
// Shape   decode steps of some widths, with all their logits, and one prefill step with one row of
//         logits, at each depth; a column each. Times are of all workers together over their number,
//         so that the parts add up to the step.
// Cost    what the clock readings of model/step_profile.h cost.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "cache/kv_spec.h"
#include "cli/bench_plan.h"
#include "model/step_profile.h"

namespace kvik::cli {

struct ProfiledStep {
    std::string_view step;  // "decode" or "prefill"
    uint32_t rows = 1, depth = 0;
    uint64_t n_steps = 0;
    double ms = 0;                             // of a step
    std::array<double, kStepParts> part_ms{};  // of a step and a worker, by StepPart
    double between = 0;                        // 0 .. 1: neither a matrix product nor attention
    double barriers = 0;                       // of a step
};

ProfiledStep profiled_step(const StepProfile& profile);  // its numbers; no names

Result<std::vector<ProfiledStep>> profile_steps(const BenchPlan& plan, const EngineOptions& engine,
                                                const Model& model, ThreadPool& pool,
                                                const KvSpec& kv);

// A table a depth, and the time of a barrier at which all arrive at once.
std::string profile_table(std::span<const ProfiledStep> steps, double barrier_ns);
std::string profile_json(std::span<const ProfiledStep> steps, double barrier_ns);

}  // namespace kvik::cli
