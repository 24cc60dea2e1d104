// StepExecutor: computes a scheduled step: reserves its blocks, lays its tokens out as a batch and
// runs the model.
//
// Use     reserve() a step, then execute() it. The logits are valid until the next execute().
// Owner   the batch, the model's scratch and the logits; borrows model, threads and context.
// Threads the engine thread, which runs the model's thread pool.
// Cost    one forward of the model; nothing else that grows. Allocates in the constructor only.
// Errors  a forward that fails is run again for each sequence alone, and only the requests that fail
//         again get RequestState::error. A token's logits do not depend on the rest of the batch, so
//         the others have the same bits.
#pragma once

#include <memory>
#include <optional>

#include "engine/costs/step_timer.h"
#include "engine/loop/batch_buffer.h"
#include "engine/loop/step_data.h"
#include "model/model.h"

namespace kvik {

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
