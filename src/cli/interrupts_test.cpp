#include "cli/interrupts.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/types.h>
#include <unistd.h>

namespace kvik::cli {
namespace {

TEST(Interrupts, a_control_c_is_taken_once_and_kills_nobody) {
    Interrupts interrupts;
    EXPECT_FALSE(interrupts.take());
    ::kill(::getpid(), SIGINT);
    EXPECT_TRUE(interrupts.take());
    EXPECT_FALSE(interrupts.take());
}

TEST(Interrupts, an_end_is_taken_where_it_was_asked_for) {
    Interrupts interrupts(Interrupts::Ends::taken);
    EXPECT_EQ(interrupts.ended_by(), 0);
    ::kill(::getpid(), SIGINT);
    EXPECT_TRUE(interrupts.take());
    EXPECT_EQ(interrupts.ended_by(), 0);
    ::kill(::getpid(), SIGHUP);
    EXPECT_TRUE(interrupts.take());
    EXPECT_EQ(interrupts.ended_by(), SIGHUP);
    EXPECT_FALSE(interrupts.take());
}

TEST(Interrupts, a_control_c_makes_the_descriptor_readable) {
    Interrupts interrupts;
    pollfd waiting{interrupts.fd(), POLLIN, 0};
    EXPECT_EQ(::poll(&waiting, 1, 0), 0);
    ::kill(::getpid(), SIGINT);
    EXPECT_EQ(::poll(&waiting, 1, 0), 1);
}

TEST(Interrupts, the_signal_is_as_before_afterwards) {
    sigset_t before, after;
    ::pthread_sigmask(SIG_BLOCK, nullptr, &before);
    { const Interrupts interrupts; }
    ::pthread_sigmask(SIG_BLOCK, nullptr, &after);
    EXPECT_EQ(::sigismember(&before, SIGINT), ::sigismember(&after, SIGINT));
}

TEST(Interrupts, an_ignored_control_c_stays_ignored) {
    struct sigaction ignore {
    }, before{};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGINT, &ignore, &before);
    {
        Interrupts interrupts;
        ::kill(::getpid(), SIGINT);
        EXPECT_FALSE(interrupts.take());
    }
    ::sigaction(SIGINT, &before, nullptr);
}

}  // namespace
}  // namespace kvik::cli
