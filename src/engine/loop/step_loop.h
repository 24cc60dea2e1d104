// StepLoop: the step loop of an engine, without its thread. A step admits requests, schedules
// tokens, executes the model, accepts what it computed and emits events; each phase is a class of
// its own (ARCHITECTURE.md has the drawing).
//
// Owner   the KV cache, the requests under way and all memory of a step; borrows model, tokenizer
//         and queue.
// Threads cache_stats may be called from any thread, all else from the engine thread.
// Cost    step: one forward of the model. A step that only decodes allocates nothing but in the
//         streams (stream_channel.h); starting and ending a request allocates.
// Errors  a request whose computation fails ends with the error; the others go on.
// Invariant while a request waits or runs, a step computes a token of the oldest. A cancelled
//         request ends in the next step.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/loop/acceptance.h"
#include "engine/loop/admission.h"
#include "engine/loop/emission.h"
#include "engine/loop/intake.h"
#include "engine/loop/step_executor.h"
#include "engine/loop/step_scheduler.h"

namespace kvik {

struct StepLoopParts {
    const Model& model;
    ThreadPool& pool;
    RequestQueue& queue;
    std::function<double()> now_ms;
    const Tokenizer* tokenizer = nullptr;
    std::vector<TokenId> end_tokens;
};

struct StepCounts {
    uint64_t n_steps = 0;
    uint64_t n_computed_tokens = 0;  // of prompts and answers
    AdmissionCounts admission;
    uint64_t n_preemptions = 0;
};

class StepLoop {
  public:
    static Result<std::unique_ptr<StepLoop>> open(StepLoopParts parts,
                                                  const EngineSettings& settings);

    bool step();     // false: no request waits or runs
    void end_all();  // cancels everything under way and in the queue, and finishes disk writes
    // True: something is still being written.
    bool poll_disk() { return cache_->poll_disk(); }

    // Later steps keep the pace of decoding sequences by these costs.
    void use_costs(const StepCosts& costs) { scheduler_.use_costs(costs); }
    // Runs steps of its own to time them, while no request is under way. Nothing: must_stop()
    // returned true, or the steps could not be run.
    std::optional<StepCosts> measure_costs(const std::function<bool()>& must_stop);

    KvCache& cache() { return *cache_; }
    CacheStats cache_stats() const;  // as of the last step
    StepCounts counts() const;
    size_t n_requests() const { return requests_.size(); }
    void check_invariants() const;

  private:
    StepLoop(StepLoopParts parts, const EngineSettings& settings, std::unique_ptr<KvCache> cache,
             std::unique_ptr<Scratch> scratch);
    void mark_cancelled();
    void compute_step();
    void emit();
    void update_stats();

    StepLoopParts parts_;
    EngineSettings settings_;
    std::unique_ptr<KvCache> cache_;  // outlives the requests
    StepContext context_;
    TokenPicker picker_;
    PromptLogprobs prompt_logprobs_;
    BlockCensus census_;
    Intake intake_;
    Admission admission_;
    StepScheduler scheduler_;
    StepExecutor executor_;
    Acceptance acceptance_;
    Emission emission_;
    Requests requests_;  // by arrival, at most max_sequences
    mutable std::mutex stats_mutex_;
    CacheStats stats_;
};

}  // namespace kvik
