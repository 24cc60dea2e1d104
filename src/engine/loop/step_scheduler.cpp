#include "engine/loop/step_scheduler.h"

#include "base/check.h"

namespace kvik {

StepScheduler::StepScheduler(const StepContext& context) : context_(context) {
    sequences_.reserve(context.settings.max_sequences);
    views_.reserve(context.settings.max_sequences);
    plan_.tokens.reserve(context.settings.max_sequences);
}

ScheduledStep StepScheduler::schedule(const Requests& requests) {
    prepare_sequences(requests);
    do {
        collect_sequences(requests);
        plan();
    } while (plan_.n_blocks_short > 0 && make_room());
    KVIK_CHECK(!plan_.tokens.empty(), "while a request waits or runs, a step moves the oldest one");
    return {plan_.tokens, sequences_};
}

// Frees blocks that no window reaches any more, and gives beams that lost their KV that of another
// sequence with the same tokens.
void StepScheduler::prepare_sequences(const Requests& requests) {
    for (const auto& state : requests) {
        if (!state->is_admitted) continue;
        state->sequence.table().release_behind_windows();
        if (!state->computes_beams()) continue;
        RequestBeams& beams = *state->beams;
        beams.restore(state->sequence);
        for (uint32_t i = 0; i < beams.n_beams(); ++i)
            beams.sequence(i).table().release_behind_windows();
    }
}

// A beam without KV is not computed: it forks from another sequence when that has come far enough.
void StepScheduler::collect_sequences(const Requests& requests) {
    sequences_.clear();
    views_.clear();
    for (const auto& state : requests) {
        if (!state->is_admitted) continue;
        if (!state->computes_beams()) {
            sequences_.push_back({state.get(), &state->sequence, std::nullopt});
            views_.push_back(state->sequence.view(state->want_logits()));
            continue;
        }
        RequestBeams& beams = *state->beams;
        for (uint32_t i = 0; i < beams.n_beams(); ++i) {
            if (beams.sequence(i).n_computed() == 0) continue;
            sequences_.push_back({state.get(), &beams.sequence(i), i});
            views_.push_back(beams.view(state->sequence, i));
        }
    }
}

void StepScheduler::plan() {
    const EngineSettings& settings = context_.settings;
    plan_step(views_,
              {.n_tokens = settings.ubatch,
               .n_logits_rows = settings.n_logits_rows,
               .n_free_blocks = context_.cache.n_free(),
               .block_tokens = context_.cache.block_tokens(),
               .n_groups = context_.cache.view().spec.n_groups(),
               .costs = costs_ ? &*costs_ : nullptr},
              plan_);
}

// Frees blocks for a plan that is short of them: cached blocks that no sequence uses; then, if the
// oldest request would stand still, blocks that a disk write holds (it waits for the write), blocks
// of which only the cache wants to keep a copy, and last all blocks of the youngest request.
// False: the plan stands as it is.
bool StepScheduler::make_room() {
    KvCache& cache = context_.cache;
    if (cache.evict(plan_.n_blocks_short) > 0) return true;
    if (!plan_.starved) return false;
    if (cache.release_written()) return true;
    if (cache.release_shared() > 0) return true;
    if (!plan_.preempt) return false;
    RequestState& youngest = *sequences_[*plan_.preempt].request;
    // Of one request's beams those that have blocks are computed first.
    if (&youngest == sequences_[*plan_.starved].request) return false;
    preempt(youngest);
    return true;
}

// Publishes what was computed, so that the request finds it again as long as it is not evicted.
void StepScheduler::preempt(RequestState& state) {
    ++n_preemptions_;
    if (state.cache == CachePolicy::reuse)
        context_.cache.publish(state.ns, state.sequence, state.sequence.n_computed());
    state.sequence.give_up();
    if (state.beams) state.beams->give_up();
    state.is_admitted = false;
}

}  // namespace kvik
