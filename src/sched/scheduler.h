// plan_step: from sequences and a budget to a StepPlan. It is a pure function: it changes nothing but
// the plan, and reads no clock.
//
// Policy  1. Decoding sequences (one token to compute) get their token first, so that a long prompt
//            never stops them.
//         2. Prompts share what is left of the token budget, oldest first, cut into chunks. Beside
//            decoding sequences, if costs are known, a chunk is cut so that the step takes kStepMs,
//            or kDecodingSteps times what decoding alone takes. A prompt gets at least one token, so
//            that many decoding sequences never stop it either.
//         3. Blocks are given in the same order. The plan names the oldest sequence that gets no
//            block and the youngest one that would have to give its blocks up for it.
// Threads any; stateless.
// Cost    O(sequences), and O(log chunk) evaluations of the costs per prompt. Allocates only when a
//         plan has more sequences than any before.
// Errors  a budget with no token, no block size or too few logits rows fails a check.
// Invariant the oldest sequence is planned, or the plan says what has to be freed first.
#pragma once

#include <cstdint>
#include <span>

#include "sched/step_costs.h"
#include "sched/step_plan.h"

namespace kvik {

enum class WantLogits : uint8_t { of_last_token, of_every_token };

// A sequence as the planner sees it.
struct SequenceView {
    uint32_t n_tokens = 0;        // known tokens: the prompt and what was picked
    uint32_t n_computed = 0;      // of these, with KV
    uint32_t n_places = 0;        // block indices at which it holds a block of each layer group
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
