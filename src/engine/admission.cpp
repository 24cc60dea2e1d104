// Stepper: which jobs take part in steps, and with which cached prefix they start.
#include <algorithm>

#include "engine/stepper.h"

namespace kvik {

// Computing fewer tokens than this is cheaper than waiting for another to have done it.
static constexpr uint32_t kLeastTwinTokens = 16;

// Oldest first; nobody overtakes one that waits for room, but twins stand aside.
void Stepper::admit() {
    for (auto& job : jobs_) {
        if (job->is_admitted || job->has_ended() || waits_for_twin(*job)) continue;
        if (!admit(*job)) return;
    }
}

// Twins compute a common prefix once: who comes later waits until the first one has it, then shares
// it, whether the first is still busy with the rest of its prompt or not.
bool Stepper::waits_for_twin(const Job& job) {
    if (!job.may_adopt()) return false;
    Job* leader = nullptr;
    uint32_t n_common = 0;
    for (auto& other : jobs_) {
        if (!other->is_admitted || other->has_ended() || other->cache == CachePolicy::off) continue;
        if (other->ns != job.ns) continue;
        const uint32_t n = common_prefix(other->sequence.prompt(), job.sequence.tokens());
        if (n > n_common) {
            n_common = n;
            leader = other.get();
        }
    }
    if (n_common < kLeastTwinTokens ||
        n_common < cache_->n_cached(job.ns, job.sequence.tokens()) + kLeastTwinTokens) {
        return false;
    }
    const uint32_t n_computed = leader->sequence.n_computed();
    if (n_computed < n_common) return true;
    const uint32_t n_whole = n_computed - n_computed % cache_->block_tokens();
    cache_->publish(leader->ns, leader->sequence, n_whole >= n_common ? n_whole : n_computed);
    return false;
}

// Room for all known tokens and one more, and a spare block for each that runs already: else the
// newcomer would only be preempted again. A sequence alone always fits (Engine::submit saw to it).
bool Stepper::fits(const Job& job, const PrefixHit& hit) {
    census_.begin();
    uint32_t n_running = 0;
    for (auto& other : jobs_) {
        if (!other->is_admitted || other->has_ended()) continue;  // whose blocks are free soon
        n_running += other->n_most_sequences();
        census_.add(other->sequence.table());
        for (uint32_t i = 0; other->beams && i < other->beams->n_beams(); ++i)
            census_.add(other->beams->sequence(i).table());
    }
    if (n_running == 0) return true;
    if (n_running + job.n_most_sequences() > settings_.max_sequences) return false;
    census_.add(hit);
    const uint32_t block_tokens = cache_->block_tokens();
    const uint32_t n_all = job.sequence.n_tokens() / block_tokens + 1;
    const uint32_t n_beams_want = job.beams ? job.beams->n_places_wanted(job.sequence) : 0;
    const uint32_t n_wanted = n_all - hit.n_tokens / block_tokens + n_running + n_beams_want;
    return n_wanted <= cache_->n_blocks() - census_.n_blocks();
}

bool Stepper::admit(Job& job) {
    Sequence& sequence = job.sequence;
    PrefixHit hit;
    if (job.may_adopt()) hit = cache_->find(job.ns, sequence.tokens());
    if (!fits(job, hit)) return false;
    job.is_admitted = true;
    if (!job.started_ms) {
        job.started_ms = parts_.now_ms();
        job.n_cached = hit.n_tokens;
    }
    if (hit.n_tokens == 0) return true;
    counts_.n_hit_tokens += hit.n_tokens;
    const std::span<float> row = logits_rows(0, 1);
    std::copy(hit.logits.begin(), hit.logits.end(), row.begin());
    cache_->adopt(sequence, std::move(hit));
    if (sequence.has_caught_up()) pick(job, row, {});
    return true;
}

}  // namespace kvik
