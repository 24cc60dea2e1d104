// StepExecutor: computes a scheduled step: reserves its blocks, lays its tokens out as a batch and
// runs the model.
//
// Use     reserve() a step, then execute() it. The logits are valid until the next execute().
// Owner   the batch, the model's scratch and the logits; borrows model, threads and context.
// Threads the engine thread, which runs the model's thread pool.
// Cost    one forward of the model; nothing else that grows. Allocates in the constructor only.
// Errors  a forward that fails is run again for each sequence alone, and only the requests that
//         fail again get RequestState::error. A token's logits do not depend on the rest of the
//         batch, so the others have the same bits.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/logit_tiles.h"
#include "engine/costs/calibrate.h"
#include "engine/loop/step_data.h"
#include "kvik/kvik.h"
#include "model/model.h"
#include "sched/scheduler.h"
#include "sched/sequence.h"

namespace kvik {

// The tokens of a step laid out for the model. Use: begin(), then add() the planned tokens of each
// sequence in the order of the batch, then batch(). The sequences must not change in between.
// Memory is taken once; more tokens than the limits fail a check.
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

// For each row of logits at most three numbers per tile of 16 logits, which the sampler uses to
// skip most of the row.
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

class StepExecutor {
  public:
    StepExecutor(const StepContext& context, const Model& model, ThreadPool& pool,
                 std::unique_ptr<Scratch> scratch);

    // The step must fit the free blocks.
    void reserve(const ScheduledStep& step);
    StepLogits execute(const ScheduledStep& step);
    uint64_t n_steps() const { return n_steps_; }

    // Times steps with this executor's memory, between steps. Nothing: there is no memory for it.
    std::optional<StepTimer> open_timer(const std::function<bool()>& must_stop);

  private:
    void fill_batch(const ScheduledStep& step);
    Result<void> forward(uint32_t first_logits_row, uint32_t n_logits_rows);
    void forward_one_by_one(const ScheduledStep& step);
    std::span<float> logits_rows(uint64_t first, uint64_t n) {
        return {logits_.get() + first * vocab_size_, n * vocab_size_};
    }

    const StepContext& context_;
    const Model& model_;
    ThreadPool& pool_;
    std::unique_ptr<Scratch> scratch_;
    uint32_t vocab_size_;
    BatchBuffer batch_;
    std::unique_ptr<float[]> logits_;  // [n_logits_rows, vocab_size]
    LogitNotes notes_;
    uint64_t n_steps_ = 0;
};

}  // namespace kvik
