#include "cli/doctor_measure.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <utility>

#include "kernels/pack.h"

namespace kvik::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kSeconds = 0.06;  // of each measurement

// Rounds of `work` for so long, at least three: the fewest seconds that one took.
double best_seconds(double seconds, const std::function<void()>& work) {
    const auto begin = Clock::now();
    double best = 1e9, passed = 0;
    for (int i = 0; i < 3 || passed < seconds; ++i) {
        const auto start = Clock::now();
        work();
        const auto end = Clock::now();
        best = std::min(best, std::chrono::duration<double>(end - start).count());
        passed = std::chrono::duration<double>(end - begin).count();
    }
    return best;
}

// Eight sums apart, so that loads and not additions are what is waited for.
uint64_t read_all(const uint64_t* words, uint64_t n_words) {
    uint64_t sums[8] = {};
    for (uint64_t i = 0; i + 8 <= n_words; i += 8)
        for (int lane = 0; lane < 8; ++lane) sums[lane] += words[i + lane];
    uint64_t sum = 0;
    for (const uint64_t s : sums) sum += s;
    return sum;
}

// `multiply` does `ops` operations on data that lies in a core's own cache.
Rate measure_compute(ThreadPool& pool, double ops, const std::function<void(uint32_t)>& multiply) {
    constexpr int kRepeats = 200;
    const auto repeat = [&](uint32_t worker) {
        for (int i = 0; i < kRepeats; ++i) multiply(worker);
    };
    const double one = best_seconds(kSeconds, [&] { repeat(0); });
    const double all =
        best_seconds(kSeconds, [&] { pool.run([&](Worker w) { repeat(w.index()); }); });
    return {ops * kRepeats / one, ops * kRepeats * pool.n_threads() / all};
}

// Two tiles of unpacked weights times a panel of activations: prefill's innermost product.
struct Int8Work {
    static constexpr uint32_t kGroups = 8;
    static constexpr double kOps = 2.0 * 2 * kTileRows * kPanelCols * kGroups * kGroup;
    UnpackedGroup a[kGroups], b[kGroups];
    int8_t q[kGroups * kPanelCols * kGroup];
    float d[kGroups * kPanelCols], u[kGroups * kPanelCols];
    int32_t nsum[kGroups * kPanelCols];
    alignas(64) float out[kPanelCols * 2 * kTileRows];

    Int8Work() {
        std::memset(static_cast<void*>(a), 0, sizeof a);
        std::memset(static_cast<void*>(b), 0, sizeof b);
        for (UnpackedGroup* group : {a, b})
            for (uint32_t g = 0; g < kGroups; ++g) {
                std::fill_n(group[g].w, 512, static_cast<uint8_t>(7 + g));
                std::fill_n(group[g].scale, 16, 1.0f);
            }
        std::fill_n(q, sizeof q, static_cast<int8_t>(3));
        std::fill_n(d, kGroups * kPanelCols, 1.0f);
        std::fill_n(u, kGroups * kPanelCols, 1.0f);
        std::fill_n(nsum, kGroups * kPanelCols, -1);
    }
    void run(const KernelTable& kernels) {
        kernels.matmul_unpacked(TileType::q8_0, a, b, kGroups, {q, d, u, nsum, kPanelCols}, 0,
                                kPanelCols, {out, 2 * kTileRows}, {out + kTileRows, 2 * kTileRows});
    }
};

struct FloatWork {
    static constexpr uint32_t kK = 128;
    static constexpr double kOps = 2.0 * kTileRows * kPanelCols * kK;
    alignas(64) float tile[kK * kTileRows];
    alignas(64) float x[kK * kPanelCols];
    alignas(64) float out[kPanelCols * kTileRows];

    FloatWork() {
        std::fill_n(tile, kK * kTileRows, 0.5f);
        std::fill_n(x, kK * kPanelCols, 0.25f);
    }
    void run(const KernelTable& kernels) {
        kernels.matmul_f32(tile, kK, x, kPanelCols, kPanelCols, {out, kTileRows});
    }
};

template <class Work>
Rate measure_work(const KernelTable& kernels, ThreadPool& pool) {
    std::vector<Work> works(pool.n_threads());
    return measure_compute(pool, Work::kOps, [&](uint32_t i) { works[i].run(kernels); });
}

}  // namespace

// Rounds are short, so that some are undisturbed, and go through the whole buffer, so that none
// finds its words in a cache.
static constexpr uint64_t kWindows = 8;

Result<ReadMeter> ReadMeter::open(ThreadPool& pool, uint64_t buffer_bytes) {
    KVIK_TRY(Arena buffer, Arena::reserve(buffer_bytes, "buffer for measuring memory"));
    return ReadMeter(pool, std::move(buffer));
}

ReadMeter::ReadMeter(ThreadPool& pool, Arena buffer)
    : pool_(&pool),
      buffer_(std::move(buffer)),
      n_words_(buffer_.n_bytes() / sizeof(uint64_t) / kWindows),
      sums_(pool.n_threads() * 8) {
    // Pages that were never written are all the same page of zeros.
    pool.run([&](Worker w) {
        const uint64_t begin = buffer_.n_bytes() * w.index() / w.count();
        const uint64_t end = buffer_.n_bytes() * (w.index() + 1) / w.count();
        std::memset(buffer_.data() + begin, 1, end - begin);
    });
}

const uint64_t* ReadMeter::next_window() {
    return reinterpret_cast<const uint64_t*>(buffer_.data()) + round_++ % kWindows * n_words_;
}

double ReadMeter::one(double seconds) {
    const double best =
        best_seconds(seconds, [&] { sums_[0] += read_all(next_window(), n_words_); });
    return static_cast<double>(n_words_ * sizeof(uint64_t)) / best;
}

double ReadMeter::all(double seconds) {
    const double best = best_seconds(seconds, [&] {
        const uint64_t* window = next_window();
        pool_->run([&](Worker w) {
            const uint64_t begin = n_words_ * w.index() / w.count();
            const uint64_t end = n_words_ * (w.index() + 1) / w.count();
            sums_[w.index() * 8] += read_all(window + begin, end - begin);
        });
    });
    // Used, so that reading cannot be left out.
    [[maybe_unused]] const volatile uint64_t used = sums_[0];
    return static_cast<double>(n_words_ * sizeof(uint64_t)) / best;
}

Result<Ceilings> measure_ceilings(const KernelTable& kernels, ThreadPool& pool,
                                  uint64_t buffer_bytes) {
    Ceilings ceilings;
    KVIK_TRY(ReadMeter meter, ReadMeter::open(pool, buffer_bytes));
    ceilings.read_bytes_per_s = {meter.one(kSeconds), meter.all(kSeconds)};
    ceilings.int8_ops_per_s = measure_work<Int8Work>(kernels, pool);
    ceilings.f32_ops_per_s = measure_work<FloatWork>(kernels, pool);
    return ceilings;
}

}  // namespace kvik::cli
