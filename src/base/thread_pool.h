// ThreadPool: persistent workers that run one function together, with barriers between its phases.
//
// Use     pool.run([&](Worker w) { ...phase...; w.barrier(); ...phase... });
//         worker 0 is the calling thread. A pool of 1 runs inline.
// Threads one run at a time, from one owner thread.
// Cost    waking sleeping workers costs some microseconds, a barrier under one while workers spin;
//         workers spin about 50 us after a run and then sleep, so an idle engine uses no CPU.
//         More workers than cores work, but slower: a phase costs a switch for each.
//         A pool that makes room leaves out workers whose cores others take (worker_governor.h).
// Invariant every worker has flush-to-zero and denormals-are-zero set while it runs (R7 of
//         kernels/SPEC.md), the calling thread included; its own setting is restored after.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"

namespace kvik {

class ThreadPool;

// A worker's time in barriers, since its pool began.
struct Waited {
    uint64_t ns = 0;
    uint64_t n = 0;
};

// One worker's ticket inside a run.
class Worker {
  public:
    uint32_t index() const { return index_; }
    uint32_t count() const { return count_; }
    void barrier() const;  // all workers of the run arrive before any leaves
    Waited waited() const;

  private:
    friend class ThreadPool;
    Worker(ThreadPool& pool, uint32_t index, uint32_t count)
        : pool_(&pool), index_(index), count_(count) {}
    ThreadPool* pool_;
    uint32_t index_, count_;
};

// What a pool does while other processes take its cores.
enum class Sharing : uint8_t { keep, make_room };  // keep: all workers run all the same

class ThreadPool {
  public:
    // Errors: the system refuses to start that many threads: memory, naming --threads.
    static Result<std::unique_ptr<ThreadPool>> create(uint32_t n_threads,
                                                      Sharing sharing = Sharing::keep);
    // At least 1; std::system_error where create fails.
    explicit ThreadPool(uint32_t n_threads, Sharing sharing = Sharing::keep);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    uint32_t n_threads() const;
    uint32_t n_active() const;  // workers that take part in runs just now
    // body(Worker) on every worker; it is borrowed, so nothing is allocated.
    template <class Body>
    void run(const Body& body) {
        run({&body,
             [](const void* what, Worker worker) { (*static_cast<const Body*>(what))(worker); }});
    }

  private:
    friend class Worker;
    struct Task {
        const void* body;
        void (*call)(const void* body, Worker worker);
    };
    void run(Task task);
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// Cores this process may use: the affinity mask, cut to the cgroup's CPU quota. At least 1.
uint32_t usable_cores();

}  // namespace kvik
