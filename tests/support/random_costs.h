// random_costs: step costs for tests, which satisfy the invariant of sched/step_costs.h and are
// otherwise random.
#pragma once

#include <cstdint>

#include "sched/step_costs.h"

namespace kvik {

// random(): any 32 bits.
template <class Random>
StepCosts random_costs(Random&& random) {
    const double most_ms = random() % 2 ? 20 : 2000;
    const auto some_ms = [&] {
        return random() % 3 ? static_cast<double>(random() % 1000) * most_ms / 1000 : 0.0;
    };
    StepCosts costs;
    StepCosts::Row added{};  // what each depth adds to the one before
    for (size_t d = 0; d < StepCosts::kDepths.size(); ++d) {
        double more = 0;
        for (size_t r = 0; r < StepCosts::kTokens.size(); ++r) {
            added[r] = more += some_ms();
            costs.step_ms[d][r] = added[r] + (d > 0 ? costs.step_ms[d - 1][r] : 0);
        }
    }
    double so_far = 0;
    for (double& ms : costs.chunk_ms) ms = so_far += 4 * some_ms();
    return costs;
}

}  // namespace kvik
