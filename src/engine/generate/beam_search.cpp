#include "engine/generate/beam_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "base/exact_math.h"
#include "sample/candidates.h"
#include "sample/logprob.h"
#include "sample/row.h"
#include "sample/tiles.h"

namespace kvik {

BeamSearch::BeamSearch(const BeamSearchOptions& options) : options_(options), beams_(1) {
    KVIK_CHECK(options.params.n_beams > 0, "a search has a beam");
    if (options.wants_logits_hash) beams_[0].hash.emplace();
}

double BeamSearch::score(double sum_logprob, uint32_t n_tokens, double length_penalty) {
    if (length_penalty == 0) return sum_logprob;
    if (length_penalty == 1) return sum_logprob / n_tokens;
    return sum_logprob / exact_pow(n_tokens, length_penalty);
}

bool BeamSearch::is_before(const Option& a, const Option& b) {
    if (a.sum != b.sum) return a.sum > b.sum;
    return std::tie(a.move.parent, a.move.token) < std::tie(b.move.parent, b.move.token);
}

uint32_t BeamSearch::n_options() const {
    return std::max(2u, 1 + options_.n_end_tokens) * options_.params.n_beams;
}

// ---- rows ----

static tl::unexpected<Error> no_way_on(float largest, uint32_t position) {
    if (largest > 0)
        return fail(ErrorKind::failed,
                    fmt::format("the logits for position {} hold NaN or infinity: no beam can go "
                                "on; kvik show --check MODEL says whether the file is damaged",
                                position));
    return fail(
        ErrorKind::failed,
        fmt::format("every logit for position {} is -infinity: no beam can go on; kvik show "
                    "--check MODEL says whether the file is damaged",
                    position));
}

Result<void> BeamSearch::take_row(uint32_t beam, const Row& row) {
    Row known = row;
    if (known.tiles.maxima.empty()) {
        maxima_.resize(n_logit_tiles(row.logits.size()));
        note_maxima(row.logits, maxima_);
        known.tiles = {.maxima = maxima_, .sum_exps = {}, .tempered = {}};
    }
    const float max = largest({row.logits, known.tiles.maxima});
    if (!is_sampleable(max)) return no_way_on(max, row.position);
    gather(known, beam,
           known.tiles.sum_exps.empty() ? log_sum_exp(row.logits) : log_sum_exp(known.tiles));
    Running& running = beams_[beam];
    running.has_row = true;
    if (running.hash) {
        running.hash_after = running.hash->copy();
        running.hash_after->update(std::as_bytes(row.logits));
    }
    return {};
}

// Keeps the best options of the row in a heap with the worst of them on top. Ids ascend, so a later
// token replaces that one only with a larger sum, that is with a larger logit.
void BeamSearch::gather(const Row& row, uint32_t beam, double log_sum) {
    const double sum = beams_[beam].sum;
    std::vector<Option>& kept = beams_[beam].options;
    kept.clear();
    float limit = kLowestLogit;
    for_each_from({row.logits, row.tiles.maxima}, limit, [&](TokenId id, float logit) {
        const double logprob = logit - log_sum;
        const Option option = {sum + logprob, logprob, {.parent = beam, .token = id}};
        if (kept.size() == n_options()) {
            if (!is_before(option, kept.front())) return limit;
            std::pop_heap(kept.begin(), kept.end(), is_before);
            kept.pop_back();
        }
        kept.push_back(option);
        std::push_heap(kept.begin(), kept.end(), is_before);
        if (kept.size() == n_options()) {
            const auto worst = static_cast<size_t>(kept.front().move.token);
            limit = std::max(limit, row.logits[worst]);
        }
        return limit;
    });
}

bool BeamSearch::has_all_rows() const {
    return std::all_of(beams_.begin(), beams_.end(), [](const Running& b) { return b.has_row; });
}

void BeamSearch::forget_rows() {
    for (Running& beam : beams_) beam.has_row = false;
}

// ---- a step ----

void BeamSearch::rank_options() {
    ranked_.clear();
    for (const Running& beam : beams_)
        ranked_.insert(ranked_.end(), beam.options.begin(), beam.options.end());
    std::sort(ranked_.begin(), ranked_.end(), is_before);
    if (ranked_.size() > n_options()) ranked_.resize(n_options());
}

uint32_t BeamSearch::add_pick(const Option& option) {
    picks_.push_back(
        {beams_[option.move.parent].last, option.move.token, static_cast<float>(option.logprob)});
    return static_cast<uint32_t>(picks_.size() - 1);
}

BeamSearch::Running BeamSearch::child_of(const Option& option) {
    Running child;
    child.sum = option.sum;
    child.last = add_pick(option);
    const Running& parent = beams_[option.move.parent];
    if (parent.hash_after) child.hash = parent.hash_after->copy();
    return child;
}

void BeamSearch::end(Ended ended) {
    ended.score = score(ended.sum, n_tokens_, options_.params.length_penalty);
    const auto after = [](const Ended& a, const Ended& b) { return a.score > b.score; };
    ended_.insert(std::upper_bound(ended_.begin(), ended_.end(), ended, after), std::move(ended));
    if (ended_.size() > options_.params.n_beams) ended_.pop_back();
}

bool BeamSearch::cannot_improve() const {
    return ended_.size() == options_.params.n_beams && !beams_.empty() &&
           ended_.back().score >= score(beams_[0].sum, n_tokens_, options_.params.length_penalty);
}

void BeamSearch::advance(const Ends& ends) {
    KVIK_CHECK(!is_over() && has_all_rows(), "beams advance together");
    rank_options();
    ++n_tokens_;
    moves_.clear();
    ends_.clear();
    std::vector<Running> next;
    const uint32_t n_most = options_.params.n_beams;
    for (size_t rank = 0; rank < ranked_.size() && next.size() < n_most; ++rank) {
        const Option& option = ranked_[rank];
        const Ending ending = ends(option.move);
        if (ending == Ending::none) {
            next.push_back(child_of(option));
            moves_.push_back(option.move);
        } else if (rank < n_most) {
            ends_.push_back(option.move);
            const Running& parent = beams_[option.move.parent];
            const bool with_token = ending == Ending::with_token;
            const std::optional<Sha256>& hash = with_token ? parent.hash_after : parent.hash;
            end({.sum = option.sum,
                 .last = with_token ? add_pick(option) : parent.last,
                 .reason = FinishReason::stop,
                 .hash = hash ? hash->hex() : ""});
        }
    }
    beams_ = std::move(next);
    if (n_tokens_ == options_.max_tokens) stop(FinishReason::length);
    if (cannot_improve()) beams_.clear();
    if (is_over()) moves_.clear();
}

// ---- the end ----

void BeamSearch::stop(FinishReason reason) {
    if (n_tokens_ > 0) {
        for (const Running& beam : beams_)
            end({.sum = beam.sum,
                 .last = beam.last,
                 .reason = reason,
                 .hash = beam.hash ? beam.hash->hex() : ""});
    }
    beams_.clear();
}

std::vector<Beam> BeamSearch::results() const {
    std::vector<Beam> beams;
    for (const Ended& ended : ended_) {
        Beam beam;
        for (uint32_t at = ended.last; at != kNone; at = picks_[at].before) {
            beam.ids.push_back(picks_[at].token);
            beam.logprobs.push_back(picks_[at].logprob);
        }
        std::reverse(beam.ids.begin(), beam.ids.end());
        std::reverse(beam.logprobs.begin(), beam.logprobs.end());
        beam.score = ended.score;
        beam.sum_logprob = ended.sum;
        beam.reason = ended.reason;
        beam.logits_sha256 = ended.hash;
        beams.push_back(std::move(beam));
    }
    return beams;
}

}  // namespace kvik
