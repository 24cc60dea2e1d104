#include "engine/loop/emission.h"

#include <algorithm>
#include <utility>

namespace kvik {

static void deliver_events(RequestState& state) {
    for (TokenEvent& event : state.events) state.channel->deliver(std::move(event));
    state.events.clear();
}

void Emission::emit(Requests& requests, const std::function<void()>& update_stats) {
    for (const auto& state : requests) deliver_events(*state);
    const auto has_ended = [](const auto& state) { return state->has_ended(); };
    if (std::none_of(requests.begin(), requests.end(), has_ended)) return;
    for (const auto& state : requests) {
        if (!state->has_ended()) continue;
        if (!state->error) summarise(*state);
        release_kv(*state);
    }
    update_stats();
    for (const auto& state : requests) {
        if (state->has_ended()) end_stream(*state);
    }
    std::erase_if(requests, has_ended);
}

static Summary summary_of(const RequestState& state, double now_ms) {
    Summary summary;
    summary.reason = *state.end;
    summary.n_kv_blocks = state.sequence.table().n_blocks();
    if (state.group) {
        summary.n_kv_blocks_shared = state.group->n_shared;
        summary.n_kv_blocks_copied = state.group->n_copied;
    }
    const double started_ms = state.started_ms.value_or(now_ms);
    const double picked_ms = state.first_pick_ms.value_or(now_ms);
    const uint32_t n_generated = state.answer.n_tokens();
    summary.timings = {.n_prompt_tokens = state.sequence.n_prompt(),
                       .n_cached_tokens = state.n_cached,
                       .n_disk_tokens = state.n_disk,
                       .n_generated_tokens = n_generated,
                       .queue_ms = started_ms - state.submitted_ms,
                       .prompt_ms = picked_ms - started_ms,
                       .decode_ms = n_generated > 0 ? state.last_pick_ms - picked_ms : 0};
    summary.seed = state.request.sampling.seed.value_or(0);
    if (state.hash) summary.logits_sha256 = state.hash->hex();
    summary.kv_report = state.kv_report;
    return summary;
}

void Emission::summarise(RequestState& state) {
    std::vector<Beam> beams;
    if (state.beams) beams = finish_beams(state);
    state.summary = summary_of(state, context_.now_ms());
    if (!beams.empty()) state.summary.logits_sha256 = beams.front().logits_sha256;
    state.summary.beams = std::move(beams);
    state.summary.prompt_logprobs = std::move(state.prompt_logprobs);
}

// Delivers the best beam as if it had been sampled token by token.
std::vector<Beam> Emission::finish_beams(RequestState& state) {
    state.beams->stop(*state.end);
    std::vector<Beam> beams = state.beams->results();
    if (beams.empty()) return beams;
    const Beam& best = beams.front();
    for (size_t i = 0; i < best.ids.size(); ++i) {
        state.events.push_back({.id = best.ids[i],
                                .text = state.answer.take(best.ids[i]),
                                .logprob = best.logprobs[i]});
    }
    if (state.end != FinishReason::cancelled) state.end = best.reason;
    return beams;
}

// Publishes only tokens that are part of the answer: none after a stop string, and no end token,
// whose KV was not computed.
void Emission::release_kv(RequestState& state) {
    if (state.beams) {
        if (!state.error) state.beams->publish_best();
        state.beams->drop();
    }
    if (state.cache == CachePolicy::reuse && !state.error) {
        const uint32_t n_kept = std::min(state.sequence.n_prompt() + state.answer.n_kept(),
                                         state.sequence.n_computed());
        context_.cache.publish(state.ns, state.sequence, n_kept);
        context_.cache.save(state.ns, state.sequence.tokens().first(n_kept));
    }
    state.sequence.give_up();
}

void Emission::end_stream(RequestState& state) {
    deliver_events(state);  // of the best beam
    if (state.error) return state.channel->end_with(*state.error);
    state.channel->end(std::move(state.summary), state.answer.finish());
}

}  // namespace kvik
