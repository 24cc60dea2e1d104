#include "engine/request/request_queue.h"

#include <utility>

namespace kvik {

RequestQueue::Pushed RequestQueue::push(QueuedRequest queued) {
    const std::lock_guard lock(mutex_);
    if (closed_) return Pushed::closed;
    if (waiting_.size() >= capacity_) return Pushed::full;
    waiting_.push_back(std::move(queued));
    arrived_.notify_one();
    return Pushed::in;
}

RequestQueue::Pushed RequestQueue::post(CacheTask task) {
    const std::lock_guard lock(mutex_);
    if (closed_) return Pushed::closed;
    if (tasks_.size() >= capacity_) return Pushed::full;
    tasks_.push_back(std::move(task));
    arrived_.notify_one();
    return Pushed::in;
}

void RequestQueue::close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    arrived_.notify_one();
}

void RequestQueue::take(uint32_t n, std::vector<QueuedRequest>& taken,
                        std::vector<QueuedRequest>& cancelled) {
    const std::lock_guard lock(mutex_);
    for (auto it = waiting_.begin(); it != waiting_.end();) {
        if (it->channel->cancelled()) {
            cancelled.push_back(std::move(*it));
            it = waiting_.erase(it);
        } else {
            ++it;
        }
    }
    for (; n > 0 && !waiting_.empty(); --n) {
        taken.push_back(std::move(waiting_.front()));
        waiting_.pop_front();
    }
}

void RequestQueue::take_tasks(std::vector<CacheTask>& tasks) {
    const std::lock_guard lock(mutex_);
    for (CacheTask& task : tasks_) tasks.push_back(std::move(task));
    tasks_.clear();
}

bool RequestQueue::wait() {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] { return has_something(); });
    return !waiting_.empty() || !tasks_.empty();
}

bool RequestQueue::wait_for(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return arrived_.wait_for(lock, time, [&] { return has_something(); });
}

bool RequestQueue::closed() {
    const std::lock_guard lock(mutex_);
    return closed_;
}

}  // namespace kvik
