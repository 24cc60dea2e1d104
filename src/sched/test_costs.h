// Costs for tests: lawful, otherwise anything.
#pragma once

#include <functional>

#include "sched/step_costs.h"

namespace kvik {

// random(): any 32 bits.
inline StepCosts random_costs(const std::function<uint32_t()>& random) {
    const auto some_ms = [&] { return random() % 3 ? random() % 1000 / 50.0 : 0.0; };
    StepCosts costs;
    StepCosts::Row added{};  // what each depth adds to the one before
    for (size_t d = 0; d < StepCosts::kDepths.size(); ++d) {
        double more = 0;
        for (size_t r = 0; r < StepCosts::kRows.size(); ++r) {
            added[r] = more += some_ms();
            costs.step_ms[d][r] = added[r] + (d > 0 ? costs.step_ms[d - 1][r] : 0);
        }
    }
    double so_far = 0;
    for (double& ms : costs.chunk_ms) ms = so_far += 4 * some_ms();
    return costs;
}

}  // namespace kvik
