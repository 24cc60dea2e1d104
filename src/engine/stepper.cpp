#include "engine/stepper.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace kvik {

Result<std::unique_ptr<Stepper>> Stepper::open(StepperParts parts, const Settings& settings) {
    KVIK_TRY(std::unique_ptr<KvCache> cache,
             KvCache::open(settings, parts.model.spec().vocab_size));
    KVIK_TRY(std::unique_ptr<Scratch> scratch,
             parts.model.make_scratch(settings.scratch_limits(), parts.pool));
    return std::unique_ptr<Stepper>(
        new Stepper(std::move(parts), settings, std::move(cache), std::move(scratch)));
}

Stepper::Stepper(StepperParts parts, const Settings& settings, std::unique_ptr<KvCache> cache,
                 std::unique_ptr<Scratch> scratch)
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
    jobs_.reserve(settings.max_sequences);
    taken_.reserve(settings.max_sequences);
    gone_.reserve(parts_.inbox.capacity());
    running_.reserve(settings.max_sequences);
    views_.reserve(settings.max_sequences);
    plan_.rows.reserve(settings.max_sequences);
    note_stats();
}

bool Stepper::step() {
    take();
    cache_->set_clock(parts_.now_ms());
    cache_->poll_disk();
    run_tasks();
    end_cancelled();
    admit();
    sweep();  // an answer of one token from a cached prompt has ended
    if (jobs_.empty()) return false;
    plan();
    compute();
    sweep();
    note_stats();
    return true;
}

void Stepper::end_all() {
    take();
    for (;;) {
        for (auto& job : jobs_) job->end = FinishReason::cancelled;
        sweep();
        take();
        if (jobs_.empty()) break;
    }
    cache_->finish_disk();
}

// ---- from the inbox, and to the end ----

static Summary never_started(const Submission& submission, double now_ms) {
    Summary summary;
    summary.reason = FinishReason::cancelled;
    summary.timings.prompt_n = static_cast<uint32_t>(submission.request.prompt.size());
    summary.timings.queue_ms = now_ms - submission.submitted_ms;
    if (submission.request.want_logits_hash) summary.logits_sha256 = Sha256().hex();
    return summary;
}

void Stepper::run_tasks() {
    parts_.inbox.take_tasks(tasks_);
    if (tasks_.empty()) return;
    for (const Task& task : tasks_) task(*this);
    tasks_.clear();
    note_stats();
}

void Stepper::take() {
    const auto n_room = static_cast<uint32_t>(settings_.max_sequences - jobs_.size());
    parts_.inbox.take(n_room, taken_, gone_);
    for (Submission& gone : gone_) {
        gone.channel->end(never_started(gone, parts_.now_ms()), {});
    }
    for (Submission& taken : taken_) jobs_.push_back(make_job(std::move(taken)));
    gone_.clear();
    taken_.clear();
}

std::unique_ptr<Job> Stepper::make_job(Submission submission) {
    GenerateRequest& request = submission.request;
    const auto n_prompt = static_cast<uint32_t>(request.prompt.size());
    const uint32_t n_new = std::min(request.max_new_tokens, settings_.context - n_prompt);
    Answer answer(parts_.tokenizer, {.end_tokens = request.end_tokens == EndTokens::stop
                                                       ? std::span<const TokenId>(parts_.end_tokens)
                                                       : std::span<const TokenId>(),
                                     .stop = request.stop,
                                     .max_tokens = n_new});
    const uint32_t max_tokens = n_prompt + n_new;
    Sequence sequence(cache_->make_table(max_tokens), std::move(request.prompt), max_tokens);
    auto job = std::make_unique<Job>(std::move(sequence), std::move(answer));
    job->cache = settings_.cache == CachePolicy::off ? CachePolicy::off : request.cache;
    job->ns = namespace_within(cache_->ns(), {.adapter = {}, .salt = request.cache_salt});
    if (request.beams) give_beams(*job, request);
    if (request.want_logits_hash && !request.beams) job->hash.emplace();
    if (request.want_prompt_logprobs) {
        job->prompt_logprobs.reserve(n_prompt);
        job->prompt_logprobs.push_back(0);  // the first token follows nothing
    }
    job->family = request.beams ? std::make_shared<KvFamily>() : std::move(submission.family);
    job->submitted_ms = submission.submitted_ms;
    job->channel = std::move(submission.channel);
    job->request = std::move(request);
    return job;
}

void Stepper::end_cancelled() {
    for (auto& job : jobs_) {
        if (job->channel->cancelled()) job->end = FinishReason::cancelled;
    }
}

