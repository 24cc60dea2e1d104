// SaveQueue: a bounded queue of work for one thread, and what came of it.
//
// Owner   the thread. What is queued when the queue dies is given up after a deadline.
// Threads push, take_done and wait from any; the work is done on the queue's own.
// Cost    push and take_done wait for no work; taking nothing allocates nothing.
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

    // False: the queue is full.
    bool push(Work&& work) {
        {
            const std::scoped_lock lock(mutex_);
            if (queue_.size() >= n_most_) return false;
            queue_.push_back(std::move(work));
        }
        changed_.notify_all();
        return true;
    }

    std::vector<Done> take_done() {
        const std::scoped_lock lock(mutex_);
        return std::exchange(done_, {});
    }

    // Until all that was pushed is done, or the deadline has passed. True: all is done.
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
