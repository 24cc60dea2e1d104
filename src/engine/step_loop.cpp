#include "engine/step_loop.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace kvik {

Result<std::unique_ptr<StepLoop>> StepLoop::open(StepLoopParts parts,
                                                 const EngineSettings& settings) {
    KVIK_TRY(std::unique_ptr<KvCache> cache,
             KvCache::open(settings, parts.model.spec().vocab_size));
    KVIK_TRY(std::unique_ptr<Scratch> scratch,
             parts.model.make_scratch(settings.scratch_limits(), parts.pool));
    return std::unique_ptr<StepLoop>(
        new StepLoop(std::move(parts), settings, std::move(cache), std::move(scratch)));
}

StepLoop::StepLoop(StepLoopParts parts, const EngineSettings& settings,
                   std::unique_ptr<KvCache> cache, std::unique_ptr<Scratch> scratch)
    : parts_(std::move(parts)),
      settings_(settings),
      vocab_size_(parts_.model.spec().vocab_size),
      cache_(std::move(cache)),
      scratch_(std::move(scratch)),
      batch_(settings.scratch_limits(), settings.max_sequences),
      logits_(std::make_unique_for_overwrite<float[]>(
          static_cast<uint64_t>(settings.n_logits_rows) * vocab_size_)),
      notes_(settings.n_logits_rows, vocab_size_),
      prompt_logprobs_(settings.prompt_logprobs_bytes),
      sample_scratch_(vocab_size_),
      census_(cache_->n_blocks()) {
    requests_.reserve(settings.max_sequences);
    taken_.reserve(settings.max_sequences);
    gone_.reserve(parts_.queue.capacity());
    scheduled_.reserve(settings.max_sequences);
    views_.reserve(settings.max_sequences);
    plan_.tokens.reserve(settings.max_sequences);
    note_stats();
}

bool StepLoop::step() {
    take();
    cache_->set_clock(parts_.now_ms());
    cache_->poll_disk();
    run_tasks();
    end_cancelled();
    admit();
    sweep();  // an answer of one token from a cached prompt has ended
    if (requests_.empty()) return false;
    plan();
    compute();
    sweep();
    note_stats();
    return true;
}

void StepLoop::end_all() {
    take();
    for (;;) {
        for (auto& state : requests_) state->end = FinishReason::cancelled;
        sweep();
        take();
        if (requests_.empty()) break;
    }
    cache_->finish_disk();
}

// ---- from the queue, and to the end ----

static Summary never_started(const QueuedRequest& queued, double now_ms) {
    Summary summary;
    summary.reason = FinishReason::cancelled;
    summary.timings.n_prompt_tokens = static_cast<uint32_t>(queued.request.prompt.size());
    summary.timings.queue_ms = now_ms - queued.submitted_ms;
    if (queued.request.want_logits_hash) summary.logits_sha256 = Sha256().hex();
    return summary;
}

void StepLoop::run_tasks() {
    parts_.queue.take_tasks(tasks_);
    if (tasks_.empty()) return;
    for (const EngineTask& task : tasks_) task(*this);
    tasks_.clear();
    note_stats();
}

void StepLoop::take() {
    const auto n_room = static_cast<uint32_t>(settings_.max_sequences - requests_.size());
    parts_.queue.take(n_room, taken_, gone_);
    for (QueuedRequest& gone : gone_) {
        gone.channel->end(never_started(gone, parts_.now_ms()), {});
    }
    for (QueuedRequest& taken : taken_) requests_.push_back(make_state(std::move(taken)));
    gone_.clear();
    taken_.clear();
}

std::unique_ptr<RequestState> StepLoop::make_state(QueuedRequest queued) {
    GenerateRequest& request = queued.request;
    const auto n_prompt = static_cast<uint32_t>(request.prompt.size());
    const uint32_t n_new = std::min(request.max_new_tokens, settings_.context - n_prompt);
    Answer answer(parts_.tokenizer, {.end_tokens = request.end_tokens == EndTokens::stop
                                                       ? std::span<const TokenId>(parts_.end_tokens)
                                                       : std::span<const TokenId>(),
                                     .stop = request.stop,
                                     .max_tokens = n_new});
    const uint32_t max_tokens = n_prompt + n_new;
    Sequence sequence(cache_->make_table(max_tokens), std::move(request.prompt), max_tokens);
    auto state = std::make_unique<RequestState>(std::move(sequence), std::move(answer));
    state->cache = settings_.cache == CachePolicy::off ? CachePolicy::off : request.cache;
    state->ns = namespace_within(cache_->ns(), {.adapter = {}, .salt = request.cache_salt});
    if (request.beams) give_beams(*state, request);
    if (request.want_logits_hash && !request.beams) state->hash.emplace();
    if (request.want_prompt_logprobs) {
        state->prompt_logprobs.reserve(n_prompt);
        state->prompt_logprobs.push_back(0);  // the first token follows nothing
    }
    state->sequence_group =
        request.beams ? std::make_shared<SequenceGroup>() : std::move(queued.sequence_group);
    state->submitted_ms = queued.submitted_ms;
    state->channel = std::move(queued.channel);
    state->request = std::move(request);
    return state;
}

