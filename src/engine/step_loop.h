// StepLoop: the step loop of an engine, without its thread. One step: take from the queue, admit,
// plan, forward, commit, pick tokens, publish, end what has ended.
//
// Owner   the KV cache, the requests and all memory of a step; borrows model, tokenizer and queue.
// Threads all but cache_stats are one thread's; that may be called from any.
// Cost    a step that only decodes allocates nothing of its own; delivering events may
//         (stream_channel.h), a request's start and end do.
// Invariant while a request waits or runs, a step moves the oldest. A cancelled one ends in
//         the next step.
// Errors  a forward that fails is run again for each sequence alone: only those that fail end.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "engine/batch_buffer.h"
#include "engine/block_census.h"
#include "engine/engine_settings.h"
#include "engine/kv_cache.h"
#include "engine/logit_notes.h"
#include "engine/prompt_logprobs.h"
#include "engine/request_queue.h"
#include "engine/request_state.h"
#include "sample/sampler.h"
#include "sched/step_plan.h"

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
    uint64_t n_computed_tokens = 0;  // computed, of prompts and streams
    uint64_t n_hit_tokens = 0;       // adopted instead
    uint64_t n_disk_tokens = 0;      // of these, read from disk
    double saved_ms = 0;             // what computing those would have taken
    uint64_t n_preemptions = 0;
};

class StepLoop {
  public:
    static Result<std::unique_ptr<StepLoop>> open(StepLoopParts parts,
                                                  const EngineSettings& settings);

    bool step();                                      // false: nothing waits and nothing runs
    bool poll_disk() { return cache_->poll_disk(); }  // true: something is still being written
    void end_all();  // everything under way and in the queue is cancelled

    // Plans by these from now on.
    void use_costs(const StepCosts& costs) { costs_ = costs; }
    // Runs steps of its own; nothing may be under way. Nothing: it was stopped, or cannot.
    std::optional<StepCosts> measure_costs(const std::function<bool()>& must_stop);

    KvCache& cache() { return *cache_; }  // for tasks of the queue, on the engine thread
    CacheStats cache_stats() const;
    const StepCounts& counts() const { return counts_; }
    size_t n_requests() const { return requests_.size(); }
    void check_invariants() const;

  private:
    // What takes part in a step: the sequence of a request, or one of its beams.
    struct ScheduledSequence {
        RequestState* state;
        Sequence* sequence;
        std::optional<uint32_t> beam;
    };

    StepLoop(StepLoopParts parts, const EngineSettings& settings, std::unique_ptr<KvCache> cache,
             std::unique_ptr<Scratch> scratch);

    // step_loop.cpp
    void run_tasks();
    void take();
    std::unique_ptr<RequestState> make_state(QueuedRequest queued);
    void end_cancelled();
    void sweep();
    void summarise(RequestState& state);
    void release(RequestState& state);
    void note_stats();
    // admission.cpp
    void admit();
    bool admit(RequestState& state);
    PrefixHit look_up(RequestState& state);
    void note_start(RequestState& state, const PrefixHit& hit);
    bool waits_for_in_flight_prefix(const RequestState& state);
    void recall_logprobs(RequestState& state);
    bool fits(const RequestState& state, const PrefixHit& hit);
    // plan_step.cpp
    void plan();
    void line_up(RequestState& state);
    void preempt(RequestState& state);
    // compute.cpp
    void compute();
    void publish_on_the_way(RequestState& state);
    void keep(RequestState& state);
    void forward_alone(std::span<const PlannedTokens> rows);
    struct LogitsRows {
        uint32_t first, n;
    };
    Result<void> forward(LogitsRows to);
    void take_logits(const ScheduledSequence& scheduled, LogitsRows rows);
    void take_logits(RequestState& state, LogitsRows rows);
    void take_prompt_logits(RequestState& state, LogitsRows rows);
    void pick(RequestState& state, std::span<const float> row, const LogitTiles& tiles);
    // step_beams.cpp
    void give_beams(RequestState& state, GenerateRequest& request);
    void begin_beams(RequestState& state, const RequestBeams::Row& row);
    void note_beams(RequestState& state, const Result<void>& taken);
    std::vector<Beam> tell_beams(RequestState& state);
    void release_beams(RequestState& state);
    void count_shared_blocks();

    std::span<float> logits_rows(uint64_t first, uint64_t n) {
        return {logits_.get() + first * vocab_size_, n * vocab_size_};
    }

    StepLoopParts parts_;
    EngineSettings settings_;
    uint32_t vocab_size_;
    std::unique_ptr<KvCache> cache_;
    std::unique_ptr<Scratch> scratch_;
    std::vector<std::unique_ptr<RequestState>> requests_;  // by arrival, at most max_sequences

    std::vector<QueuedRequest> taken_, gone_;
    std::vector<EngineTask> tasks_;
    std::vector<ScheduledSequence> scheduled_;  // what views_ and plan_ speak of
    std::vector<SequenceView> views_;
    StepPlan plan_;
    std::optional<StepCosts> costs_;
    BatchBuffer batch_;
    std::unique_ptr<float[]> logits_;  // [n_logits_rows, vocab_size]
    LogitNotes notes_;
    PromptLogprobs prompt_logprobs_;
    SampleScratch sample_scratch_;
    BlockCensus census_;

    StepCounts counts_;
    mutable std::mutex stats_mutex_;
    CacheStats stats_;
};

}  // namespace kvik
