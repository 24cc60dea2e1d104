// Emission: delivers the picked tokens to their streams and ends the requests that have ended; the
// last phase of a step.
//
// Use     emit() when a phase may have picked tokens or ended requests.
// Owner   borrows the context.
// Threads the engine thread; the readers of the streams are on others.
// Cost    a lock per token (stream_channel.h). Ending a request publishes its KV, hands it to the
//         disk tier if there is one, and allocates.
// Invariant the KV of a request is released, and update_stats called, before its stream ends: a
//         client that reads the statistics after the end sees the effect of its request.
#pragma once

#include <functional>

#include "engine/loop/step_data.h"

namespace kvik {

class Emission {
  public:
    explicit Emission(const StepContext& context) : context_(context) {}

    // Removes what has ended from `requests`. update_stats is called on this thread, only if a
    // request has ended.
    void emit(Requests& requests, const std::function<void()>& update_stats);

  private:
    void summarise(RequestState& state);
    std::vector<Beam> finish_beams(RequestState& state);
    void release_kv(RequestState& state);
    void end_stream(RequestState& state);

    const StepContext& context_;
};

}  // namespace kvik
