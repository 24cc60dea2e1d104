#include "tier/save_queue.h"

#include <gtest/gtest.h>

#include <latch>

namespace kvik {
namespace {

using Queue = SaveQueue<int, int>;
constexpr std::chrono::seconds kLong(60);

TEST(save_queue, does_all_that_was_pushed_in_order) {
    Queue queue(100, [](const int& work) { return 2 * work; });
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(queue.push(+i));
    ASSERT_TRUE(queue.wait(kLong));
    const std::vector<int> done = queue.take_done();
    ASSERT_EQ(done.size(), 50u);
    for (int i = 0; i < 50; ++i) EXPECT_EQ(done[static_cast<size_t>(i)], 2 * i);
    EXPECT_TRUE(queue.take_done().empty());
}

TEST(save_queue, refuses_what_does_not_fit_instead_of_waiting) {
    std::latch started(1);
    std::latch may_end(1);
    Queue queue(3, [&](const int& work) {
        if (work == 0) started.count_down();
        may_end.wait();
        return work;
    });
    ASSERT_TRUE(queue.push(0));
    started.wait();  // it is being done, and no longer queued
    for (int i = 1; i <= 3; ++i) EXPECT_TRUE(queue.push(+i));
    EXPECT_FALSE(queue.push(4));
    EXPECT_TRUE(queue.take_done().empty());
    EXPECT_FALSE(queue.wait(std::chrono::milliseconds(1)));
    may_end.count_down();
    ASSERT_TRUE(queue.wait(kLong));
    EXPECT_EQ(queue.take_done().size(), 4u);
    EXPECT_TRUE(queue.push(5));
}

TEST(save_queue, dies_with_work_left_undone) {
    std::latch started(1);
    std::latch may_end(1);
    int n_done = 0;
    {
        Queue queue(10, [&](const int& work) {
            if (work == 0) started.count_down();
            may_end.wait();
            ++n_done;
            return work;
        });
        for (int i = 0; i < 10; ++i) queue.push(+i);
        started.wait();
        may_end.count_down();
    }
    EXPECT_LE(n_done, 10);
}

}  // namespace
}  // namespace kvik
