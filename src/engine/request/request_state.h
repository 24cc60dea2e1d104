// RequestState: one request under way: what was asked for, its sequence, its answer so far and the
// channel that its events go to.
//
// Use     Intake makes one from a QueuedRequest; the phases of the step loop read and change it;
//         Emission ends it.
// Owner   the step loop; a state does not move while it lives.
// Threads the engine thread.
// Cost    its functions are O(1), but for for_each_sequence (O(beams)).
// Invariant a request that is not admitted holds no block.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/digest.h"
#include "cache/block_table.h"
#include "cache/kv_keys.h"
#include "cache/prefix/prefix_reports.h"
#include "cache/prefix/prefix_types.h"
#include "engine/generate/answer.h"
#include "engine/generate/request_beams.h"
#include "engine/request/stream_channel.h"
#include "kvik/kvik.h"
#include "sched/sequence.h"

namespace kvik {

// Sequences that come from one prompt, samples or beams: how many blocks they hold together, and
// how many they would hold without sharing. Owned by the requests that belong to it.
struct SequenceGroup {
    uint32_t n_shared = 0;  // the most different blocks that they have held at a time
    uint32_t n_copied = 0;  // the most blocks that they would have held, each its own

    void note(uint32_t n_shared_now, uint32_t n_copied_now) {
        n_shared = std::max(n_shared, n_shared_now);
        n_copied = std::max(n_copied, n_copied_now);
    }
};

struct RequestState {
    RequestState(Sequence its_sequence, Answer its_answer)
        : sequence(std::move(its_sequence)), answer(std::move(its_answer)) {
        events.reserve(1);
    }

    GenerateRequest request;  // its prompt has moved to the sequence
    std::shared_ptr<StreamChannel> channel;
    Sequence sequence;  // under beam search: the prompt alone
    Answer answer;
    CachePolicy cache = CachePolicy::reuse;
    NamespaceKey ns;  // in which it finds and publishes KV
    std::optional<Sha256> hash;
    std::unique_ptr<RequestBeams> beams;   // null: it samples
    std::shared_ptr<SequenceGroup> group;  // null: its sequence is the only one

    bool is_admitted = false;      // it takes part in steps
    uint32_t n_prompt_logits = 0;  // rows of the prompt's logits that were used so far
    std::vector<float> prompt_logprobs;
    std::vector<TokenEvent> events;   // picked, to be delivered at the end of the step
    std::optional<Error> error;       // set: it ends with this error
    std::optional<FinishReason> end;  // set: it ends
    Summary summary;

    double submitted_ms = 0;
    std::optional<double> started_ms;     // when it was admitted first
    std::optional<double> first_pick_ms;  // when its prompt had been computed
    double last_pick_ms = 0;
    uint32_t n_cached = 0;
    bool has_started = false;
    uint32_t branch_at = 0;          // tokens after which it leaves the path of others; 0: nowhere
    std::optional<PathReport> path;  // what the cache knew of its prompt, for a KV report
    // Blocks, by their index in the sequence, that were read from disk; nothing: the disk was not
    // looked at yet.
    std::optional<std::vector<uint32_t>> loaded_blocks;
    uint32_t n_disk = 0;
    std::optional<KvReport> kv_report;

    // Rows of the prompt's logits that the request asks for: all of them, or for logprobs all but
    // the last, whose next token is not part of the prompt.
    uint32_t n_prompt_logits_wanted() const {
        if (request.on_prompt_logits) return sequence.n_prompt();
        return request.want_prompt_logprobs ? sequence.n_prompt() - 1 : 0;
    }
    bool wants_prompt_logits() const { return n_prompt_logits < n_prompt_logits_wanted(); }
    bool may_adopt() const { return cache == CachePolicy::reuse && !wants_prompt_logits(); }
    // Tokens whose KV may come from the cache; a row of logits that is asked for must be computed.
    uint32_t n_adoptable() const {
        if (cache == CachePolicy::off) return 0;
        return wants_prompt_logits() ? n_prompt_logits : sequence.n_tokens();
    }
    WantLogits want_logits() const {
        return wants_prompt_logits() ? WantLogits::of_every_token : WantLogits::of_last_token;
    }
    bool has_ended() const { return end || error; }

    // The most sequences that it has in a step.
    uint32_t n_most_sequences() const { return beams ? beams->n_most() : 1; }
    // True: the steps compute its beams; false: its own sequence.
    bool computes_beams() const { return beams && beams->has_begun() && sequence.has_caught_up(); }
    // Calls visit(const Sequence&) for its own sequence and for each beam.
    void for_each_sequence(const auto& visit) const {
        visit(sequence);
        for (uint32_t i = 0; beams && i < beams->n_beams(); ++i)
            visit(std::as_const(*beams).sequence(i));
    }

    // Publishes to its reader how far the prompt has come.
    void note_progress() const {
        const uint32_t n_prompt = sequence.n_prompt();
        channel->note_progress(
            {.n_tokens = n_prompt,
             .n_cached = n_cached,
             .n_done = std::min(n_prompt, std::max(n_cached, sequence.n_computed()))});
    }
};

// By arrival, oldest first.
using Requests = std::vector<std::unique_ptr<RequestState>>;

// Counts the blocks that tables and prefix hits hold, each shared block once: begin() a count,
// add() tables, hits or requests, then read n_blocks() and n_held(). add is linear in the blocks
// added; only the constructor allocates.
class BlockCensus {
  public:
    // n_blocks: of the pool.
    explicit BlockCensus(uint32_t n_blocks) : counted_in_(n_blocks, 0) {}

    void begin();
    void add(const BlockTable& table);
    void add(const PrefixHit& hit);
    void add(const RequestState& request);  // the tables of its sequence and of its beams

    uint32_t n_blocks() const { return n_blocks_; }  // different blocks
    uint32_t n_held() const { return n_held_; }      // each as often as it was added

  private:
    void add(std::span<const BlockRef> blocks);

    std::vector<uint64_t> counted_in_;  // [n_blocks] the count in which a block was met last
    uint64_t count_ = 0;
    uint32_t n_blocks_ = 0, n_held_ = 0;
};

// Records in each SequenceGroup how many blocks its sequences hold now, if that is more than
// before. The step loop calls it when the blocks of a step have been reserved and are most
// numerous. Costs O(blocks of the groups) and O(requests) per group.
void count_group_blocks(std::span<const std::unique_ptr<RequestState>> requests,
                        BlockCensus& census);

}  // namespace kvik