void StepLoop::end_cancelled() {
    for (auto& state : requests_) {
        if (state->channel->cancelled()) state->end = FinishReason::cancelled;
    }
}

static Summary summary_of(const RequestState& state, double now_ms) {
    Summary summary;
    summary.reason = *state.end;
    summary.n_kv_blocks = state.sequence.table().n_blocks();
    if (state.sequence_group) {
        summary.n_kv_blocks_shared = state.sequence_group->n_shared;
        summary.n_kv_blocks_copied = state.sequence_group->n_copied;
    }
    const double started_ms = state.started_ms.value_or(now_ms);
    const double picked_ms = state.first_pick_ms.value_or(now_ms);
    summary.timings = {
        .n_prompt_tokens = state.sequence.n_prompt(),
        .n_cached_tokens = state.n_cached,
        .n_disk_tokens = state.n_disk,
        .n_generated_tokens = state.answer.n_tokens(),
        .queue_ms = started_ms - state.submitted_ms,
        .prompt_ms = picked_ms - started_ms,
        .decode_ms = state.answer.n_tokens() > 0 ? state.last_pick_ms - picked_ms : 0};
    summary.seed = state.request.sampling.seed.value_or(0);
    if (state.hash) summary.logits_sha256 = state.hash->hex();
    summary.kv_report = state.kv_report;
    return summary;
}

// Only tokens that stay are published: none after a stop string, no end token (it has no KV yet).
void StepLoop::release(RequestState& state) {
    if (state.beams) release_beams(state);
    if (state.cache == CachePolicy::reuse && !state.error) {
        const uint32_t n_kept = std::min(state.sequence.n_prompt() + state.answer.n_kept(),
                                         state.sequence.n_computed());
        cache_->publish(state.ns, state.sequence, n_kept);
        cache_->save(state.ns, state.sequence.tokens().first(n_kept));
    }
    state.sequence.give_up();
}

void StepLoop::summarise(RequestState& state) {
    std::vector<Beam> beams;
    if (state.beams) beams = tell_beams(state);
    state.summary = summary_of(state, parts_.now_ms());
    if (!beams.empty()) state.summary.logits_sha256 = beams.front().logits_sha256;
    state.summary.beams = std::move(beams);
    state.summary.prompt_logprobs = std::move(state.prompt_logprobs);
}

// Who sees the end of a stream sees the cache as it is after it.
void StepLoop::sweep() {
    const auto ended = [](const std::unique_ptr<RequestState>& state) {
        return state->has_ended();
    };
    if (std::none_of(requests_.begin(), requests_.end(), ended)) return;
    for (auto& state : requests_) {
        if (!ended(state)) continue;
        if (!state->error) summarise(*state);
        release(*state);
    }
    note_stats();
    for (auto& state : requests_) {
        if (!ended(state)) continue;
        if (state->error) {
            state->channel->end_with(*state->error);
        } else {
            state->channel->end(std::move(state->summary), state->answer.finish());
        }
    }
    std::erase_if(requests_, ended);
}

// ---- what others may know ----

void StepLoop::note_stats() {
    const PrefixStats tree = cache_->stats();
    const std::lock_guard lock(stats_mutex_);
    stats_ = {.n_blocks = cache_->n_blocks(),
              .n_free_blocks = cache_->n_free(),
              .block_bytes = cache_->block_bytes(),
              .n_cached_tokens = tree.cached_tokens,
              .n_hit_tokens = counts_.n_hit_tokens,
              .n_computed_tokens = counts_.n_computed_tokens,
              .n_evicted_blocks = tree.evicted_blocks,
              .n_disk_tokens = counts_.n_disk_tokens,
              .saved_ms = counts_.saved_ms,
              .n_evicted_window_blocks = tree.evicted_window_blocks,
              .n_forgotten_blocks = tree.forgotten_blocks,
              .n_preemptions = counts_.n_preemptions,
              .n_sleeping = tree.n_sleeping,
              .n_pinned_blocks = tree.pinned_blocks,
              .disk_bytes = cache_->disk_stats().n_bytes};
}

CacheStats StepLoop::cache_stats() const {
    const std::lock_guard lock(stats_mutex_);
    return stats_;
}

void StepLoop::check_invariants() const {
    uint64_t n_held = 0;
    for (const auto& state : requests_) {
        state->sequence.check_invariants();
        uint64_t n_of_request = state->sequence.table().n_blocks();
        for (uint32_t i = 0; state->beams && i < state->beams->n_beams(); ++i) {
            state->beams->sequence(i).check_invariants();
            n_of_request += state->beams->sequence(i).table().n_blocks();
        }
        n_held += n_of_request;
        KVIK_CHECK(state->is_admitted || n_of_request == 0,
                   "a request that is not admitted holds no block");
    }
    cache_->check_invariants(n_held);
}

}  // namespace kvik
