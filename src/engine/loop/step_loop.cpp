#include "engine/loop/step_loop.h"

#include <utility>

#include "base/check.h"
#include "engine/costs/calibrate.h"

namespace kvik {

Result<std::unique_ptr<StepLoop>> StepLoop::open(StepLoopParts parts,
                                                 const EngineSettings& settings) {
    KVIK_TRY(std::unique_ptr<KvCache> cache,
             KvCache::open(settings, parts.model.spec().vocab_size));
    KVIK_TRY(std::unique_ptr<Scratch> scratch,
             parts.model.make_scratch(settings.scratch_limits(), parts.pool));
    return std::unique_ptr<StepLoop>(
        new StepLoop(std::move(parts), settings, std::move(cache), std::move(scratch)));
}

StepLoop::StepLoop(StepLoopParts parts, const EngineSettings& settings,
                   std::unique_ptr<KvCache> cache, std::unique_ptr<Scratch> scratch)
    : parts_(std::move(parts)),
      settings_(settings),
      cache_(std::move(cache)),
      context_{.settings = settings_,
               .cache = *cache_,
               .tokenizer = parts_.tokenizer,
               .end_tokens = parts_.end_tokens,
               .now_ms = parts_.now_ms},
      picker_(*cache_, parts_.now_ms, parts_.model.spec().vocab_size),
      prompt_logprobs_(settings.prompt_logprobs_bytes),
      census_(cache_->n_blocks()),
      intake_(context_, parts_.queue),
      admission_(context_, picker_, prompt_logprobs_),
      scheduler_(context_),
      executor_(context_, parts_.model, parts_.pool, std::move(scratch)),
      acceptance_(context_, picker_, prompt_logprobs_),
      emission_(context_) {
    requests_.reserve(settings.max_sequences);
    update_stats();
}

bool StepLoop::step() {
    intake_.take_requests(requests_);
    cache_->set_clock(parts_.now_ms());
    cache_->poll_disk();
    if (intake_.run_tasks()) update_stats();
    mark_cancelled();
    admission_.admit(requests_);
    emit();  // an answer of one token to a cached prompt has ended
    if (requests_.empty()) return false;
    compute_step();
    emit();
    update_stats();
    return true;
}

void StepLoop::compute_step() {
    const ScheduledStep step = scheduler_.schedule(requests_);
    executor_.reserve(step);
    count_group_blocks(requests_, census_);
    const StepLogits logits = executor_.execute(step);
    acceptance_.accept(step, logits);
}

void StepLoop::mark_cancelled() {
    for (const auto& state : requests_) {
        if (state->channel->cancelled()) state->end = FinishReason::cancelled;
    }
}

void StepLoop::emit() {
    emission_.emit(requests_, [this] { update_stats(); });
}

void StepLoop::end_all() {
    for (intake_.take_requests(requests_); !requests_.empty(); intake_.take_requests(requests_)) {
        for (const auto& state : requests_) state->end = FinishReason::cancelled;
        emit();
    }
    cache_->finish_disk();
}

std::optional<StepCosts> StepLoop::measure_costs(const std::function<bool()>& must_stop) {
    KVIK_CHECK(requests_.empty(), "no request is under way while steps are measured");
    std::optional<StepTimer> timer = executor_.open_timer(must_stop);
    if (!timer) return std::nullopt;
    return calibrate(
        timer->limits(), [&](const StepPoint& point) { return timer->time(point); }, parts_.now_ms);
}

// ---- what others read ----

StepCounts StepLoop::counts() const {
    return {.n_steps = executor_.n_steps(),
            .n_computed_tokens = acceptance_.n_computed_tokens(),
            .admission = admission_.counts(),
            .n_preemptions = scheduler_.n_preemptions()};
}

void StepLoop::update_stats() {
    const PrefixStats tree = cache_->stats();
    const StepCounts counts = this->counts();
    const std::lock_guard lock(stats_mutex_);
    stats_ = {.n_blocks = cache_->n_blocks(),
              .n_free_blocks = cache_->n_free(),
              .block_bytes = cache_->block_bytes(),
              .n_cached_tokens = tree.cached_tokens,
              .n_hit_tokens = counts.admission.n_hit_tokens,
              .n_computed_tokens = counts.n_computed_tokens,
              .n_evicted_blocks = tree.evicted_blocks,
              .n_disk_tokens = counts.admission.n_disk_tokens,
              .saved_ms = counts.admission.saved_ms,
              .n_evicted_window_blocks = tree.evicted_window_blocks,
              .n_forgotten_blocks = tree.forgotten_blocks,
              .n_preemptions = counts.n_preemptions,
              .n_offloaded = tree.n_offloaded,
              .n_pinned_blocks = tree.pinned_blocks,
              .disk_bytes = cache_->disk_stats().n_bytes};
}

CacheStats StepLoop::cache_stats() const {
    const std::lock_guard lock(stats_mutex_);
    return stats_;
}

void StepLoop::check_invariants() const {
    uint64_t n_held = 0;
    for (const auto& state : requests_) {
        uint64_t n_of_request = 0;
        state->for_each_sequence([&](const Sequence& sequence) {
            sequence.check_invariants();
            n_of_request += sequence.table().n_blocks();
        });
        n_held += n_of_request;
        KVIK_CHECK(state->is_admitted || n_of_request == 0,
                   "a request that is not admitted holds no block");
    }
    cache_->check_invariants(n_held);
}

}  // namespace kvik
