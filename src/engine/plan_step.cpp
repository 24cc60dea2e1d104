// StepLoop: what the next step computes, and the room for it.
#include "base/check.h"
#include "engine/step_loop.h"

namespace kvik {

// In the way of a plan: first what nobody needs, then what is on its way to disk (which is waited
// for), then what the tree alone wants to keep, then the youngest sequence.
void StepLoop::plan() {
    for (;;) {
        scheduled_.clear();
        views_.clear();
        for (auto& state : requests_) {
            if (state->is_admitted) line_up(*state);
        }
        plan_step(views_,
                  {.n_tokens = settings_.ubatch,
                   .n_logits_rows = settings_.n_logits_rows,
                   .n_free_blocks = cache_->n_free(),
                   .block_tokens = cache_->block_tokens(),
                   .n_groups = cache_->view().spec.n_groups(),
                   .costs = costs_ ? &*costs_ : nullptr},
                  plan_);
        if (plan_.n_blocks_short == 0) break;
        if (cache_->evict(plan_.n_blocks_short) > 0) continue;
        if (!plan_.starved) break;
        if (cache_->let_go_written()) continue;
        if (cache_->let_go_shared() > 0) continue;
        if (!plan_.preempt) break;
        RequestState& youngest = *scheduled_[*plan_.preempt].state;
        if (&youngest == scheduled_[*plan_.starved].state) break;  // its other beams go first
        preempt(youngest);
    }
    KVIK_CHECK(!plan_.tokens.empty(), "while a request waits or runs, a step moves the oldest one");
}

void StepLoop::line_up(RequestState& state) {
    state.sequence.table().let_go_behind_windows();
    if (!state.computes_beams()) {
        scheduled_.push_back({&state, &state.sequence, std::nullopt});
        views_.push_back(state.sequence.view(state.want_logits()));
        return;
    }
    state.beams->restore(state.sequence);
    for (uint32_t i = 0; i < state.beams->n_beams(); ++i) {
        if (state.beams->sequence(i).n_computed() == 0) continue;
        state.beams->sequence(i).table().let_go_behind_windows();
        scheduled_.push_back({&state, &state.beams->sequence(i), i});
        views_.push_back(state.beams->view(state.sequence, i));
    }
}

// What it has computed stays in the tree for as long as there is room: it may find some of it
// again.
void StepLoop::preempt(RequestState& state) {
    ++counts_.n_preemptions;
    if (state.cache == CachePolicy::reuse)
        cache_->publish(state.ns, state.sequence, state.sequence.n_computed());
    state.sequence.give_up();
    if (state.beams) state.beams->give_up();
    state.is_admitted = false;
}

}  // namespace kvik
