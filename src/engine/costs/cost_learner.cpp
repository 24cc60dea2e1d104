#include "engine/costs/cost_learner.h"

#include <utility>

namespace kvik {

CostLearner::CostLearner(Calibrate mode, std::string folder, StepCostsKey key)
    : mode_(mode),
      folder_(std::move(folder)),
      key_(std::move(key)),
      is_wanted_(mode != Calibrate::off) {}

std::optional<StepCosts> CostLearner::find(const Measure& measure) {
    if (mode_ == Calibrate::off) return std::nullopt;
    const std::optional<StepCosts> found =
        mode_ == Calibrate::on ? read_step_costs(folder_, key_) : measure([] { return false; });
    if (!found) return std::nullopt;
    if (mode_ == Calibrate::fresh) keep_step_costs(folder_, key_, *found);
    note(*found);
    return found;
}

std::optional<StepCosts> CostLearner::learn(const Measure& measure,
                                            const std::function<bool()>& must_stop) {
    bool was_stopped = false;
    const std::optional<StepCosts> learnt = measure([&] { return was_stopped = must_stop(); });
    if (learnt) {
        keep_step_costs(folder_, key_, *learnt);
        note(*learnt);
    } else if (!was_stopped) {
        is_wanted_ = false;  // steps cannot be measured here
    }
    return learnt;
}

void CostLearner::note(const StepCosts& costs) {
    is_wanted_ = false;
    const std::lock_guard lock(mutex_);
    costs_ = costs;
}

std::optional<StepCosts> CostLearner::costs() const {
    const std::lock_guard lock(mutex_);
    return costs_;
}

}  // namespace kvik
