#include "sched/scheduler.h"

#include <algorithm>

#include "base/check.h"

namespace kvik {

static uint32_t blocks_for(uint32_t n_tokens, uint32_t block_tokens) {
    return (n_tokens + block_tokens - 1) / block_tokens;
}

uint32_t blocks_wanted(const SequenceView& view, uint32_t n_tokens, const StepBudget& budget) {
    if (n_tokens == 0) return 0;
    const uint32_t n_after = blocks_for(view.n_computed + n_tokens, budget.block_tokens);
    const uint32_t n_new = n_after > view.n_logical_blocks ? n_after - view.n_logical_blocks : 0;
    return n_new * budget.n_groups + view.n_shared_tails;
}

// Returns how many of the next n_tokens the free blocks can hold.
static uint32_t tokens_that_fit(const SequenceView& view, uint32_t n_tokens, uint32_t n_free,
                                const StepBudget& budget) {
    if (blocks_wanted(view, n_tokens, budget) <= n_free) return n_tokens;
    const uint32_t n_first = blocks_wanted(view, 1, budget);
    if (n_first > n_free) return 0;
    const uint32_t n_held =
        std::max(view.n_logical_blocks, blocks_for(view.n_computed + 1, budget.block_tokens));
    const uint32_t n_more = (n_free - n_first) / budget.n_groups;
    return (n_held + n_more) * budget.block_tokens - view.n_computed;
}

namespace {

// The time that the planned tokens will take, and how many may be added in time.
class StepTime {
  public:
    explicit StepTime(const StepCosts* costs) : costs_(costs) {}

    void add_decoding(uint32_t n_tokens, uint32_t depth) {
        if (!costs_ || n_tokens == 0) return;
        n_decoding_ += n_tokens;
        depth_ms_ += costs_->depth_ms(1, depth);
        target_ms_ = std::max(kStepMs, kDecodingSteps * ms());
    }
    void add_prompt(uint32_t n_tokens, uint32_t depth) {
        if (!costs_) return;
        depth_ms_ += costs_->depth_ms(n_tokens, depth + n_tokens);
        n_prompt_tokens_ += n_tokens;
    }
    // Returns how many of n tokens of a prompt at this depth keep the step in time: all of them if
    // nothing decodes beside it.
    uint32_t tokens_in_time(uint32_t n, uint32_t depth) const {
        if (n_decoding_ == 0) return n;
        uint32_t fits = 0;
        for (uint32_t too_many = n + 1; too_many - fits > 1;) {
            const uint32_t tried = fits + (too_many - fits) / 2;
            StepTime with = *this;
            with.add_prompt(tried, depth);
            (with.ms() <= target_ms_ ? fits : too_many) = tried;
        }
        return fits;
    }

  private:
    // Decoding computes logits of every token, prompts do not. The weights are read once for all.
    double ms() const {
        return costs_->ms(n_decoding_, 0) + depth_ms_ +
               costs_->prompt_ms(n_decoding_ + n_prompt_tokens_) - costs_->prompt_ms(n_decoding_);
    }

    const StepCosts* costs_;
    uint32_t n_decoding_ = 0, n_prompt_tokens_ = 0;
    double depth_ms_ = 0;
    double target_ms_ = 0;
};

// The budget that is left while one plan is made.
class Planner {
  public:
    Planner(std::span<const SequenceView> sequences, const StepBudget& budget, StepPlan& plan)
        : sequences_(sequences),
          budget_(budget),
          plan_(plan),
          time_(budget.costs),
          n_free_(budget.n_free_blocks) {
        KVIK_CHECK(budget.n_logits_rows >= sequences.size(),
                   "every sequence may have a logits row");
        n_spare_logits_ = budget.n_logits_rows - static_cast<uint32_t>(sequences.size());
    }

    // Plans the decoding sequences (policy 1) and returns how many tokens that made.
    uint32_t plan_decoding() {
        uint32_t n = 0;
        for (uint32_t i = 0; i < sequences_.size(); ++i) {
            if (sequences_[i].n_pending() != 1) continue;
            const uint32_t n_given = give(i, 1);
            time_.add_decoding(n_given, sequences_[i].n_computed);
            n += n_given;
        }
        return n;
    }

    // Plans chunks of prompts (policy 2), n_tokens at most.
    void plan_prefill(uint32_t n_tokens) {
        for (uint32_t i = 0; i < sequences_.size() && n_tokens > 0; ++i) {
            if (sequences_[i].n_pending() <= 1) continue;
            const uint32_t depth = sequences_[i].n_computed;
            const uint32_t n_most = std::min(n_tokens, sequences_[i].n_pending());
            const uint32_t n_timely = time_.tokens_in_time(n_most, depth);
            if (n_timely == 0 && plan_.n_prompt_tokens > 0) return;
            const uint32_t n = give(i, std::max(1u, n_timely));
            time_.add_prompt(n, depth);
            plan_.n_prompt_tokens += n;
            n_tokens -= n;
        }
    }

    // Says how many blocks are short and who would have to give up theirs (policy 3).
    void plan_blocks() {
        if (n_wanted_ > budget_.n_free_blocks)
            plan_.n_blocks_short = n_wanted_ - budget_.n_free_blocks;
        if (!plan_.starved) return;
        for (auto i = static_cast<uint32_t>(sequences_.size()); i-- > *plan_.starved + 1;) {
            if (sequences_[i].n_logical_blocks == 0) continue;
            plan_.preempt = i;
            return;
        }
    }

  private:
    uint32_t give(uint32_t index, uint32_t n_tokens) {
        const SequenceView& view = sequences_[index];
        const bool all = view.want_logits == WantLogits::of_every_token;
        if (all) n_tokens = std::min(n_tokens, n_spare_logits_ + 1);
        const uint32_t n_wanted = blocks_wanted(view, n_tokens, budget_);
        const uint32_t n = tokens_that_fit(view, n_tokens, n_free_, budget_);
        const uint32_t n_given = blocks_wanted(view, n, budget_);
        n_wanted_ += n_wanted;
        n_free_ -= n_given;
        if (n == 0) {
            plan_.starved = std::min(index, plan_.starved.value_or(index));
            return 0;
        }
        if (all) n_spare_logits_ -= n - 1;
        const uint32_t n_last = view.n_computed + n == view.n_tokens ? 1 : 0;
        plan_.tokens.push_back(
            {.sequence = index, .n_tokens = n, .n_logits_rows = all ? n : n_last});
        return n;
    }

    std::span<const SequenceView> sequences_;
    const StepBudget& budget_;
    StepPlan& plan_;
    StepTime time_;
    uint32_t n_free_;
    uint32_t n_spare_logits_;
    uint32_t n_wanted_ = 0;
};

}  // namespace

void plan_step(std::span<const SequenceView> sequences, const StepBudget& budget, StepPlan& plan) {
    KVIK_CHECK(budget.n_tokens > 0 && budget.block_tokens > 0 && budget.n_groups > 0,
               "a step has budget for a row");
    plan.clear();
    Planner planner(sequences, budget, plan);
    const uint32_t n_decoding = planner.plan_decoding();
    planner.plan_prefill(budget.n_tokens > n_decoding ? budget.n_tokens - n_decoding : 1);
    planner.plan_blocks();
}

uint32_t max_batch_tokens(uint32_t n_tokens, uint32_t max_sequences) {
    return std::max(n_tokens, max_sequences);
}

}  // namespace kvik
