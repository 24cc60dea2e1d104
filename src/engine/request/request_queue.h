// RequestQueue: requests on their way to the engine thread, oldest first. It is the only queue in
// front of the engine, so its capacity bounds how many requests wait. It also carries tasks: other
// work on the KV cache that the engine thread must do. A task runs before any request that was
// pushed after it.
//
// Use     push() and post() from any thread; the engine thread sleeps in wait() and takes.
// Threads any thread may push, post, close and ask; one thread takes.
// Cost    a lock per call; take is O(requests that wait).
// Errors  a full or closed queue says so at once; no caller waits to get in. Requests and tasks
//         that are left when the queue is destroyed are dropped.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/request/request_state.h"
#include "engine/request/stream_channel.h"
#include "kvik/kvik.h"

namespace kvik {

struct QueuedRequest {
    GenerateRequest request;
    std::shared_ptr<StreamChannel> channel;
    double submitted_ms = 0;
    std::shared_ptr<SequenceGroup> group = nullptr;  // set: it is one of several samples
};

class KvCache;
using CacheTask = std::function<void(KvCache&)>;

class RequestQueue {
  public:
    explicit RequestQueue(uint32_t capacity) : capacity_(capacity) {}

    enum class Pushed : uint8_t { in, full, closed };
    Pushed push(QueuedRequest queued);
    Pushed post(CacheTask task);  // as many tasks may wait as requests
    void close();                 // later pushes are refused; what is queued can still be taken

    // Moves the oldest n requests to `taken`, and those whose reader has gone, wherever they stand,
    // to `cancelled`.
    void take(uint32_t n, std::vector<QueuedRequest>& taken, std::vector<QueuedRequest>& cancelled);
    void take_tasks(std::vector<CacheTask>& tasks);  // all, oldest first
    // Sleeps until there is something to take. False: the queue is closed and empty.
    bool wait();
    // Sleeps for `time` at most. True: there is something to take, or the queue is closed.
    bool wait_for(std::chrono::milliseconds time);
    bool closed();
    uint32_t capacity() const { return capacity_; }

  private:
    bool has_something() const { return closed_ || !waiting_.empty() || !tasks_.empty(); }

    const uint32_t capacity_;
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::deque<QueuedRequest> waiting_;
    std::vector<CacheTask> tasks_;
    bool closed_ = false;
};

}  // namespace kvik
