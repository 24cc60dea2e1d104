// StepLoop: which requests take part in steps, and with which cached prefix they start.
#include <algorithm>

#include "engine/explain.h"
#include "engine/step_loop.h"

namespace kvik {

// Computing fewer tokens than this is cheaper than waiting for another to have done it.
static constexpr uint32_t kLeastInFlightTokens = 16;

// Oldest first; nobody overtakes one that waits for room, but twins stand aside.
void StepLoop::admit() {
    for (auto& state : requests_) {
        if (state->is_admitted || state->has_ended() || waits_for_in_flight_prefix(*state))
            continue;
        if (!admit(*state)) return;
    }
}

// Twins compute a common prefix once: who comes later waits until the first one has it, then shares
// it, whether the first is still busy with the rest of its prompt or not.
bool StepLoop::waits_for_in_flight_prefix(const RequestState& state) {
    if (!state.may_adopt()) return false;
    RequestState* leader = nullptr;
    uint32_t n_common = 0;
    for (auto& other : requests_) {
        if (!other->is_admitted || other->has_ended() || other->cache == CachePolicy::off) continue;
        if (other->ns != state.ns) continue;
        const uint32_t n = common_prefix(other->sequence.prompt(), state.sequence.tokens());
        if (n > n_common) {
            n_common = n;
            leader = other.get();
        }
    }
    if (n_common < kLeastInFlightTokens ||
        n_common < cache_->n_cached(state.ns, state.sequence.tokens()) + kLeastInFlightTokens) {
        return false;
    }
    const uint32_t n_computed = leader->sequence.n_computed();
    if (n_computed < n_common) return true;
    const uint32_t n_whole = n_computed - n_computed % cache_->block_tokens();
    cache_->publish(leader->ns, leader->sequence, n_whole >= n_common ? n_whole : n_computed);
    return false;
}

// Room for all known tokens and one more, and a spare place for each that runs already: else the
// newcomer would only be preempted again. A sequence alone always fits (Engine::submit saw to it).
bool StepLoop::fits(const RequestState& state, const PrefixHit& hit) {
    census_.begin();
    uint32_t n_running = 0;
    for (auto& other : requests_) {
        if (!other->is_admitted || other->has_ended()) continue;  // whose blocks are free soon
        n_running += other->n_most_sequences();
        census_.add(other->sequence.table());
        for (uint32_t i = 0; other->beams && i < other->beams->n_beams(); ++i)
            census_.add(other->beams->sequence(i).table());
    }
    if (n_running == 0) return true;
    if (n_running + state.n_most_sequences() > settings_.max_sequences) return false;
    census_.add(hit);
    const KvSpec& kv = settings_.kv;
    const uint32_t n_all = state.sequence.n_tokens() / kv.block_tokens + 1;
    const uint64_t n_new = n_all - hit.n_tokens / kv.block_tokens;
    const uint32_t n_of_beams = state.beams ? state.beams->n_places_wanted(state.sequence) : 0;
    const uint64_t n_wanted = kv.most_blocks(n_new * kv.block_tokens, settings_.ubatch) +
                              uint64_t{n_running + n_of_beams} * kv.n_groups();
    return n_wanted <= cache_->n_blocks() - census_.n_blocks();
}

// A prompt whose logprobs are kept wants no rows of logits; one that goes on from such a prompt wants
// those that follow.
void StepLoop::recall_logprobs(RequestState& state) {
    if (state.cache == CachePolicy::off || state.request.on_prompt_logits) return;
    if (!state.request.want_prompt_logprobs || !state.wants_prompt_logits()) return;
    const std::span<const float> kept = prompt_logprobs_.find(state.ns, state.sequence.prompt());
    if (kept.size() <= state.prompt_logprobs.size()) return;
    state.prompt_logprobs.assign(kept.begin(), kept.end());
    state.n_prompt_logits = static_cast<uint32_t>(kept.size()) - 1;
    if (kept.size() == state.sequence.n_prompt()) {  // used, so that it stays
        prompt_logprobs_.put(state.ns, state.sequence.prompt(), state.prompt_logprobs);
    }
}

// What is in RAM; the first time, what the disk has is read before.
PrefixHit StepLoop::look_up(RequestState& state) {
    recall_logprobs(state);
    if (state.n_adoptable() == 0) return {};
    const std::span<const TokenId> tokens = state.sequence.tokens().first(state.n_adoptable());
    if (!state.woken) {
        if (state.request.want_kv_report) state.path = cache_->explain(state.ns, tokens);
        const double began_ms = parts_.now_ms();
        state.woken = cache_->wake(state.ns, tokens);
        if (!state.woken->empty()) state.started_ms = began_ms;  // reading is part of the prompt
    }
    return cache_->find(state.ns, tokens);
}

// When it takes part for the first time: what it found, and why no more.
void StepLoop::note_start(RequestState& state, const PrefixHit& hit) {
    const uint32_t block_tokens = cache_->block_tokens();
    if (!state.started_ms) state.started_ms = parts_.now_ms();
    state.n_cached = hit.n_tokens;
    state.note_progress();
    state.branch_at = hit.n_resident > hit.n_tokens ? hit.n_resident : 0;
    std::vector<FoundRun> found;
    std::span<const uint32_t> woken;
    if (state.woken) woken = *state.woken;
    for (uint32_t at = 0; at < hit.n_tokens; at += block_tokens) {
        const uint32_t n = std::min(block_tokens, hit.n_tokens - at);
        const bool was_read = std::binary_search(woken.begin(), woken.end(), at / block_tokens);
        found.push_back({n, was_read ? KvSource::disk : KvSource::ram});
        if (was_read) state.n_disk += n;
    }
    const double saved_ms = cache_->recompute_ms(hit.n_tokens);
    counts_.n_hit_tokens += hit.n_tokens;
    counts_.n_disk_tokens += state.n_disk;
    counts_.saved_ms += saved_ms;
    if (!state.request.want_kv_report) return;
    const std::span<const TokenId> tokens = state.sequence.tokens();
    PromptFacts facts{.prompt = tokens,
                      .found = std::move(found),
                      .path = state.path.value_or(PathReport{}),
                      .cache = state.n_adoptable() > 0 ? CachePolicy::reuse : CachePolicy::off,
                      .saved_ms = saved_ms,
                      .now_ms = *state.started_ms};
    facts.lacks_logits = hit.n_tokens + 1 == tokens.size() && state.may_adopt() &&
                         cache_->n_cached(state.ns, tokens) == tokens.size();
    if (!state.request.cache_salt.empty())
        facts.n_without_salt = cache_->explain(cache_->ns(), tokens).n_known;
    state.kv_report = explain(facts, parts_.tokenizer);
}

bool StepLoop::admit(RequestState& state) {
    Sequence& sequence = state.sequence;
    PrefixHit hit = look_up(state);
    if (!fits(state, hit)) return false;
    state.is_admitted = true;
    if (!state.has_started) {
        state.has_started = true;
        note_start(state, hit);
    } else {
        counts_.n_hit_tokens += hit.n_tokens;
    }
    if (hit.n_tokens == 0) return true;
    const std::span<float> row = logits_rows(0, 1);
    std::copy(hit.logits.begin(), hit.logits.end(), row.begin());
    cache_->adopt(sequence, std::move(hit));
    if (sequence.has_caught_up()) pick(state, row, {});
    return true;
}

}  // namespace kvik
