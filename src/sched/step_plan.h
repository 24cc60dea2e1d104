// StepPlan: what one step computes, and what has to be freed if it cannot compute more.
//
// Shape   `tokens` in the order of the batch: decoding sequences first, then chunks of prompts.
// Owner   the caller of plan_step keeps one and has it refilled.
// Threads one at a time.
// Cost    after the first steps refilling allocates nothing.
// Invariant a plan fits the StepBudget it was made for: tokens, logits rows and blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace kvik {

// The next tokens of one sequence: n_computed .. n_computed + n_tokens - 1.
struct PlannedTokens {
    uint32_t sequence = 0;  // index into the sequences that were planned for
    uint32_t n_tokens = 0;
    uint32_t n_logits_rows = 0;  // logits are computed of the last so many tokens
};

struct StepPlan {
    std::vector<PlannedTokens> tokens;
    uint32_t n_prompt_tokens = 0;  // of sequences with more than one token to compute
    uint32_t n_blocks_short = 0;   // with so many more free blocks, more tokens would be planned
    // `starved`: the oldest sequence of which no token is planned because no block is free.
    // `preempt`: the youngest sequence that holds blocks and is younger than that one; if nothing can
    // be evicted, the caller releases its blocks and plans again.
    std::optional<uint32_t> starved;
    std::optional<uint32_t> preempt;

    void clear() {
        tokens.clear();
        n_prompt_tokens = n_blocks_short = 0;
        starved.reset();
        preempt.reset();
    }
};

}  // namespace kvik
