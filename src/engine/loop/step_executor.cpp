#include "engine/loop/step_executor.h"

#include <utility>

#include "base/check.h"

namespace kvik {

// The time of a step with fewer tokens says little about what a prompt costs.
static constexpr uint32_t kLeastTimedTokens = 16;

StepExecutor::StepExecutor(const StepContext& context, const Model& model, ThreadPool& pool,
                           std::unique_ptr<Scratch> scratch)
    : context_(context),
      model_(model),
      pool_(pool),
      scratch_(std::move(scratch)),
      vocab_size_(model.spec().vocab_size),
      batch_(context.settings.scratch_limits(), context.settings.max_sequences),
      logits_(std::make_unique_for_overwrite<float[]>(
          static_cast<uint64_t>(context.settings.n_logits_rows) * vocab_size_)),
      notes_(context.settings.n_logits_rows, vocab_size_) {}

void StepExecutor::reserve(const ScheduledStep& step) {
    for (const PlannedTokens& planned : step.tokens) {
        KVIK_CHECK(step.sequence_of(planned).sequence->reserve(planned.n_tokens),
                   "a plan fits the budget it was made for");
    }
}

void StepExecutor::fill_batch(const ScheduledStep& step) {
    batch_.begin();
    notes_.begin();
    for (const PlannedTokens& planned : step.tokens) {
        const ScheduledSequence& scheduled = step.sequence_of(planned);
        batch_.add(*scheduled.sequence, planned);
        notes_.add(scheduled.request->request, planned.n_logits_rows);
    }
}

// A step of one prompt's tokens alone is timed, for the rate at which prompts are computed.
StepLogits StepExecutor::execute(const ScheduledStep& step) {
    ++n_steps_;
    fill_batch(step);
    const uint32_t n_logits_rows = batch_.n_logits_rows();
    const PlannedTokens& first = step.tokens[0];
    const bool is_timed = step.tokens.size() == 1 && first.n_tokens >= kLeastTimedTokens;
    const double started_ms = is_timed ? context_.now_ms() : 0;
    const Result<void> done = forward(0, n_logits_rows);
    if (!done) forward_one_by_one(step);
    if (done && is_timed) {
        context_.cache.rate().note(first.n_tokens, step.sequence_of(first).sequence->n_computed(),
                                   context_.now_ms() - started_ms);
    }
    return {logits_rows(0, n_logits_rows), notes_.rows(0, n_logits_rows), vocab_size_};
}

// Computes the batch as it is laid out; its logits and notes go to these rows.
Result<void> StepExecutor::forward(uint32_t first_logits_row, uint32_t n_logits_rows) {
    Batch batch = batch_.batch();
    batch.logit_tiles = notes_.rows(first_logits_row, n_logits_rows);
    return model_.forward(batch, context_.cache.view(), *scratch_,
                          logits_rows(first_logits_row, n_logits_rows));
}

void StepExecutor::forward_one_by_one(const ScheduledStep& step) {
    uint32_t n_logits_rows = 0;
    for (const PlannedTokens& planned : step.tokens) {
        const ScheduledSequence& scheduled = step.sequence_of(planned);
        batch_.begin();
        batch_.add(*scheduled.sequence, planned);
        Result<void> done = forward(n_logits_rows, planned.n_logits_rows);
        n_logits_rows += planned.n_logits_rows;
        if (!done) scheduled.request->error = std::move(done).error();
    }
}

std::optional<StepTimer> StepExecutor::open_timer(const std::function<bool()>& must_stop) {
    return StepTimer::open({.model = model_,
                            .pool = pool_,
                            .scratch = *scratch_,
                            .limits = context_.settings.scratch_limits(),
                            .logits = logits_rows(0, context_.settings.n_logits_rows),
                            .kv = context_.settings.kv,
                            .cache_bytes = context_.settings.cache_bytes,
                            .now_ms = context_.now_ms,
                            .must_stop = must_stop});
}

}  // namespace kvik
