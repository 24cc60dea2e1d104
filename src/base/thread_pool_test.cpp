#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <limits>
#include <random>
#include <thread>
#include <vector>

namespace kvik {
namespace {

constexpr uint32_t kMaxThreads = 8;

// Work, not sleep: a waiting worker must be overtaken by one that computes.
void work_for(std::chrono::microseconds duration) {
    const auto until = std::chrono::steady_clock::now() + duration;
    while (std::chrono::steady_clock::now() < until) {
    }
}

// In phase k each worker writes k to its own cell of the row k % 2, after a random amount of work,
// and finds k - 1 in every cell of the other row. The cells are plain: a thread sanitizer sees a
// race wherever the barrier does not order them.
void expect_phases_in_step(uint32_t n_threads, int n_runs, int n_phases,
                           std::chrono::microseconds most_work) {
    const uint64_t seed = 61;
    SCOPED_TRACE(testing::Message() << n_threads << " threads, seed " << seed);
    ThreadPool pool(n_threads);
    std::vector<int> finished[2] = {std::vector<int>(n_threads, 0), std::vector<int>(n_threads, 0)};
    std::atomic<int> n_early = 0;
    int first = 1;
    for (int run = 0; run < n_runs; ++run) {
        pool.run([&](Worker w) {
            std::mt19937_64 random(seed + 100 * static_cast<uint64_t>(run) + w.index());
            for (int k = first; k < first + n_phases; ++k) {
                for (const int other : finished[(k + 1) % 2])
                    if (other != k - 1) ++n_early;
                if (random() % 4 == 0) work_for(most_work * (random() % 8) / 8);
                finished[k % 2][w.index()] = k;
                w.barrier();
            }
        });
        first += n_phases;
    }
    EXPECT_EQ(n_early, 0);
    EXPECT_EQ(finished[(first - 1) % 2], std::vector<int>(n_threads, first - 1));
}

// FTZ makes the product of two small normals 0, DAZ makes a denormal times a large number 0.
bool flushes_denormals() {
    volatile float small = std::numeric_limits<float>::min();
    volatile float half = 0.5f;
    volatile float denormal = std::numeric_limits<float>::denorm_min();
    volatile float large = 0x1p100f;
    return small * half == 0.0f && denormal * large == 0.0f;
}

}  // namespace

TEST(ThreadPool, lets_no_worker_into_a_phase_before_all_have_left_the_last) {
    for (uint32_t n = 1; n <= kMaxThreads; ++n)
        expect_phases_in_step(n, 20, 25, std::chrono::microseconds(20));
}

// Longer than workers spin, so that they sleep in the kernel and have to be woken.
TEST(ThreadPool, wakes_workers_that_fell_asleep_at_a_barrier) {
    for (uint32_t n = 2; n <= kMaxThreads; n += 2)
        expect_phases_in_step(n, 3, 10, std::chrono::microseconds(500));
}

TEST(ThreadPool, wakes_workers_that_fell_asleep_between_runs) {
    ThreadPool pool(3);
    std::atomic<int> n_called = 0;
    for (int run = 0; run < 10; ++run) {
        work_for(std::chrono::microseconds(300));
        pool.run([&](Worker) { ++n_called; });
    }
    EXPECT_EQ(n_called, 30);
}

TEST(ThreadPool, gives_every_worker_its_own_index) {
    for (uint32_t n = 1; n <= kMaxThreads; ++n) {
        ThreadPool pool(n);
        std::vector<int> n_seen(n, 0);
        std::atomic<bool> counts_agree = true;
        pool.run([&](Worker w) {
            ++n_seen[w.index()];
            if (w.count() != n) counts_agree = false;
        });
        EXPECT_EQ(n_seen, std::vector<int>(n, 1));
        EXPECT_TRUE(counts_agree);
        EXPECT_EQ(pool.n_threads(), n);
    }
}

TEST(ThreadPool, returns_only_when_every_worker_is_done) {
    ThreadPool pool(4);
    for (int run = 0; run < 50; ++run) {
        std::vector<int> done(4, 0);
        pool.run([&](Worker w) {
            if (w.index() == static_cast<uint32_t>(run) % 4)
                work_for(std::chrono::microseconds(100));
            done[w.index()] = 1;
        });
        ASSERT_EQ(done, std::vector<int>(4, 1));
    }
}

TEST(ThreadPool, runs_worker_zero_on_the_calling_thread) {
    ThreadPool pool(2);
    const std::thread::id caller = std::this_thread::get_id();
    std::thread::id zero;
    std::thread::id one;
    pool.run([&](Worker w) { (w.index() == 0 ? zero : one) = std::this_thread::get_id(); });
    EXPECT_EQ(zero, caller);
    EXPECT_NE(one, caller);
}

TEST(ThreadPool, ends_while_its_workers_spin_and_while_they_sleep) {
    for (const int idle_us : {0, 10, 200}) {
        for (uint32_t n = 1; n <= kMaxThreads; ++n) {
            std::atomic<uint32_t> n_called = 0;
            {
                ThreadPool pool(n);
                pool.run([&](Worker) { ++n_called; });
                work_for(std::chrono::microseconds(idle_us));
            }
            EXPECT_EQ(n_called, n);
        }
    }
}

TEST(ThreadPool, may_end_without_a_run) {
    for (uint32_t n = 1; n <= kMaxThreads; ++n) {
        const ThreadPool pool(n);
        EXPECT_EQ(pool.n_threads(), n);
    }
}

namespace {

// Threads that keep every core busy.
class Hogs {
  public:
    explicit Hogs(uint32_t n) {
        for (uint32_t i = 0; i < n; ++i)
            threads_.emplace_back([this] {
                while (!stopping_.load(std::memory_order_relaxed)) {
                }
            });
    }
    ~Hogs() {
        stopping_ = true;
        for (std::thread& thread : threads_) thread.join();
    }

