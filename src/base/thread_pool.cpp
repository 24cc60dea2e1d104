#include "base/thread_pool.h"

#include <fmt/format.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <span>
#include <system_error>
#include <thread>
#include <vector>

#include "base/cgroup.h"
#include "base/check.h"
#include "base/thread_signals.h"
#include "base/worker_governor.h"
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

constexpr uint64_t kSpinNs = 5'000;
constexpr uint64_t kYieldNs = 50'000;

uint64_t now_ns(clockid_t clock) noexcept {
    timespec now;
    ::clock_gettime(clock, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}
uint64_t now_ns() noexcept {
    return now_ns(CLOCK_MONOTONIC);
}

using Word = std::atomic<uint32_t>;

// What a waiting worker does with its core. Where workers outnumber the cores it yields: spinning, it
// would hold up what it waits for (8 workers on 2 cores took six times as long). Elsewhere yielding
// or sleeping at once gives the core to other processes for a whole time slice: beside two of them a
// step took 24 and 300 ms, 8 ms with spinning.
enum class Crowd : uint8_t { spin, yield };

// Spins until `word` is no longer `old` or kYieldNs are over. Returns the time of the last look at
// the clock.
uint64_t spin(const Word& word, uint32_t old, uint64_t start_ns, Crowd crowd) noexcept {
    uint64_t now = start_ns;
    for (;;) {
        for (int i = 0; i < 8; ++i) {
            if (word.load(std::memory_order_acquire) != old) return now;
            relax();
        }
        now = now_ns();
        if (now - start_ns > kYieldNs) return now;
        if (crowd == Crowd::yield && now - start_ns > kSpinNs) ::sched_yield();
    }
}

// Time for which a thread was ready, but had no core: what neither it nor a sleep took.
class LostTime {
  public:
    // From `start_ns` on; what passed until now counts.
    void begin(uint64_t start_ns) noexcept {
        start_ns_ = start_ns;
        cpu_ns_ = now_ns(CLOCK_THREAD_CPUTIME_ID);
        slept_ns_ = 0;
    }
    void slept(uint64_t ns) noexcept { slept_ns_ += ns; }
    uint64_t end() const noexcept {
        const uint64_t passed = now_ns() - start_ns_;
        const uint64_t used = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns_ + slept_ns_;
        return passed > used ? passed - used : 0;
    }

  private:
    uint64_t start_ns_ = 0, cpu_ns_ = 0, slept_ns_ = 0;
};

}  // namespace

struct ThreadPool::Impl {
    enum class Duty : uint8_t { run, probe };
    // What belongs to one worker; the first line is written by the owner thread.
    struct alignas(64) Lane {
        Word go{0};  // counts the duties given to the worker
        Duty duty = Duty::run;
        alignas(64) Waited waited;
        LostTime lost;
        bool is_free = false;  // said by the last probe
        Word probed{0};        // number of that probe
    };

    const uint32_t n_threads;
    const Sharing sharing;
    const Crowd crowd;
    std::vector<Lane> lanes;
    std::vector<std::thread> threads;
    std::vector<uint64_t> lost_ns;  // [n_threads], of the last run
    WorkerGovernor governor;
    uint32_t n_probing = 0, n_probes = 0;
    std::atomic<bool> stopping{false};

    // Of the run.
    Task task = {};
    uint32_t n_running = 0;
    uint64_t began_ns = 0;
    alignas(64) Word n_arrived{0};
    Word n_sleeping{0};
    std::atomic<uint64_t> released_ns{0};
    alignas(64) Word phase{0};

    Impl(uint32_t n, Sharing its_sharing)
        : n_threads(n),
          sharing(its_sharing),
          crowd(n > usable_cores() ? Crowd::yield : Crowd::spin),
          lanes(n),
          lost_ns(n),
          governor(n) {}

    void stop() {
        stopping.store(true, std::memory_order_release);
        for (Lane& lane : lanes) wake(lane);
        for (std::thread& thread : threads) thread.join();
    }

    static void wake(Lane& lane) {
        lane.go.fetch_add(1, std::memory_order_seq_cst);
        lane.go.notify_one();
    }

    void give(uint32_t worker, Duty duty) {
        lanes[worker].duty = duty;
        wake(lanes[worker]);
    }

    // Central barrier; `phase` counts the barriers passed. acq_rel on the counter orders every
    // worker's writes before every worker's next phase. The store is seq_cst because notify_all
    // first looks whether anybody sleeps: were that look done before the store is seen, a worker
    // could fall asleep in between and nobody would wake it.
    void barrier(uint32_t worker) noexcept {
        const uint32_t n = n_running;  // after the last arrival it may be the next run's
        if (n == 1) return;
        ++lanes[worker].waited.n;
        const uint32_t now = phase.load(std::memory_order_relaxed);
        if (n_arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == n) {
            n_arrived.store(0, std::memory_order_relaxed);
            if (n_sleeping.load(std::memory_order_relaxed) > 0)
                released_ns.store(now_ns(), std::memory_order_relaxed);
            phase.store(now + 1, std::memory_order_seq_cst);
            phase.notify_all();
        } else {
            await_phase(lanes[worker], now);
        }
    }

