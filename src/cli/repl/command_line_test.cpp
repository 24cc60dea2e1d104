#include "cli/repl/command_line.h"

#include <gtest/gtest.h>

namespace kvik::cli {
namespace {

TEST(CommandLine, begins_with_a_slash) {
    const auto plain = command_of({.text = "/clear"});
    ASSERT_TRUE(plain);
    EXPECT_EQ(plain->name, "/clear");
    EXPECT_EQ(plain->rest, "");
    const auto more = command_of({.text = "/system \t be brief \n and kind\n"});
    ASSERT_TRUE(more);
    EXPECT_EQ(more->name, "/system");
    EXPECT_EQ(more->rest, "be brief \n and kind");
    EXPECT_EQ(command_of({.text = "/"})->name, "/");
}

TEST(CommandLine, all_else_is_a_message) {
    for (const char* text : {"hello", " /clear", "//clear", "a /b", ""})
        EXPECT_FALSE(command_of({.text = text})) << text;
    EXPECT_FALSE(command_of({.text = "/clear", .quoted = true}));
}

TEST(CommandLine, two_slashes_are_one_slash_of_a_message) {
    EXPECT_EQ(message_of({.text = "//clear"}), "/clear");
    EXPECT_EQ(message_of({.text = "///"}), "//");
    EXPECT_EQ(message_of({.text = "//x", .quoted = true}), "//x");
    EXPECT_EQ(message_of({.text = " //x "}), " //x ");
}

TEST(CommandLine, a_number_in_front_stands_alone) {
    EXPECT_EQ(split_number("3").number, 3u);
    EXPECT_EQ(split_number("3  apples").number, 3u);
    EXPECT_EQ(split_number("3  apples").text, "apples");
    for (const char* text : {"3rd try", "apples 3", "", "-1 x", "99999999999 x"}) {
        EXPECT_FALSE(split_number(text).number) << text;
        EXPECT_EQ(split_number(text).text, text);
    }
}

}  // namespace
}  // namespace kvik::cli
