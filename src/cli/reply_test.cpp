#include "cli/reply.h"

#include <gtest/gtest.h>

namespace kvik::cli {
namespace {

TEST(Reply, status_line_says_what_was_cached_and_how_fast_it_went) {
    Timings timings;
    timings.prompt_n = 812;
    timings.cached_n = 780;
    timings.prompt_ms = 41.2;
    timings.decode_n = 96;
    timings.decode_ms = 95 * 1000 / 138.0;
    EXPECT_EQ(status_line(timings, 8192),
              "prompt 812 tok (780 cached) 41 ms - 96 tok 138 tok/s - ctx 908/8192");
}

TEST(Reply, status_line_claims_no_speed_for_one_token) {
    Timings timings;
    timings.prompt_n = 5;
    timings.prompt_ms = 3;
    timings.decode_n = 1;
    EXPECT_EQ(status_line(timings, 10), "prompt 5 tok 3 ms - 1 tok - ctx 6/10");
}

}  // namespace
}  // namespace kvik::cli
