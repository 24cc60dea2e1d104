// Stepper: what is different where a request has several sequences.
#include "engine/stepper.h"

namespace kvik {

void Stepper::give_beams(Job& job, GenerateRequest& request) {
    const uint32_t n_end_tokens =
        request.end_tokens == EndTokens::stop ? static_cast<uint32_t>(parts_.end_tokens.size()) : 0;
    job.beams = std::make_unique<BeamJob>(
        BeamJobParts{.search = {.params = *request.beams,
                                .n_end_tokens = n_end_tokens,
                                .max_tokens = job.answer.max_tokens(),
                                .wants_logits_hash = request.want_logits_hash},
                     .blank = job.answer,
                     .watch = request.stop.empty() ? WatchText::off : WatchText::on,
                     .cache = *cache_,
                     .ns = job.cache == CachePolicy::reuse ? std::optional(job.ns) : std::nullopt});
    request.want_logprobs = true;  // its rows are noted for sums of all their probabilities
}

// The stem's row begins the search, once; it comes again when the job was preempted.
void Stepper::begin_beams(Job& job, const BeamJob::Row& row) {
    if (!job.beams->has_begun()) note_beams(job, job.beams->begin(job.sequence, row));
}

void Stepper::note_beams(Job& job, const Result<void>& taken) {
    if (!taken) {
        job.error = taken.error();
        return;
    }
    job.last_pick_ms = parts_.now_ms();
    if (job.beams->is_over()) job.end = FinishReason::length;  // unless the best one knows better
}

// The best beam is told as if it had been the only one.
std::vector<Beam> Stepper::tell_beams(Job& job) {
    job.beams->stop(*job.end);
    std::vector<Beam> beams = job.beams->results();
    if (beams.empty()) return beams;
    const Beam& best = beams.front();
    for (size_t i = 0; i < best.ids.size(); ++i) {
        job.channel->deliver(
            {.id = best.ids[i], .text = job.answer.take(best.ids[i]), .logprob = best.logprobs[i]});
    }
    if (job.end != FinishReason::cancelled) job.end = best.reason;
    return beams;
}

void Stepper::release_beams(Job& job) {
    if (!job.error) job.beams->publish_best();
    job.beams->drop();
}

// After a step's blocks were reserved, when they are most.
void Stepper::count_families() {
    for (auto& job : jobs_) {
        KvFamily* family = job->family.get();
        if (!family || family->counted_in == counts_.n_steps) continue;
        family->counted_in = counts_.n_steps;
        census_.begin();
        uint32_t n_copied = 0;
        for (auto& other : jobs_) {
            if (other->family.get() != family) continue;
            census_.add(other->sequence.table());
            if (!other->is_spread()) {
                n_copied += other->sequence.table().n_blocks();
                continue;
            }
            for (uint32_t i = 0; i < other->beams->n_beams(); ++i) {
                census_.add(other->beams->sequence(i).table());
                n_copied += other->beams->sequence(i).table().n_blocks();
            }
        }
        family->note(census_.n_blocks(), n_copied);
    }
}

}  // namespace kvik
