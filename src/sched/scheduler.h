// plan_step and StepPlan: from sequences and a budget to what the next step computes. It is a pure
// function: it changes nothing but the plan, and reads no clock.
//
// Policy  1. Decoding sequences (one token to compute) get their token first, so that a long prompt
//            never stops them.
//         2. Prompts share what is left of the token budget, oldest first, cut into chunks. Beside
//            decoding sequences, if costs are known, a chunk is cut so that the step takes kStepMs,
//            or kDecodingSteps times what decoding alone takes. A prompt gets at least one token,
//            so that many decoding sequences never stop it either.
//         3. Blocks are given in the same order. The plan names the oldest sequence that gets no
//            block and the youngest one that would have to give its blocks up for it.
// Threads any; stateless.
// Cost    O(sequences), and O(log chunk) evaluations of the costs per prompt. Allocates only when a
//         plan has more sequences than any before.
// Errors  a budget with no token, no block size or too few logits rows fails a check.
// Invariant the oldest sequence is planned, or the plan says what has to be freed first.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sched/step_costs.h"

namespace kvik {

// The next tokens of one sequence: n_computed .. n_computed + n_tokens - 1.
struct PlannedTokens {
    uint32_t sequence = 0;  // index into the sequences that were planned for
    uint32_t n_tokens = 0;
    uint32_t n_logits_rows = 0;  // logits are computed of the last so many tokens
};

// What one step computes, and what has to be freed if it cannot compute more. Kept by the caller
// and refilled.
struct StepPlan {
    std::vector<PlannedTokens> tokens;  // decoding sequences first, then prompts
    uint32_t n_prompt_tokens = 0;       // of sequences with more than one token to compute
    uint32_t n_blocks_short = 0;  // with so many more free blocks, more tokens would be planned
    // `starved`: the oldest sequence of which no token is planned because no block is free.
    // `preempt`: the youngest sequence that holds blocks and is younger than that one; if nothing
    // can be evicted, the caller releases its blocks and plans again.
    std::optional<uint32_t> starved;
    std::optional<uint32_t> preempt;

    void clear() {
        tokens.clear();
        n_prompt_tokens = n_blocks_short = 0;
        starved.reset();
        preempt.reset();
    }
};

enum class WantLogits : uint8_t { of_last_token, of_every_token };

// A sequence as the planner sees it.
struct SequenceView {
    uint32_t n_tokens = 0;          // known tokens: the prompt and what was picked
    uint32_t n_computed = 0;        // of these, with KV
    uint32_t n_logical_blocks = 0;  // block indices at which it holds a block of each layer group
    uint32_t n_shared_tails = 0;  // shared blocks that are copied before its next token is written
    WantLogits want_logits = WantLogits::of_last_token;

    uint32_t n_pending() const { return n_tokens - n_computed; }
};

// What one step may use.
struct StepBudget {
    uint32_t n_tokens = 0;       // most tokens in all (but see policy 2)
    uint32_t n_logits_rows = 0;  // most tokens whose logits are computed; at least one per sequence
    uint32_t n_free_blocks = 0;
    uint32_t block_tokens = 0;
    uint32_t n_groups = 1;             // layer groups: blocks per block index
    const StepCosts* costs = nullptr;  // null: not known; prompts are cut by n_tokens alone
};

// Beside a prompt, decoding goes on at ten tokens a second, faster than people read. Where decoding
// alone takes more than half of that time, the prompt gets as much time as decoding does.
inline constexpr double kStepMs = 100;
inline constexpr double kDecodingSteps = 2;

// Returns how many free blocks `view` needs before its next n tokens can be written.
uint32_t blocks_wanted(const SequenceView& view, uint32_t n_tokens, const StepBudget& budget);

// Fills `plan`. `sequences`: oldest first.
void plan_step(std::span<const SequenceView> sequences, const StepBudget& budget, StepPlan& plan);

// Returns the most tokens that a plan ever has, for a budget of n_tokens.
uint32_t max_batch_tokens(uint32_t n_tokens, uint32_t max_sequences);

}  // namespace kvik
