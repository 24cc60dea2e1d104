#include "engine/request/request_queue.h"

#include <gtest/gtest.h>

#include <thread>

namespace kvik {
namespace {

QueuedRequest queued(uint32_t tag) {
    return {.request = {}, .channel = std::make_shared<StreamChannel>(), .submitted_ms = 1.0 * tag};
}

struct Taken {
    std::vector<QueuedRequest> taken, cancelled;
};

Taken take(RequestQueue& queue, uint32_t n) {
    Taken all;
    queue.take(n, all.taken, all.cancelled);
    return all;
}

TEST(RequestQueue, gives_the_oldest_first) {
    RequestQueue queue(8);
    for (uint32_t i = 0; i < 5; ++i) EXPECT_EQ(queue.push(queued(i)), RequestQueue::Pushed::in);
    const Taken some = take(queue, 3);
    ASSERT_EQ(some.taken.size(), 3u);
    for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(some.taken[i].submitted_ms, i);
    EXPECT_EQ(take(queue, 9).taken.size(), 2u);
}

TEST(RequestQueue, says_at_once_that_it_is_full) {
    RequestQueue queue(2);
    EXPECT_EQ(queue.push(queued(0)), RequestQueue::Pushed::in);
    EXPECT_EQ(queue.push(queued(1)), RequestQueue::Pushed::in);
    EXPECT_EQ(queue.push(queued(2)), RequestQueue::Pushed::full);
    take(queue, 1);
    EXPECT_EQ(queue.push(queued(3)), RequestQueue::Pushed::in);
}

TEST(RequestQueue, gives_out_cancelled_requests_wherever_they_stand) {
    RequestQueue queue(8);
    std::vector<std::shared_ptr<StreamChannel>> channels;
    for (uint32_t i = 0; i < 4; ++i) {
        QueuedRequest s = queued(i);
        channels.push_back(s.channel);
        queue.push(std::move(s));
    }
    channels[2]->cancel();
    const Taken none = take(queue, 0);
    EXPECT_EQ(none.taken.size(), 0u);
    ASSERT_EQ(none.cancelled.size(), 1u);
    EXPECT_EQ(none.cancelled[0].submitted_ms, 2);
    EXPECT_EQ(take(queue, 9).taken.size(), 3u);
}

TEST(RequestQueue, takes_nothing_more_once_closed_and_gives_out_what_it_has) {
    RequestQueue queue(8);
    queue.push(queued(0));
    queue.close();
    EXPECT_EQ(queue.push(queued(1)), RequestQueue::Pushed::closed);
    EXPECT_TRUE(queue.wait());
    EXPECT_EQ(take(queue, 9).taken.size(), 1u);
    EXPECT_FALSE(queue.wait());
}

TEST(RequestQueue, wakes_who_waits_when_something_comes_and_when_it_closes) {
    RequestQueue queue(8);
    std::thread waiter([&] {
        EXPECT_TRUE(queue.wait());
        take(queue, 9);
        EXPECT_FALSE(queue.wait());
    });
    queue.push(queued(0));
    queue.close();
    waiter.join();
}

TEST(RequestQueue, is_waited_for_no_longer_than_was_said) {
    RequestQueue queue(2);
    EXPECT_FALSE(queue.wait_for(std::chrono::milliseconds(1)));
    queue.close();
    EXPECT_TRUE(queue.wait_for(std::chrono::hours(1)));
}

TEST(RequestQueue, has_room_for_as_many_tasks_as_requests_and_gives_the_oldest_first) {
    RequestQueue queue(2);
    std::vector<uint32_t> ran;
    for (uint32_t i = 0; i < 2; ++i) {
        EXPECT_EQ(queue.post([&ran, i](KvCache&) { ran.push_back(i); }), RequestQueue::Pushed::in);
    }
    EXPECT_EQ(queue.post([](KvCache&) {}), RequestQueue::Pushed::full);
    EXPECT_EQ(queue.push(queued(0)), RequestQueue::Pushed::in);
    EXPECT_TRUE(queue.wait());
    std::vector<CacheTask> tasks;
    queue.take_tasks(tasks);
    EXPECT_EQ(tasks.size(), 2u);
    queue.close();
    EXPECT_EQ(queue.post([](KvCache&) {}), RequestQueue::Pushed::closed);
}

}  // namespace
}  // namespace kvik
