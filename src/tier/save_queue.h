// SaveQueue: a bounded queue of work that one thread of its own does in order, and the results.
//
// Owner   the thread. Destroying the queue waits for the work that is being done and drops what is
//         queued; call wait() before it to finish that too.
// Threads push, take_done and wait from any; the `work` function is called on the queue's thread.
// Cost    push and take_done are O(1), and never wait for work that is being done.
#pragma once

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/thread_signals.h"

namespace kvik {

template <class Work, class Done>
class SaveQueue {
  public:
    SaveQueue(size_t n_most, std::function<Done(const Work&)> work)
        : n_most_(n_most), work_(std::move(work)), thread_([this] { run(); }) {}

    ~SaveQueue() {
        {
            const std::scoped_lock lock(mutex_);
            closing_ = true;
        }
        changed_.notify_all();
        thread_.join();
    }

    // Queues work. False: the queue is full.
    bool push(Work&& work) {
        {
            const std::scoped_lock lock(mutex_);
            if (queue_.size() >= n_most_) return false;
            queue_.push_back(std::move(work));
        }
        changed_.notify_all();
        return true;
    }

    // Returns the results since the last call.
    std::vector<Done> take_done() {
        const std::scoped_lock lock(mutex_);
        return std::exchange(done_, {});
    }

    // Waits until all that was pushed is done, or that time has passed. True: all is done.
    bool wait(std::chrono::milliseconds most) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, most, [&] { return queue_.empty() && !working_; });
    }

  private:
    void run() {
        leave_signals_to_main();
        // A limit on the size of files is an error of the write, not the end of the process.
        sigset_t limit;
        ::sigemptyset(&limit);
        ::sigaddset(&limit, SIGXFSZ);
        ::pthread_sigmask(SIG_BLOCK, &limit, nullptr);
        std::unique_lock lock(mutex_);
        for (;;) {
            changed_.wait(lock, [&] { return closing_ || !queue_.empty(); });
            if (closing_) return;
            const Work work = std::move(queue_.front());
            queue_.pop_front();
            working_ = true;
            lock.unlock();
            Done done = work_(work);
            lock.lock();
            working_ = false;
            done_.push_back(std::move(done));
            changed_.notify_all();
        }
    }

    size_t n_most_;
    std::function<Done(const Work&)> work_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Work> queue_;
    std::vector<Done> done_;
    bool working_ = false;
    bool closing_ = false;
    std::thread thread_;  // last: it uses all of the above
};

}  // namespace kvik
