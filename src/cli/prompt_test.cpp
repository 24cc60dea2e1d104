#include "cli/prompt.h"

#include <gtest/gtest.h>

namespace kvik::cli {
namespace {

TEST(Prompt, argument_comes_before_stdin_with_an_empty_line_between) {
    EXPECT_EQ(join_prompt("Summarise:", "a text\n"), "Summarise:\n\na text");
    EXPECT_EQ(join_prompt("Hello", ""), "Hello");
    EXPECT_EQ(join_prompt("Hello", "\n"), "Hello");
    EXPECT_EQ(join_prompt(std::nullopt, "Hello\n"), "Hello");
}

TEST(Prompt, only_one_line_end_is_dropped) {
    EXPECT_EQ(join_prompt(std::nullopt, "Hello\n\n"), "Hello\n");
    EXPECT_EQ(join_prompt(std::nullopt, "Hello\r\n"), "Hello");
    EXPECT_EQ(join_prompt(std::nullopt, " Hello "), " Hello ");
}

}  // namespace
}  // namespace kvik::cli
