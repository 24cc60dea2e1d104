// calibrate: which steps are timed, in which order, and for how long, to make a table of costs.
//
// Use     `time` runs one step and says how long it took; nothing when it must not go on (somebody
//         waits, a step fails): then there is no table.
// Cost    kBudgetMs, or kBudgetSteps steps of one row where that is more, and one step over it at
//         most; of a model so slow that the budget is soon gone at least three points. The points
//         that tell most come first; what is left out is filled in (measured_steps.h).
// Invariant no clock but the one that is given. A depth beyond n_depth is measured at n_depth and
//         scaled if that is its better part, else left out.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "sched/step_costs.h"

namespace kvik {

inline constexpr double kBudgetMs = 100;
inline constexpr double kBudgetSteps = 16;

// A step of n rows of one sequence after `depth` positions; the last n_logits_rows want logits.
struct StepPoint {
    uint32_t n_tokens = 1;
    uint32_t depth = 0;
    uint32_t n_logits_rows = 1;
};

struct CalibrationLimits {
    uint32_t n_tokens = 0;       // most in a step
    uint32_t n_logits_rows = 0;  // most of them with logits
    uint32_t n_depth = 0;        // most positions before a step's rows
};

using TimeStep = std::function<std::optional<double>(const StepPoint&)>;

std::optional<StepCosts> calibrate(const CalibrationLimits& limits, const TimeStep& time,
                                   const std::function<double()>& now_ms);

}  // namespace kvik
