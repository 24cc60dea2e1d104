// Replay: a trace over blocks and a prefix tree alone, without a model: what a policy of eviction
// finds again, and what it costs to compute the rest.
//
// Shape   one request after the other. What is not found is computed: its time is made up, and grows
//         with the depth as attention does. What was computed is published, the answer's last token
//         excepted.
// Errors  a request that alone needs more blocks than there are: usage, naming both numbers.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "cache/eviction.h"
#include "lab/trace.h"

namespace kvik::lab {

struct ReplayOptions {
    EvictionPolicy policy = EvictionPolicy::lru;
    uint32_t n_blocks = 0;
    uint32_t block_tokens = 32;
};

struct ReplayResult {
    uint64_t n_prompt_tokens = 0;
    uint64_t n_hit_tokens = 0;
    double recompute_ms = 0;  // of all tokens of prompts that were not found
    uint64_t n_evicted_blocks = 0;

    double hit_percent() const {
        return n_prompt_tokens == 0 ? 0
                                    : 100.0 * static_cast<double>(n_hit_tokens) /
                                          static_cast<double>(n_prompt_tokens);
    }
};

Result<ReplayResult> replay(const Trace& trace, const ReplayOptions& options);

// Time to compute n tokens after `depth` others: that of a token without context for each, and as
// much again for every 4000 tokens before it.
double made_up_ms(uint32_t depth, uint32_t n_tokens);

// Blocks with which nothing is ever evicted.
uint32_t blocks_for_all(const Trace& trace, uint32_t block_tokens);

}  // namespace kvik::lab
