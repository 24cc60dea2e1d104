#include "engine/inbox.h"

#include <gtest/gtest.h>

#include <thread>

namespace kvik {
namespace {

Submission submission(uint32_t tag) {
    return {.request = {}, .channel = std::make_shared<StreamChannel>(), .submitted_ms = 1.0 * tag};
}

struct Taken {
    std::vector<Submission> taken, cancelled;
};

Taken take(Inbox& inbox, uint32_t n) {
    Taken all;
    inbox.take(n, all.taken, all.cancelled);
    return all;
}

TEST(Inbox, gives_the_oldest_first) {
    Inbox inbox(8);
    for (uint32_t i = 0; i < 5; ++i) EXPECT_EQ(inbox.push(submission(i)), Inbox::Pushed::in);
    const Taken some = take(inbox, 3);
    ASSERT_EQ(some.taken.size(), 3u);
    for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(some.taken[i].submitted_ms, i);
    EXPECT_EQ(take(inbox, 9).taken.size(), 2u);
}

TEST(Inbox, says_at_once_that_it_is_full) {
    Inbox inbox(2);
    EXPECT_EQ(inbox.push(submission(0)), Inbox::Pushed::in);
    EXPECT_EQ(inbox.push(submission(1)), Inbox::Pushed::in);
    EXPECT_EQ(inbox.push(submission(2)), Inbox::Pushed::full);
    take(inbox, 1);
    EXPECT_EQ(inbox.push(submission(3)), Inbox::Pushed::in);
}

TEST(Inbox, gives_out_cancelled_requests_wherever_they_stand) {
    Inbox inbox(8);
    std::vector<std::shared_ptr<StreamChannel>> channels;
    for (uint32_t i = 0; i < 4; ++i) {
        Submission s = submission(i);
        channels.push_back(s.channel);
        inbox.push(std::move(s));
    }
    channels[2]->cancel();
    const Taken none = take(inbox, 0);
    EXPECT_EQ(none.taken.size(), 0u);
    ASSERT_EQ(none.cancelled.size(), 1u);
    EXPECT_EQ(none.cancelled[0].submitted_ms, 2);
    EXPECT_EQ(take(inbox, 9).taken.size(), 3u);
}

TEST(Inbox, takes_nothing_more_once_closed_and_gives_out_what_it_has) {
    Inbox inbox(8);
    inbox.push(submission(0));
    inbox.close();
    EXPECT_EQ(inbox.push(submission(1)), Inbox::Pushed::closed);
    EXPECT_TRUE(inbox.wait());
    EXPECT_EQ(take(inbox, 9).taken.size(), 1u);
    EXPECT_FALSE(inbox.wait());
}

TEST(Inbox, wakes_who_waits_when_something_comes_and_when_it_closes) {
    Inbox inbox(8);
    std::thread waiter([&] {
        EXPECT_TRUE(inbox.wait());
        take(inbox, 9);
        EXPECT_FALSE(inbox.wait());
    });
    inbox.push(submission(0));
    inbox.close();
    waiter.join();
}

TEST(Inbox, is_waited_for_no_longer_than_was_said) {
    Inbox inbox(2);
    EXPECT_FALSE(inbox.wait_for(std::chrono::milliseconds(1)));
    inbox.close();
    EXPECT_TRUE(inbox.wait_for(std::chrono::hours(1)));
}

TEST(Inbox, has_room_for_as_many_tasks_as_requests_and_gives_the_oldest_first) {
    Inbox inbox(2);
    std::vector<uint32_t> ran;
    for (uint32_t i = 0; i < 2; ++i) {
        EXPECT_EQ(inbox.post([&ran, i](Stepper&) { ran.push_back(i); }), Inbox::Pushed::in);
    }
    EXPECT_EQ(inbox.post([](Stepper&) {}), Inbox::Pushed::full);
    EXPECT_EQ(inbox.push(submission(0)), Inbox::Pushed::in);
    EXPECT_TRUE(inbox.wait());
    std::vector<Task> tasks;
    inbox.take_tasks(tasks);
    EXPECT_EQ(tasks.size(), 2u);
    inbox.close();
    EXPECT_EQ(inbox.post([](Stepper&) {}), Inbox::Pushed::closed);
}

}  // namespace
}  // namespace kvik
