// StepScheduler: decides which tokens of which sequences the next step computes, and frees blocks
// until the plan fits.
//
// Use     schedule() first prepares the sequences (frees blocks behind windows, forks beams), then
//         asks the pure planner (sched/scheduler.h), then frees blocks and plans again if the
//         oldest request is short of them.
// Owner   the plan; borrows the context.
// Threads the engine thread.
// Cost    O(sequences) per plan, one plan per time that blocks are freed; after the first steps it
//         allocates only when beams are restored.
// Invariant a step computes at least one token of the oldest admitted request.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/loop/step_data.h"
#include "sched/scheduler.h"

namespace kvik {

class StepScheduler {
  public:
    explicit StepScheduler(const StepContext& context);

    // Later plans keep the pace of decoding sequences by these costs.
    void use_costs(const StepCosts& costs) { costs_ = costs; }
    // One of `requests` must be admitted. The result is valid until the next call.
    ScheduledStep schedule(const Requests& requests);
    uint64_t n_preemptions() const { return n_preemptions_; }

  private:
    void prepare_sequences(const Requests& requests);
    void collect_sequences(const Requests& requests);
    void plan();
    bool make_room();
    void preempt(RequestState& state);

    const StepContext& context_;
    std::optional<StepCosts> costs_;
    std::vector<ScheduledSequence> sequences_;  // by age of their requests
    std::vector<SequenceView> views_;           // [i]: of sequences_[i]
    StepPlan plan_;
    uint64_t n_preemptions_ = 0;
};

}  // namespace kvik