static Summary summary_of(const Job& job, double now_ms) {
    Summary summary;
    summary.reason = *job.end;
    summary.kv_blocks = job.sequence.table().n_blocks();
    if (job.family) {
        summary.kv_blocks_shared = job.family->n_shared;
        summary.kv_blocks_copied = job.family->n_copied;
    }
    const double started_ms = job.started_ms.value_or(now_ms);
    const double picked_ms = job.first_pick_ms.value_or(now_ms);
    summary.timings = {.prompt_n = job.sequence.n_prompt(),
                       .cached_n = job.n_cached,
                       .disk_n = job.n_disk,
                       .decode_n = job.answer.n_tokens(),
                       .queue_ms = started_ms - job.submitted_ms,
                       .prompt_ms = picked_ms - started_ms,
                       .decode_ms = job.answer.n_tokens() > 0 ? job.last_pick_ms - picked_ms : 0};
    summary.seed = job.request.sampling.seed.value_or(0);
    if (job.hash) summary.logits_sha256 = job.hash->hex();
    summary.kv_report = job.kv_report;
    return summary;
}

// Only tokens that stay are published: none after a stop string, no end token (it has no KV yet).
void Stepper::release(Job& job) {
    if (job.beams) release_beams(job);
    if (job.cache == CachePolicy::reuse && !job.error) {
        const uint32_t n_kept =
            std::min(job.sequence.n_prompt() + job.answer.n_kept(), job.sequence.n_computed());
        cache_->publish(job.ns, job.sequence, n_kept);
        cache_->save(job.ns, job.sequence.tokens().first(n_kept));
    }
    job.sequence.give_up();
}

void Stepper::summarise(Job& job) {
    std::vector<Beam> beams;
    if (job.beams) beams = tell_beams(job);
    job.summary = summary_of(job, parts_.now_ms());
    if (!beams.empty()) job.summary.logits_sha256 = beams.front().logits_sha256;
    job.summary.beams = std::move(beams);
    job.summary.prompt_logprobs = std::move(job.prompt_logprobs);
}

// Who sees the end of a stream sees the cache as it is after it.
void Stepper::sweep() {
    const auto ended = [](const std::unique_ptr<Job>& job) { return job->has_ended(); };
    if (std::none_of(jobs_.begin(), jobs_.end(), ended)) return;
    for (auto& job : jobs_) {
        if (!ended(job)) continue;
        if (!job->error) summarise(*job);
        release(*job);
    }
    note_stats();
    for (auto& job : jobs_) {
        if (!ended(job)) continue;
        if (job->error) {
            job->channel->end_with(*job->error);
        } else {
            job->channel->end(std::move(job->summary), job->answer.finish());
        }
    }
    std::erase_if(jobs_, ended);
}

// ---- what others may know ----

void Stepper::note_stats() {
    const PrefixStats tree = cache_->stats();
    const std::lock_guard lock(stats_mutex_);
    stats_ = {.n_blocks = cache_->n_blocks(),
              .n_free = cache_->n_free(),
              .block_bytes = cache_->block_bytes(),
              .cached_tokens = tree.cached_tokens,
              .hit_tokens = counts_.n_hit_tokens,
              .computed_tokens = counts_.n_rows,
              .evicted_blocks = tree.evicted_blocks,
              .disk_tokens = counts_.n_disk_tokens,
              .saved_ms = counts_.saved_ms,
              .evicted_window_blocks = tree.evicted_window_blocks,
              .forgotten_blocks = tree.forgotten_blocks,
              .n_preemptions = counts_.n_preemptions,
              .n_sleeping = tree.n_sleeping,
              .pinned_blocks = tree.pinned_blocks,
              .disk_bytes = cache_->disk_stats().n_bytes};
}

CacheStats Stepper::cache_stats() const {
    const std::lock_guard lock(stats_mutex_);
    return stats_;
}

void Stepper::check_invariants() const {
    uint64_t n_held = 0;
    for (const auto& job : jobs_) {
        job->sequence.check_invariants();
        uint64_t n_of_job = job->sequence.table().n_blocks();
        for (uint32_t i = 0; job->beams && i < job->beams->n_beams(); ++i) {
            job->beams->sequence(i).check_invariants();
            n_of_job += job->beams->sequence(i).table().n_blocks();
        }
        n_held += n_of_job;
        KVIK_CHECK(job->is_admitted || n_of_job == 0, "a job that is not admitted holds no block");
    }
    cache_->check_invariants(n_held);
}

}  // namespace kvik
