#include "engine/generate/request_beams.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace kvik {

RequestBeams::RequestBeams(RequestBeamsParts parts)
    : search_(parts.search),
      n_most_(parts.search.params.n_beams),
      blank_(std::move(parts.blank)),
      watch_(parts.watch),
      cache_(parts.cache),
      ns_(parts.ns) {}

// ---- logits in, moves out ----

Result<void> RequestBeams::begin(const Sequence& prompt_sequence, const Row& row) {
    KVIK_CHECK(!has_begun_ && prompt_sequence.has_caught_up(),
               "a search begins once, with the prompt's row");
    has_begun_ = true;
    beams_.push_back({prompt_sequence.fork(),
                      watch_ == WatchText::on ? std::make_unique<Answer>(blank_) : nullptr});
    return take_row(0, row);
}

Result<void> RequestBeams::take_row(uint32_t beam, const Row& row) {
    KVIK_TRY_VOID(search_.take_row(beam, row));
    if (!search_.has_all_rows()) return {};
    children_.clear();
    search_.advance([this](const BeamSearch::Move& move) { return ending_of(move); });
    publish_ends();
    if (!search_.is_over()) move_beams();
    return {};
}

BeamSearch::Ending RequestBeams::ending_of(const BeamSearch::Move& move) {
    if (blank_.is_end(move.token)) return BeamSearch::Ending::without_token;
    if (watch_ == WatchText::off) return BeamSearch::Ending::none;
    auto answer = std::make_unique<Answer>(*beams_[move.parent].answer);
    answer->take(move.token);
    const bool stops = answer->ended() == FinishReason::stop;
    children_.push_back({move, std::move(answer)});
    return stops ? BeamSearch::Ending::with_token : BeamSearch::Ending::none;
}

std::unique_ptr<Answer> RequestBeams::take_answer(const BeamSearch::Move& move) {
    const auto child = std::find_if(children_.begin(), children_.end(),
                                    [&](const Child& c) { return c.move == move; });
    return child == children_.end() ? nullptr : std::move(child->answer);
}

void RequestBeams::move_beams() {
    const std::span<const BeamSearch::Move> moves = search_.moves();
    std::vector<uint32_t> n_children(beams_.size());
    for (const BeamSearch::Move& move : moves) ++n_children[move.parent];
    std::vector<Active> next;
    next.reserve(moves.size());
    for (const BeamSearch::Move& move : moves) {
        Sequence& parent = beams_[move.parent].sequence;
        Sequence child = --n_children[move.parent] > 0 ? parent.fork() : std::move(parent);
        child.push(move.token);
        next.push_back({std::move(child), take_answer(move)});
    }
    beams_ = std::move(next);
}

// ---- releasing and restoring KV ----

void RequestBeams::drop() {
    for (Active& beam : beams_) beam.sequence.give_up();
}

void RequestBeams::give_up() {
    for (Active& beam : beams_) publish(beam.sequence, beam.sequence.n_computed());
    drop();
    search_.forget_rows();
}

// Returns the prompt sequence or the earlier beam that has the most tokens in common with the beam.
RequestBeams::Source RequestBeams::source_of(const Sequence& prompt_sequence, uint32_t beam) const {
    Source source = {&prompt_sequence, prompt_sequence.n_tokens()};
    for (uint32_t i = 0; i < beam; ++i) {
        const Sequence& other = beams_[i].sequence;
        const uint32_t n = common_prefix(other.tokens(), beams_[beam].sequence.tokens());
        if (n > source.n_tokens) source = {&other, n};
    }
    return source;
}

// Returns how many tokens of a beam may be computed before other beams have forked from it.
uint32_t RequestBeams::limit_of(const Sequence& prompt_sequence, uint32_t beam) const {
    const Sequence& sequence = beams_[beam].sequence;
    uint32_t limit = sequence.n_tokens();
    for (uint32_t i = beam + 1; i < n_beams(); ++i) {
        if (!is_waiting(i)) continue;
        const Source source = source_of(prompt_sequence, i);
        if (source.sequence == &sequence) limit = std::min(limit, source.n_tokens);
    }
    return limit;
}

SequenceView RequestBeams::view(const Sequence& prompt_sequence, uint32_t beam) const {
    SequenceView view = beams_[beam].sequence.view(WantLogits::of_last_token);
    view.n_tokens = limit_of(prompt_sequence, beam);
    return view;
}

// A prefix that is found in the tree shares the source's blocks as far as the source has them:
// those were published, and the source then uses the tree's blocks.
void RequestBeams::restore(const Sequence& prompt_sequence) {
    KVIK_CHECK(prompt_sequence.has_caught_up(), "beams grow from the whole prompt");
    for (uint32_t i = 0; i < n_beams(); ++i) {
        if (!is_waiting(i)) continue;
        Sequence& sequence = beams_[i].sequence;
        const Source source = source_of(prompt_sequence, i);
        if (source.sequence->n_computed() != source.n_tokens) continue;
        const uint32_t limit = std::min(limit_of(prompt_sequence, i), sequence.n_tokens() - 1);
        if (ns_ && limit > source.n_tokens) {
            PrefixHit hit = cache_.find(*ns_, sequence.tokens().first(limit));
            if (hit.n_tokens > source.n_tokens) {
                cache_.adopt(sequence, std::move(hit));
                continue;
            }
        }
        sequence.table() = source.sequence->table().fork();
    }
}

uint32_t RequestBeams::n_logical_blocks_wanted(const Sequence& prompt_sequence) const {
    if (!has_begun_) return n_most_ - 1;
    const uint32_t block_tokens = cache_.block_tokens();
    uint32_t n_logical_blocks = 0;
    for (uint32_t i = 0; i < n_beams(); ++i) {
        const uint32_t n_shared = source_of(prompt_sequence, i).n_tokens / block_tokens;
        n_logical_blocks += beams_[i].sequence.n_tokens() / block_tokens + 1 - n_shared;
    }
    return n_logical_blocks;
}

// ---- publishing and results ----

void RequestBeams::publish(Sequence& sequence, uint32_t n_tokens) {
    if (ns_) cache_.publish(*ns_, sequence, std::min(n_tokens, sequence.n_computed()));
}

// Publishes the beams that have ended, whose KV is that of their parents.
void RequestBeams::publish_ends() {
    for (const BeamSearch::Move& move : search_.ends()) {
        Sequence& parent = beams_[move.parent].sequence;
        const std::unique_ptr<Answer> answer = take_answer(move);
        publish(parent, answer ? parent.n_prompt() + answer->n_kept() : parent.n_tokens());
    }
}

std::vector<Beam> RequestBeams::results() const {
    std::vector<Beam> beams = search_.results();
    for (Beam& beam : beams) {
        Answer answer = blank_;
        for (const TokenId id : beam.ids) beam.text += answer.take(id);
        beam.text += answer.finish();
    }
    return beams;
}

// Publishes the KV of the best hypothesis: that of the beam with the same tokens, or of its parent.
void RequestBeams::publish_best() {
    const std::vector<Beam> best = search_.results();
    if (best.empty()) return;
    Answer answer = blank_;
    for (const TokenId id : best[0].ids) answer.take(id);
    const auto kept = std::span(best[0].ids).first(answer.n_kept());
    for (Active& beam : beams_) {
        const auto picked = beam.sequence.tokens().subspan(beam.sequence.n_prompt());
        const uint32_t n = common_prefix(picked, kept);
        if (n == std::min(picked.size(), kept.size()))
            publish(beam.sequence, beam.sequence.n_prompt() + n);
    }
}

}  // namespace kvik
