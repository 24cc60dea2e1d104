// Admission: decides which waiting requests join the step, and starts each from the longest prefix
// that the cache has of its prompt.
//
// Policy  oldest first. A request that does not fit keeps all younger ones waiting. A request whose
//         prompt begins with an in-flight prefix (tokens that another request is computing now)
//         waits until they are computed, so that a common prefix is computed once.
// Owner   borrows the context, the picker and the store of logprobs.
// Threads the engine thread.
// Cost    per waiting request: a look-up in the prefix tree, a comparison with each running prompt
//         and a count of the running blocks. The first look-up reads from disk what is offloaded.
// Invariant an admitted request has room for all its known tokens and one more.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/generate/prompt_logprobs.h"
#include "engine/generate/token_picker.h"
#include "engine/loop/step_data.h"
#include "engine/request/request_state.h"

namespace kvik {

struct AdmissionCounts {
    uint64_t n_hit_tokens = 0;   // tokens whose KV was found
    uint64_t n_disk_tokens = 0;  // of these, read from disk
    double saved_ms = 0;         // what computing the found tokens would have taken
};

class Admission {
  public:
    Admission(const StepContext& context, TokenPicker& picker, PromptLogprobs& logprobs);

    // Admits what can be admitted. A request whose whole prompt is cached with its logits gets its
    // first token here, without a step.
    void admit(const Requests& requests);
    const AdmissionCounts& counts() const { return counts_; }

  private:
    bool try_admit(const Requests& requests, RequestState& state);
    bool waits_for_in_flight_prefix(const Requests& requests, const RequestState& state);
    bool fits(const Requests& requests, const RequestState& state, const PrefixHit& hit);
    PrefixHit look_up(RequestState& state);
    void recall_logprobs(RequestState& state);
    void note_start(RequestState& state, const PrefixHit& hit);
    KvReport report(const RequestState& state, const PrefixHit& hit) const;

    const StepContext& context_;
    TokenPicker& picker_;
    PromptLogprobs& logprobs_;
    BlockCensus census_;
    std::vector<float> cached_logits_;  // [vocab_size] of the request that is being admitted
    AdmissionCounts counts_;
};

}  // namespace kvik
