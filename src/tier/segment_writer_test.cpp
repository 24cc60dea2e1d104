#include "tier/segment_writer.h"

#include <gtest/gtest.h>

namespace kvik {
namespace {

uint32_t n_passed_over(WriteBreaker& breaker) {
    uint32_t n = 0;
    while (!breaker.lets_through()) ++n;
    return n;
}

TEST(write_breaker, asks_less_and_less_often_and_never_stops_to) {
    WriteBreaker breaker;
    EXPECT_EQ(n_passed_over(breaker), 0u);
    uint32_t expected = 2;
    for (int i = 0; i < 20; ++i) {
        breaker.note_failure();
        EXPECT_EQ(n_passed_over(breaker), expected);
        expected = std::min(2 * expected, WriteBreaker::kMostPassed);
    }
    breaker.note_success();
    EXPECT_EQ(n_passed_over(breaker), 0u);
    breaker.note_failure();
    EXPECT_EQ(n_passed_over(breaker), 2u);
}

}  // namespace
}  // namespace kvik