  private:
    std::atomic<bool> stopping_ = false;
    std::vector<std::thread> threads_;
};

// Runs of three phases, and whether each of them was taken part in by all its workers.
bool runs_are_whole(ThreadPool& pool, int n_runs) {
    bool whole = true;
    for (int run = 0; run < n_runs; ++run) {
        std::atomic<uint32_t> n_called = 0, count = 0;
        pool.run([&](Worker w) {
            count = w.count();
            for (int phase = 0; phase < 3; ++phase) {
                work_for(std::chrono::microseconds(100));
                w.barrier();
            }
            ++n_called;
        });
        whole = whole && n_called == count;
    }
    return whole;
}

}  // namespace

TEST(ThreadPool, makes_room_for_others_and_goes_on_in_whole_runs) {
    const uint32_t n_cores = std::max(1u, std::thread::hardware_concurrency());
    ThreadPool pool(n_cores + 1, Sharing::make_room);
    const Hogs hogs(2 * n_cores);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (pool.n_active() == pool.n_threads() && std::chrono::steady_clock::now() < deadline)
        EXPECT_TRUE(runs_are_whole(pool, 10));
    EXPECT_LT(pool.n_active(), pool.n_threads());
    const auto probed = std::chrono::steady_clock::now() + std::chrono::milliseconds(700);
    while (std::chrono::steady_clock::now() < probed) EXPECT_TRUE(runs_are_whole(pool, 10));
}

TEST(ThreadPool, that_keeps_its_workers_keeps_them_beside_others) {
    const uint32_t n_cores = std::max(1u, std::thread::hardware_concurrency());
    ThreadPool pool(n_cores + 1);
    const Hogs hogs(n_cores);
    EXPECT_TRUE(runs_are_whole(pool, 20));
    EXPECT_EQ(pool.n_active(), pool.n_threads());
}

#if defined(__x86_64__)
TEST(ThreadPool, flushes_denormals_in_every_worker) {
    for (const uint32_t n : {1u, 3u}) {
        ThreadPool pool(n);
        std::atomic<uint32_t> n_flushing = 0;
        pool.run([&](Worker) {
            if (flushes_denormals()) ++n_flushing;
        });
        EXPECT_EQ(n_flushing, n);
    }
}

TEST(ThreadPool, its_threads_leave_signals_to_the_main_thread) {
    ThreadPool pool(3);
    std::atomic<int> n_open = 0;
    pool.run([&](Worker w) {
        sigset_t held;
        ::pthread_sigmask(SIG_BLOCK, nullptr, &held);
        for (const int signal : {SIGINT, SIGTERM, SIGTSTP, SIGWINCH})
            if (w.index() > 0 && sigismember(&held, signal) != 1) ++n_open;
    });
    EXPECT_EQ(n_open, 0);
}

TEST(ThreadPool, gives_the_caller_its_denormals_back) {
    ASSERT_FALSE(flushes_denormals());
    ThreadPool pool(2);
    pool.run([](Worker) {});
    EXPECT_FALSE(flushes_denormals());
}
#endif

TEST(UsableCores, are_at_least_one_and_no_more_than_there_are) {
    EXPECT_GE(usable_cores(), 1u);
    EXPECT_LE(usable_cores(), std::max(1u, std::thread::hardware_concurrency()));
}

}  // namespace kvik
