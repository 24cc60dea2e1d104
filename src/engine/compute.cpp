// Stepper: from a plan to tokens.
#include "base/check.h"
#include "engine/stepper.h"
#include "sample/logprob.h"

namespace kvik {

void Stepper::compute() {
    batch_.begin();
    for (const PlannedRows& rows : plan_.rows) {
        Sequence& sequence = running_[rows.sequence]->sequence;
        KVIK_CHECK(sequence.reserve(rows.n_rows), "a plan fits the room it was made for");
        batch_.add(sequence, rows);
    }
    ++counts_.n_steps;
    const Result<void> done = parts_.model.forward(batch_.batch(), cache_->view(), *scratch_,
                                                   logits_rows(0, batch_.n_logits_rows()));
    if (!done) forward_alone(plan_.rows);

    for (const PlannedRows& rows : plan_.rows) {
        Job& job = *running_[rows.sequence];
        if (job.error) continue;
        job.sequence.commit(rows.n_rows);
        counts_.n_rows += rows.n_rows;
    }
    uint64_t n_logits_rows = 0;
    for (const PlannedRows& rows : plan_.rows) {
        Job& job = *running_[rows.sequence];
        const auto logits = logits_rows(n_logits_rows, rows.n_logits_rows);
        n_logits_rows += rows.n_logits_rows;
        if (!job.error) take_logits(job, rows, logits);
    }
}

// The batch failed as a whole; a row does not depend on the others, so whoever succeeds alone has
// the same bits.
void Stepper::forward_alone(std::span<const PlannedRows> all) {
    uint64_t n_logits_rows = 0;
    for (const PlannedRows& rows : all) {
        Job& job = *running_[rows.sequence];
        batch_.begin();
        batch_.add(job.sequence, rows);
        Result<void> done = parts_.model.forward(batch_.batch(), cache_->view(), *scratch_,
                                                 logits_rows(n_logits_rows, rows.n_logits_rows));
        n_logits_rows += rows.n_logits_rows;
        if (!done) job.error = std::move(done).error();
    }
}

// logits : [rows.n_logits_rows, vocab_size], of the last rows that were committed.
void Stepper::take_logits(Job& job, const PlannedRows& rows, std::span<const float> logits) {
    const uint32_t n_prompt = job.sequence.n_prompt();
    const uint32_t n_computed = job.sequence.n_computed();
    for (uint32_t i = 0; i < rows.n_logits_rows && job.wants_prompt_logits(); ++i) {
        const uint32_t position = n_computed - rows.n_logits_rows + i;
        if (position != job.n_prompt_logits || position >= n_prompt) continue;
        job.request.on_prompt_logits(position, logits.subspan(i * vocab_size_, vocab_size_));
        ++job.n_prompt_logits;
    }
    if (!job.sequence.has_caught_up()) return;
    const std::span<const float> last = logits.last(vocab_size_);
    if (n_computed == n_prompt && job.cache == CachePolicy::reuse) {
        cache_->publish(job.sequence, n_prompt);
        cache_->store_logits(job.sequence, n_prompt, last);
    }
    pick(job, last);
}

// row : [vocab_size] logits after the sequence's last token.
void Stepper::pick(Job& job, std::span<const float> row) {
    const double now_ms = parts_.now_ms();
    if (!job.first_pick_ms) job.first_pick_ms = now_ms;
    job.end = job.answer.ended();
    if (job.end) return;
    const Result<TokenId> picked = sample(
        job.request.sampling,
        {.logits = row, .history = job.sequence.tokens(), .position = job.sequence.n_tokens()},
        sample_scratch_);
    if (!picked) {
        job.error = picked.error();
        return;
    }
    if (job.answer.is_end(*picked)) {
        job.end = FinishReason::stop;
        return;
    }
    if (job.hash) job.hash->update(std::as_bytes(row));
    job.sequence.push(*picked);
    job.last_pick_ms = now_ms;
    job.channel->deliver({.id = *picked,
                          .text = job.answer.take(*picked),
                          .logprob = job.request.want_logprobs
                                         ? static_cast<float>(log_softmax_at(row, *picked))
                                         : 0.0f});
    job.end = job.answer.ended();
}

}  // namespace kvik
