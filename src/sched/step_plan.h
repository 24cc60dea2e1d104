// StepPlan: what one step computes, and what stands in its way.
//
// Shape   `rows` in the order of the batch: decoding sequences first, then prompt chunks.
// Owner   the engine keeps one and has it refilled; after the first steps that allocates nothing.
// Invariant a plan fits the StepBudget it was made for: rows, logits rows and blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace kvik {

// The next rows of one sequence: tokens n_computed .. n_computed + n_tokens - 1.
struct PlannedTokens {
    uint32_t sequence = 0;  // index into the sequences that were planned for
    uint32_t n_tokens = 0;
    uint32_t n_logits_rows = 0;  // its last n rows want logits
};

struct StepPlan {
    std::vector<PlannedTokens> tokens;
    uint32_t n_prompt_tokens = 0;  // rows of sequences with more than one token to compute
    uint32_t n_blocks_short = 0;   // blocks that would let more rows in: evict, then plan again
    // The oldest sequence that gets no row for want of a block; and the youngest one that holds
    // blocks and is younger than it: if nothing can be evicted, take its blocks and plan again.
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
