#include "engine/loop/intake.h"

#include <algorithm>
#include <utility>

namespace kvik {

Intake::Intake(const StepContext& context, RequestQueue& queue) : context_(context), queue_(queue) {
    taken_.reserve(context.settings.max_sequences);
    cancelled_.reserve(queue.capacity());
}

bool Intake::run_tasks() {
    queue_.take_tasks(tasks_);
    const bool has_tasks = !tasks_.empty();
    for (const CacheTask& task : tasks_) task(context_.cache);
    tasks_.clear();
    return has_tasks;
}

static Summary summary_without_start(const QueuedRequest& queued, double now_ms) {
    Summary summary;
    summary.reason = FinishReason::cancelled;
    summary.timings.n_prompt_tokens = static_cast<uint32_t>(queued.request.prompt.size());
    summary.timings.queue_ms = now_ms - queued.submitted_ms;
    if (queued.request.want_logits_hash) summary.logits_sha256 = Sha256().hex();
    return summary;
}

void Intake::take_requests(Requests& requests) {
    const size_t n_free = context_.settings.max_sequences - requests.size();
    queue_.take(static_cast<uint32_t>(n_free), taken_, cancelled_);
    for (const QueuedRequest& cancelled : cancelled_)
        cancelled.channel->end(summary_without_start(cancelled, context_.now_ms()), {});
    for (QueuedRequest& taken : taken_) requests.push_back(make_state(std::move(taken)));
    cancelled_.clear();
    taken_.clear();
}

std::unique_ptr<RequestState> Intake::make_state(QueuedRequest queued) const {
    GenerateRequest& request = queued.request;
    const EngineSettings& settings = context_.settings;
    const auto n_prompt = static_cast<uint32_t>(request.prompt.size());
    const uint32_t n_new = std::min(request.max_new_tokens, settings.context - n_prompt);
    const bool stops_at_end_tokens = request.end_tokens == EndTokens::stop;
    Answer answer(
        context_.tokenizer,
        {.end_tokens = stops_at_end_tokens ? context_.end_tokens : std::span<const TokenId>(),
         .stop = request.stop,
         .max_tokens = n_new});
    const uint32_t max_tokens = n_prompt + n_new;
    Sequence sequence(context_.cache.make_table(max_tokens), std::move(request.prompt), max_tokens);
    auto state = std::make_unique<RequestState>(std::move(sequence), std::move(answer));
    state->cache = settings.cache == CachePolicy::off ? CachePolicy::off : request.cache;
    state->ns = namespace_within(context_.cache.ns(), {.adapter = {}, .salt = request.cache_salt});
    if (request.beams) {
        state->beams = make_beams(*state, request);
        request.want_logprobs = true;  // the search needs the sum over all probabilities of a row
    }
    if (request.want_logits_hash && !request.beams) state->hash.emplace();
    if (request.want_prompt_logprobs) {
        state->prompt_logprobs.reserve(n_prompt);
        state->prompt_logprobs.push_back(0);  // no token precedes the first
    }
    state->group = request.beams ? std::make_shared<SequenceGroup>() : std::move(queued.group);
    state->submitted_ms = queued.submitted_ms;
    state->channel = std::move(queued.channel);
    state->request = std::move(request);
    return state;
}

std::unique_ptr<RequestBeams> Intake::make_beams(const RequestState& state,
                                                 const GenerateRequest& request) const {
    const bool stops_at_end_tokens = request.end_tokens == EndTokens::stop;
    const size_t n_end_tokens = stops_at_end_tokens ? context_.end_tokens.size() : 0;
    return std::make_unique<RequestBeams>(RequestBeamsParts{
        .search = {.params = *request.beams,
                   .n_end_tokens = static_cast<uint32_t>(n_end_tokens),
                   .max_tokens = state.answer.max_tokens(),
                   .wants_logits_hash = request.want_logits_hash},
        .blank = state.answer,
        .watch = request.stop.empty() ? WatchText::off : WatchText::on,
        .cache = context_.cache,
        .ns = state.cache == CachePolicy::reuse ? std::optional(state.ns) : std::nullopt});
}

}  // namespace kvik
