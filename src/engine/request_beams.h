// RequestBeams: the beams of one request under beam search: a sequence for each, which shares with its
// parent all blocks but the tail it writes to, and the search that waits for their rows.
//
// Use     the prompt_sequence is the request's own sequence; it computes the prompt, whose row begins the
//         search. From then on the beams are what is computed. When a row of each has come, the
//         search says which go on: the last child of a beam takes its sequence over, the others are
//         forks. give_up() publishes and lets go of all KV; restore() before each plan brings it
//         back.
// Owner   sequences, texts and the search; borrows the cache.   Threads  the engine thread.
// Cost    a step in which beams move allocates: lists of blocks and tokens of forks, candidates.
// Invariant beams differ, and have as many tokens each. One that lost its KV forks where another's
//         ends, which goes no further before: what they have in common is computed once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cache/namespace_key.h"
#include "engine/answer.h"
#include "engine/beam_search.h"
#include "engine/kv_cache.h"
#include "sched/sequence.h"

namespace kvik {

enum class WatchText : uint8_t { off, on };  // on: stop strings may end a beam

struct RequestBeamsParts {
    BeamSearchOptions search;
    Answer blank;  // before its first token
    WatchText watch = WatchText::off;
    KvCache& cache;
    std::optional<NamespaceKey> ns;  // nothing: KV is neither found nor published
};

class RequestBeams {
  public:
    using Row = BeamSearch::Row;

    explicit RequestBeams(RequestBeamsParts parts);

    uint32_t n_most() const { return n_most_; }  // beams that it may have
    bool has_begun() const { return has_begun_; }
    bool is_over() const { return search_.is_over(); }

    Result<void> begin(const Sequence& prompt_sequence, const Row& row);
    Result<void> take_row(uint32_t beam, const Row& row);

    uint32_t n_beams() const { return static_cast<uint32_t>(beams_.size()); }
    Sequence& sequence(uint32_t beam) { return beams_[beam].sequence; }
    const Sequence& sequence(uint32_t beam) const { return beams_[beam].sequence; }
    SequenceView view(const Sequence& prompt_sequence, uint32_t beam) const;

    void give_up();
    void restore(const Sequence& prompt_sequence);
    // Places that its tables will soon take beyond the prompt_sequence's, when none of them holds a block.
    uint32_t n_places_wanted(const Sequence& prompt_sequence) const;

    void stop(FinishReason reason) { search_.stop(reason); }
    std::vector<Beam> results() const;  // with their text
    void publish_best();
    void drop();  // all blocks go

  private:
    struct Running {
        Sequence sequence;
        std::unique_ptr<Answer> answer;  // null: its text is not watched
    };
    struct Child {
        BeamSearch::Move move;
        std::unique_ptr<Answer> answer;
    };
    struct Source {
        const Sequence* sequence = nullptr;
        uint32_t n_tokens = 0;  // that both have
    };

    BeamSearch::Ending ending_of(const BeamSearch::Move& move);
    std::unique_ptr<Answer> take_answer(const BeamSearch::Move& move);
    void publish_ends();
    void publish(Sequence& sequence, uint32_t n_tokens);
    void move_beams();
    bool is_waiting(uint32_t beam) const { return beams_[beam].sequence.n_computed() == 0; }
    Source source_of(const Sequence& prompt_sequence, uint32_t beam) const;
    uint32_t limit_of(const Sequence& prompt_sequence, uint32_t beam) const;

    BeamSearch search_;
    uint32_t n_most_;
    Answer blank_;
    WatchText watch_;
    KvCache& cache_;
    std::optional<NamespaceKey> ns_;
    bool has_begun_ = false;
    std::vector<Running> beams_;
    std::vector<Child> children_;  // whose text is watched, while beams move
};

}  // namespace kvik
