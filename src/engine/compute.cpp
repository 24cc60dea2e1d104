// Stepper: from a plan to tokens.
#include <utility>

#include "base/check.h"
#include "engine/stepper.h"
#include "sample/logprob.h"

namespace kvik {

static constexpr uint32_t kLeastTimedRows = 16;  // fewer say little of what a prompt costs
static constexpr uint32_t kPublishEvery =
    256;  // tokens of an answer; a divisor of the tree's resume_every

void Stepper::compute() {
    batch_.begin();
    notes_.begin();
    for (const PlannedRows& rows : plan_.rows) {
        const Runner& runner = running_[rows.sequence];
        KVIK_CHECK(runner.sequence->reserve(rows.n_rows), "a plan fits the room it was made for");
        batch_.add(*runner.sequence, rows);
        notes_.add(runner.job->request, rows.n_logits_rows);
    }
    ++counts_.n_steps;
    count_families();
    const bool is_prompt = plan_.rows.size() == 1 && plan_.rows[0].n_rows >= kLeastTimedRows;
    const double started_ms = is_prompt ? parts_.now_ms() : 0;
    const Result<void> done = forward({0, batch_.n_logits_rows()});
    if (!done) forward_alone(plan_.rows);
    if (done && is_prompt) {
        const Sequence& sequence = *running_[plan_.rows[0].sequence].sequence;
        cache_->rate().note(plan_.rows[0].n_rows, sequence.n_computed(),
                            parts_.now_ms() - started_ms);
    }

    for (const PlannedRows& rows : plan_.rows) {
        const Runner& runner = running_[rows.sequence];
        if (runner.job->error) continue;
        runner.sequence->commit(rows.n_rows);
        counts_.n_rows += rows.n_rows;
        if (!runner.job->first_pick_ms) runner.job->note_progress();
        if (cache_->has_windows() && !runner.beam) publish_on_the_way(*runner.job);
    }
    uint32_t n_logits_rows = 0;
    for (const PlannedRows& rows : plan_.rows) {
        const Runner& runner = running_[rows.sequence];
        const LogitsRows logits = {n_logits_rows, rows.n_logits_rows};
        n_logits_rows += rows.n_logits_rows;
        if (!runner.job->error) take_logits(runner, logits);
    }
}

// Blocks behind a window are let go of in the next step: what others may resume from is published
// before. Where an answer has stop strings its tokens may still be refused.
void Stepper::publish_on_the_way(Job& job) {
    if (job.cache == CachePolicy::off) return;
    const uint32_t n_computed = job.sequence.n_computed(), n_prompt = job.sequence.n_prompt();
    if (job.branch_at > 0 && n_computed >= job.branch_at) {
        cache_->publish(job.ns, job.sequence, std::exchange(job.branch_at, 0));
    }
    const bool is_due = n_computed < n_prompt || n_computed % kPublishEvery == 0;
    if (!is_due || (n_computed > n_prompt && !job.request.stop.empty())) return;
    cache_->publish(job.ns, job.sequence, n_computed, InsertKind::passing);
}

// The batch as it is laid out, its logits and notes to these rows of theirs.
Result<void> Stepper::forward(LogitsRows to) {
    Batch batch = batch_.batch();
    batch.logit_tiles = notes_.rows(to.first, to.n);
    return parts_.model.forward(batch, cache_->view(), *scratch_, logits_rows(to.first, to.n));
}

// The batch failed as a whole; a row does not depend on the others, so whoever succeeds alone has
// the same bits.
void Stepper::forward_alone(std::span<const PlannedRows> all) {
    uint32_t n_logits_rows = 0;
    for (const PlannedRows& rows : all) {
        const Runner& runner = running_[rows.sequence];
        batch_.begin();
        batch_.add(*runner.sequence, rows);
        Result<void> done = forward({n_logits_rows, rows.n_logits_rows});
        n_logits_rows += rows.n_logits_rows;
        if (!done) runner.job->error = std::move(done).error();
    }
}

// rows: of the last tokens that were committed.
void Stepper::take_logits(const Runner& runner, LogitsRows rows) {
    if (!runner.beam) return take_logits(*runner.job, rows);
    const Sequence& sequence = *runner.sequence;
    if (!sequence.has_caught_up()) return;
    const uint32_t last = rows.first + rows.n - 1;
    note_beams(*runner.job,
               runner.job->beams->take_row(*runner.beam, {.logits = logits_rows(last, 1),
                                                          .tiles = notes_.rows(last, 1)[0],
                                                          .position = sequence.n_tokens()}));
}

void Stepper::take_logits(Job& job, LogitsRows rows) {
    const uint32_t n_prompt = job.sequence.n_prompt();
    const uint32_t n_computed = job.sequence.n_computed();
    take_prompt_logits(job, rows);
    if (!job.sequence.has_caught_up()) return;
    const uint32_t last = rows.first + rows.n - 1;
    const std::span<const float> row = logits_rows(last, 1);
    if (n_computed == n_prompt && job.cache == CachePolicy::reuse) {
        cache_->publish(job.ns, job.sequence, n_prompt);
        cache_->store_logits(job.ns, job.sequence.prompt(), row);
    }
    pick(job, row, notes_.rows(last, 1)[0]);
}

// The prompt is cached to its end.
void Stepper::keep(Job& job) {
    if (job.request.pin_ms <= 0 || job.cache == CachePolicy::off) return;
    cache_->pin(job.ns, job.sequence.prompt(), parts_.now_ms() + job.request.pin_ms);
}

// Those that were not seen before; a preempted sequence may compute some of them again.
void Stepper::take_prompt_logits(Job& job, LogitsRows rows) {
    const std::span<const TokenId> prompt = job.sequence.prompt();
    const uint32_t n_wanted = job.n_prompt_logits_wanted();
    for (uint32_t i = 0; i < rows.n && job.n_prompt_logits < n_wanted; ++i) {
        const uint32_t position = job.sequence.n_computed() - rows.n + i;
        if (position != job.n_prompt_logits) continue;
        const std::span<const float> row = logits_rows(rows.first + i, 1);
        if (job.request.on_prompt_logits) job.request.on_prompt_logits(position, row);
        if (job.request.want_prompt_logprobs && position + 1 < prompt.size()) {
            const double logprob = log_softmax_at(row, prompt[position + 1]);
            job.prompt_logprobs.push_back(static_cast<float>(logprob));
        }
        if (++job.n_prompt_logits < n_wanted) continue;
        if (job.request.want_prompt_logprobs && job.cache == CachePolicy::reuse) {
            prompt_logprobs_.put(job.ns, prompt, job.prompt_logprobs);
        }
    }
}

// row : [vocab_size] logits after the sequence's last token; tiles: of the row, empty if it was kept.
void Stepper::pick(Job& job, std::span<const float> row, const LogitTiles& tiles) {
    const double now_ms = parts_.now_ms();
    if (!job.first_pick_ms) {
        job.first_pick_ms = now_ms;
        keep(job);
    }
    job.end = job.answer.ended();
    if (job.end) return;
    if (job.beams) return begin_beams(job, {row, tiles, job.sequence.n_tokens()});
    const Result<TokenId> picked = sample(job.request.sampling,
                                          {.logits = row,
                                           .history = job.sequence.tokens(),
                                           .position = job.sequence.n_tokens(),
                                           .tiles = tiles},
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
                                         ? static_cast<float>(log_softmax_at(row, *picked, tiles))
                                         : 0.0f});
    job.end = job.answer.ended();
}

}  // namespace kvik
