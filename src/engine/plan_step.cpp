// Stepper: what the next step computes, and the room for it.
#include "base/check.h"
#include "engine/stepper.h"

namespace kvik {

// In the way of a plan: first what nobody needs, then what is on its way to disk (which is waited
// for), then what the tree alone wants to keep, then the youngest sequence.
void Stepper::plan() {
    for (;;) {
        running_.clear();
        views_.clear();
        for (auto& job : jobs_) {
            if (job->is_admitted) line_up(*job);
        }
        plan_step(views_,
                  {.n_rows = settings_.ubatch,
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
        Job& youngest = *running_[*plan_.preempt].job;
        if (&youngest == running_[*plan_.starved].job) break;  // its other beams go first
        preempt(youngest);
    }
    KVIK_CHECK(!plan_.rows.empty(), "while a request waits or runs, a step moves the oldest one");
}

void Stepper::line_up(Job& job) {
    job.sequence.table().let_go_behind_windows();
    if (!job.is_spread()) {
        running_.push_back({&job, &job.sequence, std::nullopt});
        views_.push_back(job.sequence.view(job.want_logits()));
        return;
    }
    job.beams->restore(job.sequence);
    for (uint32_t i = 0; i < job.beams->n_beams(); ++i) {
        if (job.beams->sequence(i).n_computed() == 0) continue;
        job.beams->sequence(i).table().let_go_behind_windows();
        running_.push_back({&job, &job.beams->sequence(i), i});
        views_.push_back(job.beams->view(job.sequence, i));
    }
}

// What it has computed stays in the tree for as long as there is room: it may find some of it
// again.
void Stepper::preempt(Job& job) {
    ++counts_.n_preemptions;
    if (job.cache == CachePolicy::reuse)
        cache_->publish(job.ns, job.sequence, job.sequence.n_computed());
    job.sequence.give_up();
    if (job.beams) job.beams->give_up();
    job.is_admitted = false;
}

}  // namespace kvik
