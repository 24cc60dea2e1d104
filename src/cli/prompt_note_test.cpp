#include "cli/prompt_note.h"

#include <gtest/gtest.h>

namespace kvik::cli {
namespace {

TEST(PromptNote, says_how_far_it_is_and_how_long_the_rest_takes) {
    EXPECT_EQ(
        prompt_line({.n_tokens = 4096, .n_cached = 0, .n_done = 1024}, {.now_s = 3.2, .done_s = 3}),
        "reading the prompt, 3 s: 1024 of 4096 tokens, about 9 s left");
    EXPECT_EQ(prompt_line({.n_tokens = 4096, .n_cached = 1024, .n_done = 2048},
                          {.now_s = 300, .done_s = 300}),
              "reading the prompt, 300 s: 2048 of 4096 tokens, about 10 min left");
}

TEST(PromptNote, a_narrow_terminal_gets_a_shorter_line) {
    const PromptProgress progress{.n_tokens = 19200, .n_cached = 0, .n_done = 1024};
    const PromptClock clock{.now_s = 3, .done_s = 3};
    EXPECT_EQ(prompt_line(progress, clock, 39), "prompt: 1024 of 19200, about 54 s left");
    EXPECT_EQ(prompt_line(progress, clock, 20), "prompt: 5 %");
}

TEST(PromptNote, guesses_nothing_before_something_was_computed) {
    EXPECT_EQ(prompt_line({}, {.now_s = 0.5}), "reading the prompt, 0 s");
    EXPECT_EQ(
        prompt_line({.n_tokens = 99, .n_cached = 32, .n_done = 32}, {.now_s = 2, .done_s = 1}),
        "reading the prompt, 2 s: 32 of 99 tokens");
}

TEST(PromptNote, the_rest_shrinks_while_a_step_is_computed_and_never_below_a_second) {
    const PromptProgress half{.n_tokens = 200, .n_cached = 0, .n_done = 100};
    EXPECT_EQ(prompt_line(half, {.now_s = 14, .done_s = 10}),
              "reading the prompt, 14 s: 100 of 200 tokens, about 6 s left");
    EXPECT_EQ(prompt_line(half, {.now_s = 50, .done_s = 10}),
              "reading the prompt, 50 s: 100 of 200 tokens, about 1 s left");
}

}  // namespace
}  // namespace kvik::cli
