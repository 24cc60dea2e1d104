#include "engine/loop/acceptance.h"

#include <utility>

#include "sample/logprob.h"

namespace kvik {

// Tokens of an answer between two times that it is published; a divisor of the prefix tree's
// distance between resume points.
static constexpr uint32_t kPublishEvery = 256;

void Acceptance::accept(const ScheduledStep& step, const StepLogits& logits) {
    commit(step);
    uint32_t first_row = 0;
    for (const PlannedTokens& planned : step.tokens) {
        const ScheduledSequence& scheduled = step.sequence_of(planned);
        const StepLogits own = logits.rows(first_row, planned.n_logits_rows);
        first_row += planned.n_logits_rows;
        if (!scheduled.request->error) use_logits(scheduled, own);
    }
}

void Acceptance::commit(const ScheduledStep& step) {
    for (const PlannedTokens& planned : step.tokens) {
        const ScheduledSequence& scheduled = step.sequence_of(planned);
        RequestState& state = *scheduled.request;
        if (state.error) continue;
        scheduled.sequence->commit(planned.n_tokens);
        n_computed_tokens_ += planned.n_tokens;
        if (!state.first_pick_ms) state.note_progress();
        if (context_.settings.kv.n_groups() > 1 && !scheduled.beam) publish_on_the_way(state);
    }
}

// The next step frees the blocks behind windows, so prefixes from which others may resume are
// published before. Nothing is published while stop strings could still cut the answer.
void Acceptance::publish_on_the_way(RequestState& state) {
    if (state.cache == CachePolicy::off) return;
    KvCache& cache = context_.cache;
    const uint32_t n_computed = state.sequence.n_computed();
    const uint32_t n_prompt = state.sequence.n_prompt();
    if (state.branch_at > 0 && n_computed >= state.branch_at) {
        cache.publish(state.ns, state.sequence, std::exchange(state.branch_at, 0));
    }
    const bool is_due = n_computed < n_prompt || n_computed % kPublishEvery == 0;
    if (!is_due || (n_computed > n_prompt && !state.request.stop.empty())) return;
    cache.publish(state.ns, state.sequence, n_computed, InsertKind::passing);
}

// `logits`: of the last committed tokens of the sequence. If all its tokens are computed, the last
// row picks the next one.
void Acceptance::use_logits(const ScheduledSequence& scheduled, const StepLogits& logits) {
    RequestState& state = *scheduled.request;
    if (!scheduled.beam) use_prompt_logits(state, logits);
    if (!scheduled.sequence->has_caught_up()) return;
    const std::span<const float> row = logits.row(logits.n_rows() - 1);
    const LogitTiles& tiles = logits.tiles.back();
    if (scheduled.beam) return picker_.pick_for_beam(state, *scheduled.beam, row, tiles);
    publish_prompt(state, row);
    picker_.pick(state, row, tiles);
}

// Publishes a prompt that has just been computed to its end, with the logits after it.
void Acceptance::publish_prompt(RequestState& state, std::span<const float> row) {
    const uint32_t n_prompt = state.sequence.n_prompt();
    if (state.sequence.n_computed() != n_prompt || state.cache != CachePolicy::reuse) return;
    context_.cache.publish(state.ns, state.sequence, n_prompt);
    context_.cache.store_logits(state.ns, state.sequence.prompt(), row);
}

// Uses each row of the prompt's logits once: a preempted sequence may compute some of them again.
void Acceptance::use_prompt_logits(RequestState& state, const StepLogits& logits) {
    const std::span<const TokenId> prompt = state.sequence.prompt();
    const uint32_t n_wanted = state.n_prompt_logits_wanted();
    for (uint32_t i = 0; i < logits.n_rows() && state.n_prompt_logits < n_wanted; ++i) {
        const uint32_t position = state.sequence.n_computed() - logits.n_rows() + i;
        if (position != state.n_prompt_logits) continue;
        const std::span<const float> row = logits.row(i);
        if (state.request.on_prompt_logits) state.request.on_prompt_logits(position, row);
        if (state.request.want_prompt_logprobs && position + 1 < prompt.size()) {
            const double logprob = log_softmax_at(row, prompt[position + 1]);
            state.prompt_logprobs.push_back(static_cast<float>(logprob));
        }
        if (++state.n_prompt_logits < n_wanted) continue;
        if (state.request.want_prompt_logprobs && state.cache == CachePolicy::reuse) {
            logprobs_.put(state.ns, prompt, state.prompt_logprobs);
        }
    }
}

}  // namespace kvik
