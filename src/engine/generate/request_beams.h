// RequestBeams: the beams of one request under beam search: a sequence per beam, which shares with
// its parent all blocks but the last, and the search that waits for their logits.
//
// Use     the request's own sequence (prompt_sequence) computes the prompt; the logits after it
//         begin() the search. From then on steps compute the beams. When take_row() has come for
//         each beam, the search decides which go on: the last child of a beam takes over its
//         sequence, the other children are forks. give_up() publishes and releases all KV;
//         restore() before each plan gives beams without KV the KV of a sequence with the same
//         tokens.
// Owner   sequences, texts and the search; borrows the cache.
// Threads the engine thread.
// Cost    a step in which beams move allocates: lists of blocks and tokens of forks, candidates.
//         restore and view compare beams pairwise: O(beams^2 x tokens) for beams without KV.
// Errors  begin and take_row: as BeamSearch::take_row.
// Invariant beams differ, and have equally many tokens. A beam that lost its KV waits until the
//         sequence that it has most tokens in common with is computed to the end of these, then
//         forks from it, so that common tokens are computed once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cache/kv_keys.h"
#include "engine/generate/answer.h"
#include "engine/generate/beam_search.h"
#include "engine/kv_cache.h"
#include "sched/sequence.h"

namespace kvik {

enum class WatchText : uint8_t { off, on };  // on: stop strings may end a beam

struct RequestBeamsParts {
    BeamSearchOptions search;
    Answer blank;  // an answer without tokens, which each beam copies
    WatchText watch = WatchText::off;
    KvCache& cache;
    std::optional<NamespaceKey> ns;  // of its KV; nothing: KV is neither found nor published
};

class RequestBeams {
  public:
    using Row = BeamSearch::Row;

    explicit RequestBeams(RequestBeamsParts parts);

    uint32_t n_most() const { return n_most_; }  // the most beams at a time
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
    // Returns how many block indices the tables of its beams, none of which holds a block now, will
    // take beside those of the prompt.
    uint32_t n_logical_blocks_wanted(const Sequence& prompt_sequence) const;

    void stop(FinishReason reason) { search_.stop(reason); }
    std::vector<Beam> results() const;  // with their text
    void publish_best();
    void drop();  // releases all blocks

  private:
    struct Active {
        Sequence sequence;
        std::unique_ptr<Answer> answer;  // null: its text is not watched
    };
    struct Child {
        BeamSearch::Move move;
        std::unique_ptr<Answer> answer;
    };
    struct Source {
        const Sequence* sequence = nullptr;
        uint32_t n_tokens = 0;  // common to both
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
    std::vector<Active> beams_;
    std::vector<Child> children_;  // whose text is watched, while beams move
};

}  // namespace kvik
