// CostLearner: finds out what a step costs here: reads it from a file that an earlier run wrote, or has
// it measured in a pause and writes the file (docs/decisions/0007).
//
// Use     find() once while the engine opens; then, whenever the engine is idle and is_wanted(),
//         learn().
// Owner   what is known; the callers run the steps.
// Threads find and learn: the thread that opens the engine, then the engine thread. costs() may be
//         called from any thread.
// Cost    find reads a small file, or under Calibrate::fresh measures (calibrate.h says how long);
//         learn measures.
// Errors  none: what cannot be read, measured or written stays unknown.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "engine/costs/step_costs_store.h"
#include "kvik/kvik.h"

namespace kvik {

class CostLearner {
  public:
    // Runs steps and times them. Gives up and returns nothing when must_stop() says so, or when steps
    // cannot be timed.
    using Measure = std::function<std::optional<StepCosts>(const std::function<bool()>& must_stop)>;

    // mode off: nothing is found or learnt. `folder`: empty: nothing is read or written.
    CostLearner(Calibrate mode, std::string folder, StepCostsKey key);

    std::optional<StepCosts> find(const Measure& measure);
    std::optional<StepCosts> learn(const Measure& measure, const std::function<bool()>& must_stop);
    // True: the costs are not known, and learn() may find them.
    bool is_wanted() const { return is_wanted_; }
    std::optional<StepCosts> costs() const;  // nothing: not known (yet)

  private:
    void note(const StepCosts& costs);

    Calibrate mode_;
    std::string folder_;
    StepCostsKey key_;
    bool is_wanted_;
    mutable std::mutex mutex_;
    std::optional<StepCosts> costs_;
};

}  // namespace kvik
