// RequestState: one request under way: what it asked for, its sequence, what it has said and to whom.
//
// Owner   the StepLoop; a request stays where it is.
// Invariant a request that is not admitted holds no block.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/digest.h"
#include "cache/namespace_key.h"
#include "cache/prefix_reports.h"
#include "engine/answer.h"
#include "engine/request_beams.h"
#include "engine/sequence_group.h"
#include "engine/stream_channel.h"
#include "kvik/kvik.h"
#include "sched/sequence.h"

namespace kvik {

struct RequestState {
    RequestState(Sequence its_sequence, Answer its_answer)
        : sequence(std::move(its_sequence)), answer(std::move(its_answer)) {}

    GenerateRequest request;  // its prompt has moved to the sequence
    std::shared_ptr<StreamChannel> channel;
    Sequence sequence;
    Answer answer;
    CachePolicy cache = CachePolicy::reuse;
    NamespaceKey ns;  // where it finds and publishes KV
    std::optional<Sha256> hash;
    std::unique_ptr<RequestBeams> beams;            // null: it samples
    std::shared_ptr<SequenceGroup> sequence_group;  // null: it has none

    bool is_admitted = false;      // it takes part in steps
    uint32_t n_prompt_logits = 0;  // rows that were seen, by its callback or for its logprobs
    std::vector<float> prompt_logprobs;
    std::optional<Error> error;       // it ends with this
    std::optional<FinishReason> end;  // it ends
    Summary summary;

    double submitted_ms = 0;
    std::optional<double> started_ms;     // its first step
    std::optional<double> first_pick_ms;  // the prompt is computed
    double last_pick_ms = 0;
    uint32_t n_cached = 0;
    bool has_started = false;
    uint32_t branch_at = 0;          // tokens after which it leaves the path of others; 0: nowhere
    std::optional<PathReport> path;  // what the cache knew of its prompt, if asked for
    std::optional<std::vector<uint32_t>> woken;  // places read from disk; nothing: not looked yet
    uint32_t n_disk = 0;
    std::optional<KvReport> kv_report;

    // Rows of the prompt's logits that somebody wants to see: all, or all but the last, that tells
    // of no token of the prompt.
    uint32_t n_prompt_logits_wanted() const {
        if (request.on_prompt_logits) return sequence.n_prompt();
        return request.want_prompt_logprobs ? sequence.n_prompt() - 1 : 0;
    }
    bool wants_prompt_logits() const { return n_prompt_logits < n_prompt_logits_wanted(); }
    bool may_adopt() const { return cache == CachePolicy::reuse && !wants_prompt_logits(); }
    // Tokens whose KV may come from the cache: a row of logits that is wanted has to be computed.
    uint32_t n_adoptable() const {
        if (cache == CachePolicy::off) return 0;
        return wants_prompt_logits() ? n_prompt_logits : sequence.n_tokens();
    }
    WantLogits want_logits() const {
        return wants_prompt_logits() ? WantLogits::of_every_token : WantLogits::of_last_token;
    }
    bool has_ended() const { return end || error; }
    // What its client may know while the prompt is computed.
    void note_progress() const {
        const uint32_t n_prompt = sequence.n_prompt();
        channel->note_progress(
            {.n_tokens = n_prompt,
             .n_cached = n_cached,
             .n_done = std::min(n_prompt, std::max(n_cached, sequence.n_computed()))});
    }

    // Sequences that it may have in a step.
    uint32_t n_most_sequences() const { return beams ? beams->n_most() : 1; }
    // Whether the beams are what is computed.
    bool computes_beams() const { return beams && beams->has_begun() && sequence.has_caught_up(); }
};

}  // namespace kvik
