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

TEST(Prompt, escapes_are_those_of_llama_cli) {
    EXPECT_EQ(unescaped(R"(a\nb\t\"c\\d\x41)"), "a\nb\t\"c\\dA");
    EXPECT_EQ(unescaped(R"(\q \x4 \xzz \)"), R"(\q \x4 \xzz \)");
}

TEST(Prompt, they_stand_in_the_text_of_p_and_in_others_if_asked_for) {
    Interrupts interrupts;
    const auto prompt = [&](bool is_flag, Escapes escapes) {
        return *read_prompt(
            {.argument = R"(a\nb)", .file = {}, .is_flag = is_flag, .escapes = escapes},
            interrupts);
    };
    EXPECT_EQ(prompt(true, Escapes::of_flag), "a\nb");
    EXPECT_EQ(prompt(true, Escapes::none), R"(a\nb)");
    EXPECT_EQ(prompt(false, Escapes::of_flag), R"(a\nb)");
    EXPECT_EQ(prompt(false, Escapes::all), "a\nb");
}

}  // namespace
}  // namespace kvik::cli
