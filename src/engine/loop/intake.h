// Intake: takes requests from the queue and makes a RequestState of each; the first phase of a
// step.
//
// Owner   borrows the queue and the context; the states that it makes belong to the step loop.
// Threads the engine thread; other threads push into the queue meanwhile.
// Cost    allocates per request that it takes: its tokens, its block table, its answer.
// Errors  none: Engine::submit has checked the requests. A request whose reader has gone ends as
//         cancelled without a state.
#pragma once

#include <vector>

#include "engine/loop/step_data.h"
#include "engine/request/request_queue.h"

namespace kvik {

class Intake {
  public:
    Intake(const StepContext& context, RequestQueue& queue);

    // Appends to `requests` the oldest queued requests, to max_sequences requests in all.
    void take_requests(Requests& requests);
    // Runs the tasks of the queue, oldest first. True: there was one.
    bool run_tasks();

  private:
    std::unique_ptr<RequestState> make_state(QueuedRequest queued) const;
    std::unique_ptr<RequestBeams> make_beams(const RequestState& state,
                                             const GenerateRequest& request) const;

    const StepContext& context_;
    RequestQueue& queue_;
    std::vector<QueuedRequest> taken_, cancelled_;
    std::vector<CacheTask> tasks_;
};

}  // namespace kvik