    void await_phase(Lane& lane, uint32_t now) noexcept {
        const uint64_t start = now_ns();
        uint64_t end = spin(phase, now, start, crowd);
        if (phase.load(std::memory_order_acquire) == now) {
            n_sleeping.fetch_add(1, std::memory_order_relaxed);
            while (phase.load(std::memory_order_acquire) == now)
                phase.wait(now, std::memory_order_acquire);
            n_sleeping.fetch_sub(1, std::memory_order_relaxed);
            // Asleep until the release; what it took to get a core again is lost.
            const uint64_t released = released_ns.load(std::memory_order_relaxed);
            if (released > end) lane.lost.slept(released - end);
            end = now_ns();
        }
        lane.waited.ns += end - start;
    }

    void work(ThreadPool& pool, uint32_t index) {
        Lane& lane = lanes[index];
        for (uint32_t seen = 0;; ++seen) {
            spin(lane.go, seen, now_ns(), crowd);
            while (lane.go.load(std::memory_order_acquire) == seen)
                lane.go.wait(seen, std::memory_order_acquire);
            if (stopping.load(std::memory_order_acquire)) return;
            lane.duty == Duty::run ? take_part(pool, index) : probe(lane);
        }
    }

    void take_part(ThreadPool& pool, uint32_t index) {
        Lane& lane = lanes[index];
        lane.lost.begin(began_ns);
        task.call(task.body, Worker(pool, index, n_running));
        lost_ns[index] = lane.lost.end();
        barrier(index);
    }

    // Keeps a core busy and looks how much of it was left to it.
    void probe(Lane& lane) const {
        const uint64_t start = now_ns();
        LostTime lost;
        lost.begin(start);
        while (now_ns() - start < WorkerGovernor::kProbeNs) relax();
        lane.is_free = !WorkerGovernor::is_crowded(now_ns() - start, lost.end());
        lane.probed.store(n_probes, std::memory_order_release);
    }

    void run(ThreadPool& pool, Task what) {
        const FlushDenormals flush;
        if (sharing == Sharing::make_room) look_for_room();
        task = what;
        n_running = governor.n_active();
        began_ns = now_ns();
        for (uint32_t i = 1; i < n_running; ++i) give(i, Duty::run);
        take_part(pool, 0);
        if (sharing == Sharing::keep) return;
        const uint64_t now = now_ns();
        governor.ran(now, now - began_ns, std::span(lost_ns).first(n_running));
    }

    // Workers that take part in no run probe beside the runs, and take part again only after that.
    void look_for_room() {
        const uint64_t now = now_ns();
        if (n_probing == 0 && governor.wants_probe(now)) {
            n_probing = n_threads - governor.n_active();
            ++n_probes;
            for (uint32_t i = n_threads - n_probing; i < n_threads; ++i) give(i, Duty::probe);
        } else if (n_probing > 0) {
            uint32_t n_free = 0;
            for (uint32_t i = n_threads - n_probing; i < n_threads; ++i) {
                if (lanes[i].probed.load(std::memory_order_acquire) != n_probes) return;
                n_free += lanes[i].is_free;
            }
            n_probing = 0;
            governor.probed(now, n_free);
        }
    }
};

void Worker::barrier() const {
    pool_->impl_->barrier(index_);
}

Waited Worker::waited() const {
    return pool_->impl_->lanes[index_].waited;
}

ThreadPool::ThreadPool(uint32_t n_threads, Sharing sharing) {
    KVIK_CHECK(n_threads >= 1, "a pool has at least the calling thread");
    impl_ = std::make_unique<Impl>(n_threads, sharing);
    const auto work = [this](uint32_t i) {
        leave_signals_to_main();
        const FlushDenormals flush;
        impl_->work(*this, i);
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

Result<std::unique_ptr<ThreadPool>> ThreadPool::create(uint32_t n_threads, Sharing sharing) {
    try {
        return std::make_unique<ThreadPool>(n_threads, sharing);
    } catch (const std::system_error& error) {
        return fail(ErrorKind::memory, fmt::format("cannot start {} threads: {}: lower --threads",
                                                   n_threads, error.what()));
    }
}

uint32_t ThreadPool::n_threads() const {
    return impl_->n_threads;
}

uint32_t ThreadPool::n_active() const {
    return impl_->governor.n_active();
}

void ThreadPool::run(Task task) {
    impl_->run(*this, task);
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
