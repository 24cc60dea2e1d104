// StepLoop: from a plan to tokens.
#include <utility>

#include "base/check.h"
#include "engine/step_loop.h"
#include "sample/logprob.h"

namespace kvik {

static constexpr uint32_t kLeastTimedRows = 16;  // fewer say little of what a prompt costs
static constexpr uint32_t kPublishEvery =
    256;  // tokens of an answer; a divisor of the tree's resume_every

void StepLoop::compute() {
    batch_.begin();
    notes_.begin();
    for (const PlannedTokens& rows : plan_.tokens) {
        const ScheduledSequence& scheduled = scheduled_[rows.sequence];
        KVIK_CHECK(scheduled.sequence->reserve(rows.n_tokens),
                   "a plan fits the room it was made for");
        batch_.add(*scheduled.sequence, rows);
        notes_.add(scheduled.state->request, rows.n_logits_rows);
    }
    ++counts_.n_steps;
    count_shared_blocks();
    const bool is_prompt = plan_.tokens.size() == 1 && plan_.tokens[0].n_tokens >= kLeastTimedRows;
    const double started_ms = is_prompt ? parts_.now_ms() : 0;
    const Result<void> done = forward({0, batch_.n_logits_rows()});
    if (!done) forward_alone(plan_.tokens);
    if (done && is_prompt) {
        const Sequence& sequence = *scheduled_[plan_.tokens[0].sequence].sequence;
        cache_->rate().note(plan_.tokens[0].n_tokens, sequence.n_computed(),
                            parts_.now_ms() - started_ms);
    }

    for (const PlannedTokens& rows : plan_.tokens) {
        const ScheduledSequence& scheduled = scheduled_[rows.sequence];
        if (scheduled.state->error) continue;
        scheduled.sequence->commit(rows.n_tokens);
        counts_.n_computed_tokens += rows.n_tokens;
        if (!scheduled.state->first_pick_ms) scheduled.state->note_progress();
        if (cache_->has_windows() && !scheduled.beam) publish_on_the_way(*scheduled.state);
    }
    uint32_t n_logits_rows = 0;
    for (const PlannedTokens& rows : plan_.tokens) {
        const ScheduledSequence& scheduled = scheduled_[rows.sequence];
        const LogitsRows logits = {n_logits_rows, rows.n_logits_rows};
        n_logits_rows += rows.n_logits_rows;
        if (!scheduled.state->error) take_logits(scheduled, logits);
    }
}

// Blocks behind a window are let go of in the next step: what others may resume from is published
// before. Where an answer has stop strings its tokens may still be refused.
void StepLoop::publish_on_the_way(RequestState& state) {
    if (state.cache == CachePolicy::off) return;
    const uint32_t n_computed = state.sequence.n_computed(), n_prompt = state.sequence.n_prompt();
    if (state.branch_at > 0 && n_computed >= state.branch_at) {
        cache_->publish(state.ns, state.sequence, std::exchange(state.branch_at, 0));
    }
    const bool is_due = n_computed < n_prompt || n_computed % kPublishEvery == 0;
    if (!is_due || (n_computed > n_prompt && !state.request.stop.empty())) return;
    cache_->publish(state.ns, state.sequence, n_computed, InsertKind::passing);
}

// The batch as it is laid out, its logits and notes to these rows of theirs.
Result<void> StepLoop::forward(LogitsRows to) {
    Batch batch = batch_.batch();
    batch.logit_tiles = notes_.rows(to.first, to.n);
    return parts_.model.forward(batch, cache_->view(), *scratch_, logits_rows(to.first, to.n));
}

// The batch failed as a whole; a row does not depend on the others, so whoever succeeds alone has
// the same bits.
void StepLoop::forward_alone(std::span<const PlannedTokens> all) {
    uint32_t n_logits_rows = 0;
    for (const PlannedTokens& rows : all) {
        const ScheduledSequence& scheduled = scheduled_[rows.sequence];
        batch_.begin();
        batch_.add(*scheduled.sequence, rows);
        Result<void> done = forward({n_logits_rows, rows.n_logits_rows});
        n_logits_rows += rows.n_logits_rows;
        if (!done) scheduled.state->error = std::move(done).error();
    }
}

// rows: of the last tokens that were committed.
void StepLoop::take_logits(const ScheduledSequence& scheduled, LogitsRows rows) {
    if (!scheduled.beam) return take_logits(*scheduled.state, rows);
    const Sequence& sequence = *scheduled.sequence;
    if (!sequence.has_caught_up()) return;
    const uint32_t last = rows.first + rows.n - 1;
    note_beams(*scheduled.state, scheduled.state->beams->take_row(
                                     *scheduled.beam, {.logits = logits_rows(last, 1),
                                                       .tiles = notes_.rows(last, 1)[0],
                                                       .position = sequence.n_tokens()}));
}

void StepLoop::take_logits(RequestState& state, LogitsRows rows) {
    const uint32_t n_prompt = state.sequence.n_prompt();
    const uint32_t n_computed = state.sequence.n_computed();
    take_prompt_logits(state, rows);
    if (!state.sequence.has_caught_up()) return;
    const uint32_t last = rows.first + rows.n - 1;
    const std::span<const float> row = logits_rows(last, 1);
    if (n_computed == n_prompt && state.cache == CachePolicy::reuse) {
        cache_->publish(state.ns, state.sequence, n_prompt);
        cache_->store_logits(state.ns, state.sequence.prompt(), row);
    }
    pick(state, row, notes_.rows(last, 1)[0]);
}

// The prompt is cached to its end.
void StepLoop::keep(RequestState& state) {
    if (state.request.pin_ms <= 0 || state.cache == CachePolicy::off) return;
    cache_->pin(state.ns, state.sequence.prompt(), parts_.now_ms() + state.request.pin_ms);
}

// Those that were not seen before; a preempted sequence may compute some of them again.
void StepLoop::take_prompt_logits(RequestState& state, LogitsRows rows) {
    const std::span<const TokenId> prompt = state.sequence.prompt();
    const uint32_t n_wanted = state.n_prompt_logits_wanted();
    for (uint32_t i = 0; i < rows.n && state.n_prompt_logits < n_wanted; ++i) {
        const uint32_t position = state.sequence.n_computed() - rows.n + i;
        if (position != state.n_prompt_logits) continue;
        const std::span<const float> row = logits_rows(rows.first + i, 1);
        if (state.request.on_prompt_logits) state.request.on_prompt_logits(position, row);
        if (state.request.want_prompt_logprobs && position + 1 < prompt.size()) {
            const double logprob = log_softmax_at(row, prompt[position + 1]);
            state.prompt_logprobs.push_back(static_cast<float>(logprob));
        }
        if (++state.n_prompt_logits < n_wanted) continue;
        if (state.request.want_prompt_logprobs && state.cache == CachePolicy::reuse) {
            prompt_logprobs_.put(state.ns, prompt, state.prompt_logprobs);
        }
    }
}

// row : [vocab_size] logits after the sequence's last token; tiles: of the row, empty if it was kept.
void StepLoop::pick(RequestState& state, std::span<const float> row, const LogitTiles& tiles) {
    const double now_ms = parts_.now_ms();
    if (!state.first_pick_ms) {
        state.first_pick_ms = now_ms;
        keep(state);
    }
    state.end = state.answer.ended();
    if (state.end) return;
    if (state.beams) return begin_beams(state, {row, tiles, state.sequence.n_tokens()});
    const Result<TokenId> picked = sample(state.request.sampling,
                                          {.logits = row,
                                           .history = state.sequence.tokens(),
                                           .position = state.sequence.n_tokens(),
                                           .tiles = tiles},
                                          sample_scratch_);
    if (!picked) {
        state.error = picked.error();
        return;
    }
    if (state.answer.is_end(*picked)) {
        state.end = FinishReason::stop;
        return;
    }
    if (state.hash) state.hash->update(std::as_bytes(row));
    state.sequence.push(*picked);
    state.last_pick_ms = now_ms;
    state.channel->deliver({.id = *picked,
                            .text = state.answer.take(*picked),
                            .logprob = state.request.want_logprobs
                                           ? static_cast<float>(log_softmax_at(row, *picked, tiles))
                                           : 0.0f});
    state.end = state.answer.ended();
}

}  // namespace kvik
