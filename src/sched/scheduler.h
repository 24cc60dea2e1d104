// Scheduler: sequences and budget in, StepPlan out. Pure: it looks, counts and changes nothing.
//
// Policy  1. a sequence with one token to compute gets its row first: long prompts never stop
//            streams that run;
//         2. prompts get what is left of n_tokens, oldest first, cut into chunks: beside streams, if
//            costs are known, to a step of kStepMs or kStreamSteps times what the streams alone
//            take; at least one row, so that many streams never stop a prompt either;
//         3. blocks go in the same order; who gets none waits for an eviction, else the youngest
//            sequence gives its blocks up for an older one, never the other way round.
// Cost    O(sequences) a plan.
// Invariant the oldest sequence moves, or the plan names what has to go first.
#pragma once

#include <cstdint>
#include <span>

#include "sched/step_costs.h"
#include "sched/step_plan.h"

namespace kvik {

enum class WantLogits : uint8_t { of_last_token, of_every_token };

// A sequence as the scheduler sees it.
struct SequenceView {
    uint32_t n_tokens = 0;        // known tokens
    uint32_t n_computed = 0;      // of these, with KV
    uint32_t n_places = 0;        // places at which it holds blocks, one of each group
    uint32_t n_shared_tails = 0;  // blocks that its next row is written to after a copy
    WantLogits want_logits = WantLogits::of_last_token;

    uint32_t n_pending() const { return n_tokens - n_computed; }
};

struct StepBudget {
    uint32_t n_tokens = 0;       // most rows of prompts and streams together (but see policy 2)
    uint32_t n_logits_rows = 0;  // at least one a sequence
    uint32_t n_free_blocks = 0;
    uint32_t block_tokens = 0;
    uint32_t n_groups = 1;             // of layers: blocks at a place
    const StepCosts* costs = nullptr;  // null: not known, n_tokens alone cuts a prompt
};

// Beside a prompt streams go on at ten tokens a second, faster than one reads; where a step of
// theirs takes longer than half of that anyway, the prompt gets as much time as they do.
inline constexpr double kStepMs = 100;
inline constexpr double kStreamSteps = 2;

// Blocks that `view` must be given before its next n rows can be written.
uint32_t blocks_wanted(const SequenceView& view, uint32_t n_tokens, const StepBudget& budget);

// `sequences` in order of arrival, oldest first.
void plan_step(std::span<const SequenceView> sequences, const StepBudget& budget, StepPlan& plan);

// A plan never has more rows than this.
uint32_t max_batch_tokens(uint32_t n_tokens, uint32_t max_sequences);

}  // namespace kvik
