// StepContext, ScheduledStep and StepLogits: what the phases of the step loop share and hand on to
// each other.
//
// Owner   plain values that borrow; a ScheduledStep and its StepLogits are valid until the next
//         step is scheduled.
// Threads the engine thread.
// Cost    copying them is cheap and allocates nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "base/logit_tiles.h"
#include "engine/engine_settings.h"
#include "engine/kv_cache.h"
#include "engine/request/request_state.h"
#include "sched/scheduler.h"

namespace kvik {

struct StepContext {
    const EngineSettings& settings;
    KvCache& cache;
    const Tokenizer* tokenizer;           // null: the model has none
    std::span<const TokenId> end_tokens;  // of the model
    const std::function<double()>& now_ms;
};

// A sequence that takes part in steps: the request's own, or that of one of its beams.
struct ScheduledSequence {
    RequestState* request = nullptr;
    Sequence* sequence = nullptr;
    std::optional<uint32_t> beam;  // its index; nothing: the request's own sequence
};

// What one step computes.
struct ScheduledStep {
    std::span<const PlannedTokens> tokens;         // in the order of the batch
    std::span<const ScheduledSequence> sequences;  // which PlannedTokens::sequence is an index of

    const ScheduledSequence& sequence_of(const PlannedTokens& planned) const {
        return sequences[planned.sequence];
    }
};

// Rows of the logits matrix of a step, in the order of the batch: each PlannedTokens has
// n_logits_rows of them.
struct StepLogits {
    std::span<const float> values;      // [n_rows, vocab_size]
    std::span<const LogitTiles> tiles;  // [n_rows]
    uint32_t vocab_size = 0;

    std::span<const float> row(uint32_t i) const {
        return values.subspan(uint64_t{i} * vocab_size, vocab_size);
    }
    StepLogits rows(uint32_t first, uint32_t n) const {
        return {values.subspan(uint64_t{first} * vocab_size, uint64_t{n} * vocab_size),
                tiles.subspan(first, n), vocab_size};
    }
    uint32_t n_rows() const { return static_cast<uint32_t>(tiles.size()); }
};

}  // namespace kvik
