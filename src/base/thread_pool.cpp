#include "base/thread_pool.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <system_error>
#include <thread>
#include <vector>

#include "base/cgroup.h"
#include "base/check.h"
#include "base/thread_signals.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace kvik {
namespace {

void relax() noexcept {
#if defined(__x86_64__)
    _mm_pause();
#endif
}

// Sets FTZ and DAZ for the life of the object.
class FlushDenormals {
  public:
#if defined(__x86_64__)
    FlushDenormals() noexcept : before_(_mm_getcsr()) {
        _mm_setcsr(before_ | 0x8040u);
    }
    ~FlushDenormals() {
        _mm_setcsr(before_);
    }

  private:
    unsigned before_;
#endif
};

constexpr auto kSpin = std::chrono::microseconds(5);
constexpr auto kYield = std::chrono::microseconds(50);

// Waits until `word` is no longer `old`: spins for kSpin, then offers the core to others until
// kYield, then sleeps in the kernel. A worker that spins on a core for which a later one waits
// would hold up the very thing it waits for: 8 workers on 2 cores then took six times as long.
// Returns how long that took; what the last reading of the clock missed is less than a spin.
std::chrono::nanoseconds wait_change(const std::atomic<uint32_t>& word, uint32_t old) noexcept {
    const auto start = std::chrono::steady_clock::now();
    std::chrono::nanoseconds waited{0};
    for (;;) {
        for (int i = 0; i < 8; ++i) {
            if (word.load(std::memory_order_acquire) != old) return waited;
            relax();
        }
        waited = std::chrono::steady_clock::now() - start;
        if (waited > kYield) break;
        if (waited > kSpin) ::sched_yield();
    }
    while (word.load(std::memory_order_acquire) == old) word.wait(old, std::memory_order_acquire);
    return std::chrono::steady_clock::now() - start;
}

}  // namespace

struct ThreadPool::Impl {
    // A worker's own cache line.
    struct alignas(64) Lane {
        Waited waited;
    };
    uint32_t n_threads = 1;
    std::vector<Lane> lanes;
    std::vector<std::thread> threads;
    const std::function<void(Worker)>* body = nullptr;
    std::atomic<bool> stopping{false};
    alignas(64) std::atomic<uint32_t> run_number{0};
    alignas(64) std::atomic<uint32_t> n_arrived{0};
    alignas(64) std::atomic<uint32_t> phase{0};

    void stop() {
        stopping.store(true, std::memory_order_release);
        run_number.fetch_add(1, std::memory_order_seq_cst);
        run_number.notify_all();
        for (std::thread& thread : threads) thread.join();
    }

    // Central barrier; `phase` counts the barriers passed. acq_rel on the counter orders every
    // worker's writes before every worker's next phase. The store is seq_cst because notify_all
    // first looks whether anybody sleeps: were that look done before the store is seen, a worker
    // could fall asleep in between and nobody would wake it.
    void barrier(uint32_t worker) noexcept {
        if (n_threads == 1) return;
        Waited& waited = lanes[worker].waited;
        ++waited.n;
        const uint32_t now = phase.load(std::memory_order_relaxed);
        if (n_arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == n_threads) {
            n_arrived.store(0, std::memory_order_relaxed);
            phase.store(now + 1, std::memory_order_seq_cst);
            phase.notify_all();
        } else {
            waited.ns += static_cast<uint64_t>(wait_change(phase, now).count());
        }
    }
};

void Worker::barrier() const {
    pool_->impl_->barrier(index_);
}

Waited Worker::waited() const {
    return pool_->impl_->lanes[index_].waited;
}

ThreadPool::ThreadPool(uint32_t n_threads) : impl_(std::make_unique<Impl>()) {
    KVIK_CHECK(n_threads >= 1, "a pool has at least the calling thread");
    impl_->n_threads = n_threads;
    impl_->lanes.resize(n_threads);
    const auto work = [this](uint32_t i) {
        leave_signals_to_main();
        const FlushDenormals flush;
        for (uint32_t seen = 0;;) {
            wait_change(impl_->run_number, seen);
            seen = impl_->run_number.load(std::memory_order_acquire);
            if (impl_->stopping.load(std::memory_order_acquire)) return;
            (*impl_->body)(Worker(*this, i, impl_->n_threads));
            impl_->barrier(i);
        }
    };
    try {
        for (uint32_t i = 1; i < n_threads; ++i) impl_->threads.emplace_back(work, i);
    } catch (const std::system_error&) {
        impl_->stop();  // those that did start
        throw;
    }
}

ThreadPool::~ThreadPool() {
    impl_->stop();
}

Result<std::unique_ptr<ThreadPool>> ThreadPool::create(uint32_t n_threads) {
    try {
        return std::make_unique<ThreadPool>(n_threads);
    } catch (const std::system_error& error) {
        return fail(ErrorKind::memory, fmt::format("cannot start {} threads: {}: lower --threads",
                                                   n_threads, error.what()));
    }
}

uint32_t ThreadPool::n_threads() const {
    return impl_->n_threads;
}

void ThreadPool::run(const std::function<void(Worker)>& body) {
    const FlushDenormals flush;
    if (impl_->n_threads > 1) {
        impl_->body = &body;
        impl_->run_number.fetch_add(1, std::memory_order_seq_cst);
        impl_->run_number.notify_all();
    }
    body(Worker(*this, 0, impl_->n_threads));
    impl_->barrier(0);
}

uint32_t usable_cores() {
    uint32_t n = std::max(1u, std::thread::hardware_concurrency());
    cpu_set_t set;
    CPU_ZERO(&set);
    if (::sched_getaffinity(0, sizeof set, &set) == 0)
        n = static_cast<uint32_t>(std::max(1, CPU_COUNT(&set)));
    if (const auto cores = cgroup_limits().cores)
        n = std::min(n, static_cast<uint32_t>(std::max(1.0, std::ceil(*cores))));
    return n;
}

}  // namespace kvik
