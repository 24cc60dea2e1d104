#include "engine/generate/token_picker.h"

#include <utility>

#include "sample/logprob.h"

namespace kvik {

void TokenPicker::pick(RequestState& state, std::span<const float> row, const LogitTiles& tiles) {
    const double now_ms = now_ms_();
    if (!state.first_pick_ms) {
        state.first_pick_ms = now_ms;
        pin_prompt(state);
    }
    state.end = state.answer.ended();
    if (state.end) return;
    if (state.beams) return begin_beams(state, {row, tiles, state.sequence.n_tokens()});
    const Result<TokenId> picked = sample(state.request.sampling,
                                          {.logits = row,
                                           .history = state.sequence.tokens(),
                                           .position = state.sequence.n_tokens(),
                                           .tiles = tiles},
                                          scratch_);
    if (!picked) {
        state.error = picked.error();
        return;
    }
    if (state.answer.is_end(*picked)) {
        state.end = FinishReason::stop;
        return;
    }
    state.last_pick_ms = now_ms;
    add_token(state, *picked, row, tiles);
}

void TokenPicker::add_token(RequestState& state, TokenId token, std::span<const float> row,
                            const LogitTiles& tiles) {
    if (state.hash) state.hash->update(std::as_bytes(row));
    state.sequence.push(token);
    state.events.push_back({.id = token,
                            .text = state.answer.take(token),
                            .logprob = state.request.want_logprobs
                                           ? static_cast<float>(log_softmax_at(row, token, tiles))
                                           : 0.0f});
    state.end = state.answer.ended();
}

// Called with the first pick, when the prompt is cached to its end.
void TokenPicker::pin_prompt(const RequestState& state) {
    if (state.request.pin_ms <= 0 || state.cache == CachePolicy::off) return;
    cache_.pin(state.ns, state.sequence.prompt(), now_ms_() + state.request.pin_ms);
}

// ---- beam search ----

void TokenPicker::pick_for_beam(RequestState& state, uint32_t beam, std::span<const float> row,
                                const LogitTiles& tiles) {
    const uint32_t position = state.beams->sequence(beam).n_tokens();
    note_beams(state,
               state.beams->take_row(beam, {.logits = row, .tiles = tiles, .position = position}));
}

// The row after the prompt begins the search. It is computed again after a preemption, when the
// search has begun already.
void TokenPicker::begin_beams(RequestState& state, const RequestBeams::Row& row) {
    if (!state.beams->has_begun()) note_beams(state, state.beams->begin(state.sequence, row));
}

void TokenPicker::note_beams(RequestState& state, const Result<void>& taken) {
    if (!taken) {
        state.error = taken.error();
        return;
    }
    state.last_pick_ms = now_ms_();
    // Emission replaces the reason by that of the best beam.
    if (state.beams->is_over()) state.end = FinishReason::length;
}

}  // namespace kvik
