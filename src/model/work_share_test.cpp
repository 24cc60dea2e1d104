#include "model/work_share.h"

#include <gtest/gtest.h>

#include <vector>

namespace kvik {
namespace {

// Phases of all those sizes in one run: how often each item of each phase was computed.
std::vector<std::vector<uint32_t>> counts(uint32_t n_threads, const std::vector<uint32_t>& sizes,
                                          uint32_t slow_worker) {
    std::vector<std::vector<std::atomic<uint32_t>>> seen;
    for (const uint32_t n : sizes) seen.emplace_back(n);
    ThreadPool pool(n_threads);
    std::atomic<uint32_t> taken{0};
    std::atomic<uint32_t> idle{0};
    pool.run([&](Worker worker) {
        WorkShare work(worker, taken);
        for (size_t phase = 0; phase < sizes.size(); ++phase) {
            work.each(sizes[phase], [&](ItemRange items) {
                EXPECT_LT(items.begin, items.end);
                EXPECT_LE(items.end, sizes[phase]);
                for (uint32_t i = items.begin; i < items.end; ++i) {
                    for (int n = 0; worker.index() == slow_worker && n < 1000; ++n) ++idle;
                    ++seen[phase][i];
                }
            });
            worker.barrier();
        }
    });
    std::vector<std::vector<uint32_t>> result;
    for (const auto& phase : seen) result.emplace_back(phase.begin(), phase.end());
    return result;
}

}  // namespace

TEST(WorkShare, gives_every_item_to_exactly_one_worker) {
    std::vector<uint32_t> sizes = {0, 1, 2, 3, 4, 5, 6, 9, 10, 11, 31, 100, 1536, 1, 0, 7};
    std::vector<std::vector<uint32_t>> once;
    for (const uint32_t n : sizes) once.emplace_back(n, 1u);
    for (uint32_t n_threads = 1; n_threads <= 5; ++n_threads)
        for (uint32_t slow = 0; slow < n_threads; ++slow)
            EXPECT_EQ(counts(n_threads, sizes, slow), once) << n_threads << " threads";
}

TEST(WorkShare, a_worker_alone_gets_all_at_once) {
    ThreadPool pool(1);
    std::atomic<uint32_t> taken{0};
    pool.run([&](Worker worker) {
        WorkShare work(worker, taken);
        uint32_t n_calls = 0;
        work.each(100, [&](ItemRange items) {
            EXPECT_EQ(items.begin, 0u);
            EXPECT_EQ(items.end, 100u);
            ++n_calls;
        });
        EXPECT_EQ(n_calls, 1u);
    });
}

// The rest is taken by whoever comes: worker 1 holds on to its first item until worker 0 has
// taken all of it.
TEST(WorkShare, a_slow_worker_is_left_with_less) {
    ThreadPool pool(2);
    std::atomic<uint32_t> taken{0};
    std::atomic<bool> is_done{false};
    uint32_t n_of_slow = 0;
    pool.run([&](Worker worker) {
        WorkShare work(worker, taken);
        work.each(100, [&](ItemRange items) {
            if (worker.index() != 1) return;
            n_of_slow += items.end - items.begin;
            while (!is_done) std::this_thread::yield();
        });
        if (worker.index() == 0) is_done = true;
    });
    EXPECT_EQ(n_of_slow, 45u);
}

}  // namespace kvik
