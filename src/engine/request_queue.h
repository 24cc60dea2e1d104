// RequestQueue: requests on their way to the engine thread, oldest first; the queue in front of the
// engine, so that its capacity is what bounds the requests that wait. Beside them, tasks: what else
// has to be done on that thread. A task runs before any request that was pushed after it.
//
// Threads any thread pushes and posts; the engine thread takes.
// Errors  a full queue says so at once; nobody waits to get in. What is still there when the queue
//         dies is dropped.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/sequence_group.h"
#include "engine/stream_channel.h"
#include "kvik/kvik.h"

namespace kvik {

struct QueuedRequest {
    GenerateRequest request;
    std::shared_ptr<StreamChannel> channel;
    double submitted_ms = 0;
    std::shared_ptr<SequenceGroup> sequence_group = nullptr;  // it is one of several samples
};

class StepLoop;
using EngineTask = std::function<void(StepLoop&)>;

class RequestQueue {
  public:
    explicit RequestQueue(uint32_t capacity) : capacity_(capacity) {}

    enum class Pushed : uint8_t { in, full, closed };
    Pushed push(QueuedRequest queued);
    Pushed post(EngineTask task);  // as many may wait as requests
    void close();                  // nothing more goes in; what is there can still be taken

    // The oldest n requests, and, wherever they stand, those whose reader is gone.
    void take(uint32_t n, std::vector<QueuedRequest>& taken, std::vector<QueuedRequest>& cancelled);
    void take_tasks(std::vector<EngineTask>& tasks);  // all, oldest first
    // Sleeps until there is something to take. False: closed, and there never will be.
    bool wait();
    // The same for so long at most. True: there is something to take, or it is closed.
    bool wait_for(std::chrono::milliseconds time);
    bool closed();
    uint32_t capacity() const { return capacity_; }

  private:
    bool has_something() const { return closed_ || !waiting_.empty() || !tasks_.empty(); }

    const uint32_t capacity_;
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::deque<QueuedRequest> waiting_;
    std::vector<EngineTask> tasks_;
    bool closed_ = false;
};

}  // namespace kvik
