#include "engine/loop/admission.h"

#include <algorithm>
#include <utility>

#include "engine/request/explain.h"

namespace kvik {

// Computing fewer tokens than this is cheaper than waiting until another request has computed them.
static constexpr uint32_t kLeastInFlightTokens = 16;

Admission::Admission(const StepContext& context, TokenPicker& picker, PromptLogprobs& logprobs)
    : context_(context), picker_(picker), logprobs_(logprobs), census_(context.cache.n_blocks()) {}

void Admission::admit(const Requests& requests) {
    for (const auto& state : requests) {
        if (state->is_admitted || state->has_ended()) continue;
        if (waits_for_in_flight_prefix(requests, *state)) continue;
        if (!try_admit(requests, *state)) return;
    }
}

bool Admission::try_admit(const Requests& requests, RequestState& state) {
    PrefixHit hit = look_up(state);
    if (!fits(requests, state, hit)) return false;
    state.is_admitted = true;
    if (!state.has_started) {
        state.has_started = true;
        note_start(state, hit);
    } else {
        counts_.n_hit_tokens += hit.n_tokens;
    }
    if (hit.n_tokens == 0) return true;
    cached_logits_.assign(hit.logits.begin(), hit.logits.end());
    context_.cache.adopt(state.sequence, std::move(hit));
    if (state.sequence.has_caught_up()) picker_.pick(state, cached_logits_, {});
    return true;
}

// ---- who waits ----

// Finds the running request with the longest common prefix. If it has computed the prefix,
// publishes it, even if the rest of that prompt is still to be computed, and the waiting request
// shares it.
bool Admission::waits_for_in_flight_prefix(const Requests& requests, const RequestState& state) {
    if (!state.may_adopt()) return false;
    RequestState* leader = nullptr;
    uint32_t n_common = 0;
    for (const auto& other : requests) {
        if (!other->is_admitted || other->has_ended() || other->cache == CachePolicy::off) continue;
        if (other->ns != state.ns) continue;
        const uint32_t n = common_prefix(other->sequence.prompt(), state.sequence.tokens());
        if (n > n_common) {
            n_common = n;
            leader = other.get();
        }
    }
    KvCache& cache = context_.cache;
    if (n_common < kLeastInFlightTokens ||
        n_common < cache.n_cached(state.ns, state.sequence.tokens()) + kLeastInFlightTokens) {
        return false;
    }
    const uint32_t n_computed = leader->sequence.n_computed();
    if (n_computed < n_common) return true;
    const uint32_t n_whole = n_computed - n_computed % cache.block_tokens();
    cache.publish(leader->ns, leader->sequence, n_whole >= n_common ? n_whole : n_computed);
    return false;
}

// Returns whether there are blocks for all known tokens and one more, and a spare block for each
// running sequence: with less, the new request would soon be preempted. A request alone always
// fits, which Engine::submit has checked.
bool Admission::fits(const Requests& requests, const RequestState& state, const PrefixHit& hit) {
    census_.begin();
    uint32_t n_running = 0;
    for (const auto& other : requests) {
        if (!other->is_admitted || other->has_ended())
            continue;  // the blocks of ended ones are free soon
        n_running += other->n_most_sequences();
        census_.add(*other);
    }
    if (n_running == 0) return true;
    if (n_running + state.n_most_sequences() > context_.settings.max_sequences) return false;
    census_.add(hit);
    const KvSpec& kv = context_.settings.kv;
    const uint32_t n_all = state.sequence.n_tokens() / kv.block_tokens + 1;
    const uint64_t n_new = n_all - hit.n_tokens / kv.block_tokens;
    const uint32_t n_of_beams =
        state.beams ? state.beams->n_logical_blocks_wanted(state.sequence) : 0;
    const uint64_t n_wanted = kv.most_blocks(n_new * kv.block_tokens, context_.settings.ubatch) +
                              uint64_t{n_running + n_of_beams} * kv.n_groups();
    return n_wanted <= context_.cache.n_blocks() - census_.n_blocks();
}

// ---- what is found of a prompt ----

// Loads from disk what is offloaded of the prompt, once, then looks up what is in RAM.
PrefixHit Admission::look_up(RequestState& state) {
    KvCache& cache = context_.cache;
    recall_logprobs(state);
    if (state.n_adoptable() == 0) return {};
    const std::span<const TokenId> tokens = state.sequence.tokens().first(state.n_adoptable());
    if (!state.loaded_blocks) {
        if (state.request.want_kv_report) state.path = cache.explain(state.ns, tokens);
        const double began_ms = context_.now_ms();
        state.loaded_blocks = cache.load_back(state.ns, tokens);
        // Reading counts as time of the prompt.
        if (!state.loaded_blocks->empty()) state.started_ms = began_ms;
    }
    return cache.find(state.ns, tokens);
}

// Takes kept logprobs. A prompt whose logprobs are all kept needs no logits; one that continues
// such a prompt needs only the rows that follow.
void Admission::recall_logprobs(RequestState& state) {
    if (state.cache == CachePolicy::off || state.request.on_prompt_logits) return;
    if (!state.request.want_prompt_logprobs || !state.wants_prompt_logits()) return;
    const std::span<const float> kept = logprobs_.find(state.ns, state.sequence.prompt());
    if (kept.size() <= state.prompt_logprobs.size()) return;
    state.prompt_logprobs.assign(kept.begin(), kept.end());
    state.n_prompt_logits = static_cast<uint32_t>(kept.size()) - 1;
    if (kept.size() == state.sequence.n_prompt()) {  // marks the entry as used most recently
        logprobs_.put(state.ns, state.sequence.prompt(), state.prompt_logprobs);
    }
}

// Returns the found tokens as runs, by where each block came from.
static std::vector<FoundRun> found_runs(const RequestState& state, const PrefixHit& hit,
                                        uint32_t block_tokens) {
    std::vector<FoundRun> found;
    std::span<const uint32_t> loaded;
    if (state.loaded_blocks) loaded = *state.loaded_blocks;
    for (uint32_t at = 0; at < hit.n_tokens; at += block_tokens) {
        const uint32_t n = std::min(block_tokens, hit.n_tokens - at);
        const bool was_read = std::binary_search(loaded.begin(), loaded.end(), at / block_tokens);
        found.push_back({n, was_read ? KvSource::disk : KvSource::ram});
    }
    return found;
}

void Admission::note_start(RequestState& state, const PrefixHit& hit) {
    if (!state.started_ms) state.started_ms = context_.now_ms();
    state.n_cached = hit.n_tokens;
    state.note_progress();
    state.branch_at = hit.n_resident > hit.n_tokens ? hit.n_resident : 0;
    for (const FoundRun& run : found_runs(state, hit, context_.cache.block_tokens()))
        state.n_disk += run.source == KvSource::disk ? run.n_tokens : 0;
    counts_.n_hit_tokens += hit.n_tokens;
    counts_.n_disk_tokens += state.n_disk;
    counts_.saved_ms += context_.cache.rate().ms(hit.n_tokens, 0);
    if (state.request.want_kv_report) state.kv_report = report(state, hit);
}

// Explains, when a request is admitted first, why no more of its prompt was found.
KvReport Admission::report(const RequestState& state, const PrefixHit& hit) const {
    KvCache& cache = context_.cache;
    const std::span<const TokenId> tokens = state.sequence.tokens();
    PromptFacts facts{.prompt = tokens,
                      .found = found_runs(state, hit, cache.block_tokens()),
                      .path = state.path.value_or(PathReport{}),
                      .cache = state.n_adoptable() > 0 ? CachePolicy::reuse : CachePolicy::off,
                      .saved_ms = cache.rate().ms(hit.n_tokens, 0),
                      .now_ms = *state.started_ms};
    facts.lacks_logits = hit.n_tokens + 1 == tokens.size() && state.may_adopt() &&
                         cache.n_cached(state.ns, tokens) == tokens.size();
    if (!state.request.cache_salt.empty())
        facts.n_without_salt = cache.explain(cache.ns(), tokens).n_known;
    return explain(facts, context_.tokenizer);
}

}  // namespace kvik
