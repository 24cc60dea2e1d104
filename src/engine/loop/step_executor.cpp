#include "engine/loop/step_executor.h"

#include <utility>

#include "base/check.h"
#include "sample/sampler.h"

namespace kvik {

// ---- BatchBuffer, LogitNotes ----

BatchBuffer::BatchBuffer(const ScratchLimits& limits, uint32_t max_sequences) {
    tokens_.reserve(limits.n_rows);
    sequences_.reserve(max_sequences);
    logits_rows_.reserve(limits.n_logits_rows);
}

void BatchBuffer::begin() {
    tokens_.clear();
    sequences_.clear();
    logits_rows_.clear();
}

void BatchBuffer::add(const Sequence& sequence, const PlannedTokens& rows) {
    const uint32_t first_row = n_rows();
    const std::span<const TokenId> tokens = sequence.next(rows.n_tokens);
    tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
    sequences_.push_back({.blocks = sequence.table().ids(),
                          .n_past = sequence.n_computed(),
                          .first_row = first_row,
                          .n_rows = rows.n_tokens,
                          .group_stride = sequence.table().max_logical_blocks()});
    for (uint32_t row = n_rows() - rows.n_logits_rows; row < n_rows(); ++row) {
        logits_rows_.push_back(row);
    }
    KVIK_CHECK(tokens_.size() <= tokens_.capacity() && sequences_.back().n_rows > 0,
               "a batch fits its buffer");
}

LogitNotes::LogitNotes(uint32_t n_rows, uint32_t vocab_size)
    : vocab_size_(vocab_size),
      room_(std::make_unique_for_overwrite<float[]>(3 * n_rows * n_logit_tiles(vocab_size))) {
    rows_.reserve(n_rows);
}

void LogitNotes::add(const GenerateRequest& request, uint32_t n) {
    if (n == 0) return;
    KVIK_CHECK(rows_.size() + n <= rows_.capacity(), "notes fit the rows of logits of a step");
    rows_.resize(rows_.size() + n - 1);
    const size_t n_tiles = n_logit_tiles(vocab_size_);
    float* room = room_.get() + 3 * n_tiles * rows_.size();
    LogitTiles tiles;
    tiles.maxima = {room, n_tiles};
    if (request.want_logprobs) tiles.sum_exps = {room + n_tiles, n_tiles};
    if (wants_tempered_sum_exp(request.sampling, vocab_size_)) {
        tiles.tempered = {room + 2 * n_tiles, n_tiles};
        tiles.inverse_temperature = 1.0f / request.sampling.temperature;
    }
    rows_.push_back(tiles);
}

// ---- StepExecutor ----

// Steps with fewer tokens are not timed: they say little about what a prompt costs.
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
