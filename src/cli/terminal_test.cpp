#include "cli/terminal.h"

#include <gtest/gtest.h>

namespace kvik::cli {
namespace {

TEST(Terminal, a_line_is_cut_to_its_columns) {
    EXPECT_EQ(cut_to_columns("status", 6), "status");
    EXPECT_EQ(cut_to_columns("status", 5), "st...");
    EXPECT_EQ(cut_to_columns("status", 2), "..");
    EXPECT_EQ(cut_to_columns("", 0), "");
    // Two columns each, three bytes each.
    EXPECT_EQ(cut_to_columns("\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2", 6),
              "\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2");
    EXPECT_EQ(cut_to_columns("\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2", 5), "\xe6\xbc\xa2...");
    EXPECT_EQ(cut_to_columns("\xff\xff\xff\xff\xff", 4), "\xff...");
}

TEST(Terminal, a_line_is_broken_between_words) {
    EXPECT_EQ(wrapped("one two three", 13), "one two three");
    EXPECT_EQ(wrapped("one two three", 12), "one two\nthree");
    EXPECT_EQ(wrapped("one two three", 12, 4), "one two\n    three");
    EXPECT_EQ(wrapped("/name     what it does", 17, 10), "/name     what it\n          does");
    EXPECT_EQ(wrapped("", 10), "");
    EXPECT_EQ(wrapped("incomprehensible word", 5, 2), "incomprehensible\n  word");
    EXPECT_EQ(wrapped("a bb ccc", 0, 1), "a\n bb\n ccc");
}

}  // namespace
}  // namespace kvik::cli
