// BatchBuffer: the rows of a plan laid out for the model, in memory taken once.
//
// Use     begin(), add() a sequence's reserved rows, batch(). Sequences must not change between.
// Cost    allocates at open only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/model.h"
#include "sched/sequence.h"
#include "sched/step_plan.h"

namespace kvik {

class BatchBuffer {
  public:
    BatchBuffer(const ScratchLimits& limits, uint32_t max_sequences);

    void begin();
    void add(const Sequence& sequence, const PlannedTokens& rows);
    Batch batch() const { return {tokens_, sequences_, logits_rows_}; }
    uint32_t n_rows() const { return static_cast<uint32_t>(tokens_.size()); }
    uint32_t n_logits_rows() const { return static_cast<uint32_t>(logits_rows_.size()); }

  private:
    std::vector<TokenId> tokens_;
    std::vector<SequenceRows> sequences_;
    std::vector<uint32_t> logits_rows_;
};

}  // namespace kvik
