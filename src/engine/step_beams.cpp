// StepLoop: what is different where a request has several sequences.
#include "engine/step_loop.h"

namespace kvik {

void StepLoop::give_beams(RequestState& state, GenerateRequest& request) {
    const uint32_t n_end_tokens =
        request.end_tokens == EndTokens::stop ? static_cast<uint32_t>(parts_.end_tokens.size()) : 0;
    state.beams = std::make_unique<RequestBeams>(RequestBeamsParts{
        .search = {.params = *request.beams,
                   .n_end_tokens = n_end_tokens,
                   .max_tokens = state.answer.max_tokens(),
                   .wants_logits_hash = request.want_logits_hash},
        .blank = state.answer,
        .watch = request.stop.empty() ? WatchText::off : WatchText::on,
        .cache = *cache_,
        .ns = state.cache == CachePolicy::reuse ? std::optional(state.ns) : std::nullopt});
    request.want_logprobs = true;  // its rows are noted for sums of all their probabilities
}

// The prompt_sequence's row begins the search, once; it comes again when the request was preempted.
void StepLoop::begin_beams(RequestState& state, const RequestBeams::Row& row) {
    if (!state.beams->has_begun()) note_beams(state, state.beams->begin(state.sequence, row));
}

void StepLoop::note_beams(RequestState& state, const Result<void>& taken) {
    if (!taken) {
        state.error = taken.error();
        return;
    }
    state.last_pick_ms = parts_.now_ms();
    if (state.beams->is_over())
        state.end = FinishReason::length;  // unless the best one knows better
}

// The best beam is told as if it had been the only one.
std::vector<Beam> StepLoop::tell_beams(RequestState& state) {
    state.beams->stop(*state.end);
    std::vector<Beam> beams = state.beams->results();
    if (beams.empty()) return beams;
    const Beam& best = beams.front();
    for (size_t i = 0; i < best.ids.size(); ++i) {
        state.channel->deliver({.id = best.ids[i],
                                .text = state.answer.take(best.ids[i]),
                                .logprob = best.logprobs[i]});
    }
    if (state.end != FinishReason::cancelled) state.end = best.reason;
    return beams;
}

void StepLoop::release_beams(RequestState& state) {
    if (!state.error) state.beams->publish_best();
    state.beams->drop();
}

// After a step's blocks were reserved, when they are most.
void StepLoop::count_shared_blocks() {
    for (auto& state : requests_) {
        SequenceGroup* sequence_group = state->sequence_group.get();
        if (!sequence_group || sequence_group->counted_in == counts_.n_steps) continue;
        sequence_group->counted_in = counts_.n_steps;
        census_.begin();
        uint32_t n_copied = 0;
        for (auto& other : requests_) {
            if (other->sequence_group.get() != sequence_group) continue;
            census_.add(other->sequence.table());
            if (!other->computes_beams()) {
                n_copied += other->sequence.table().n_blocks();
                continue;
            }
            for (uint32_t i = 0; i < other->beams->n_beams(); ++i) {
                census_.add(other->beams->sequence(i).table());
                n_copied += other->beams->sequence(i).table().n_blocks();
            }
        }
        sequence_group->note(census_.n_blocks(), n_copied);
    }
}

}  // namespace kvik
