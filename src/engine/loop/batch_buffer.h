// BatchBuffer and LogitNotes: the tokens of a step laid out for the model, and what the model is to note
// about their logits, in memory that is taken once.
//
// Use     begin(), then add() the planned tokens of each sequence in the order of the batch, then
//         batch() and rows(). The sequences must not change in between.
// Owner   the lists; they refer to the block tables of the sequences.
// Threads the engine thread.
// Cost    allocates in the constructors only. Memory of notes that no request needs is never touched.
// Errors  more tokens than the limits fail a check.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/logit_tiles.h"
#include "kvik/kvik.h"
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

// For each row of logits at most three numbers per tile of 16 logits, which the sampler uses to skip
// most of the row.
class LogitNotes {
  public:
    LogitNotes(uint32_t n_rows, uint32_t vocab_size);

    void begin() { rows_.clear(); }
    // Adds n rows of logits of one request. A token is picked from the last row only, so only that
    // one is noted.
    void add(const GenerateRequest& request, uint32_t n);
    std::span<const LogitTiles> rows(uint64_t first, uint64_t n) const {
        return std::span(rows_).subspan(first, n);
    }

  private:
    uint32_t vocab_size_;
    std::unique_ptr<float[]> room_;  // [n_rows][3][n_tiles]
    std::vector<LogitTiles> rows_;
};

}  // namespace kvik
