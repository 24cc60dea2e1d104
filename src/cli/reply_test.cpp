#include "cli/reply.h"

#include <gtest/gtest.h>

namespace kvik::cli {
namespace {

TEST(Reply, status_line_says_what_was_cached_and_how_fast_it_went) {
    Timings timings;
    timings.n_prompt_tokens = 812;
    timings.n_cached_tokens = 780;
    timings.prompt_ms = 41.2;
    timings.n_generated_tokens = 96;
    timings.decode_ms = 95 * 1000 / 138.0;
    EXPECT_EQ(status_line(timings, 8192),
              "prompt 812 tok (780 cached) 41 ms - 96 tok 138 tok/s - ctx 908/8192");
}

TEST(Reply, status_line_claims_no_speed_for_one_token) {
    Timings timings;
    timings.n_prompt_tokens = 5;
    timings.prompt_ms = 3;
    timings.n_generated_tokens = 1;
    EXPECT_EQ(status_line(timings, 10), "prompt 5 tok 3 ms - 1 tok - ctx 6/10");
}

TEST(Reply, status_line_leaves_out_what_does_not_fit) {
    Timings timings;
    timings.n_prompt_tokens = 812;
    timings.n_cached_tokens = 780;
    timings.prompt_ms = 41.2;
    timings.n_generated_tokens = 96;
    timings.decode_ms = 95 * 1000 / 138.0;
    EXPECT_EQ(status_line(timings, 8192, 62),
              "prompt 812 tok (780 cached) - 96 tok 138 tok/s - ctx 908/8192");
    EXPECT_EQ(status_line(timings, 8192, 40), "96 tok 138 tok/s - ctx 908/8192");
    EXPECT_EQ(status_line(timings, 8192, 20), "ctx 908/8192");
    for (uint32_t n_columns = 0; n_columns < 90; ++n_columns)
        EXPECT_LE(status_line(timings, 8192, n_columns).size(), n_columns);
}

TEST(Reply, timings_are_of_what_was_computed) {
    Timings timings;
    timings.n_prompt_tokens = 30;
    timings.n_cached_tokens = 10;
    timings.prompt_ms = 100;
    timings.n_generated_tokens = 11;
    timings.decode_ms = 200;
    const std::vector<std::string> want = {
        "load    12 ms", "prompt  30 tokens, 10 of them cached, 100 ms, 200.0 tok/s",
        "answer  11 tokens, 200 ms, 50.0 tok/s"};
    EXPECT_EQ(timing_lines(12.3, timings), want);
    EXPECT_EQ(timing_lines(0, {}).back(), "answer  0 tokens, 0 ms");
}

}  // namespace
}  // namespace kvik::cli
