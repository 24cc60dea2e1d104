#include "cli/terminal_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <vector>

namespace kvik::cli {
namespace {

std::string utf8(uint32_t c) {
    const auto tail = [](uint32_t bits) { return static_cast<char>(0x80 | (bits & 0x3F)); };
    if (c < 0x80) return {static_cast<char>(c)};
    if (c < 0x800) return {static_cast<char>(0xC0 | c >> 6), tail(c)};
    if (c < 0x10000) return {static_cast<char>(0xE0 | c >> 12), tail(c >> 6), tail(c)};
    return {static_cast<char>(0xF0 | c >> 18), tail(c >> 12), tail(c >> 6), tail(c)};
}

TEST(TerminalText, writes_out_what_steers_a_terminal_and_nothing_else) {
    for (uint32_t c = 0; c < 0x110000; c = c == 0xD7FF ? 0xE000 : c + 1) {
        const bool is_c0 = (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
        const bool is_wide =
            (c >= 0x80 && c < 0xA0) || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
        const std::string want = is_c0     ? fmt::format("\\x{:02x}", c)
                                 : is_wide ? fmt::format("\\u{:04x}", c)
                                           : utf8(c);
        ASSERT_EQ(printable_lines(utf8(c)), want) << c;
    }
}

TEST(TerminalText, bytes_that_are_not_utf8_are_written_out) {
    EXPECT_EQ(printable_lines("\xff\x9b\xc3(\xe2\x80"), "\\xff\\x9b\\xc3(\\xe2\\x80");
    EXPECT_EQ(printable_lines("\xed\xa0\x80\xc0\x9b"), "\\xed\\xa0\\x80\\xc0\\x9b");
}

TEST(TerminalText, a_line_has_no_line_ends) {
    EXPECT_EQ(printable("a\x1b[2J\n\x7f\xc2\x9bz\t\xc3\xa9"),
              "a\\x1b[2J\\x0a\\x7f\\u009bz\\x09\xc3\xa9");
    EXPECT_EQ(printable_lines("a\tb\n\x1b[2J\r"), "a\tb\n\\x1b[2J\\x0d");
}

TEST(TerminalText, any_split_gives_the_same_text) {
    const std::string text =
        "a\x1b[31m\xc2\x9b z\xe2\x80\xae\xf0\x9f\x98\x80\xff\xe2\x81\n\xe2\x81";
    const std::string want = printable_lines(text);
    for (size_t i = 0; i <= text.size(); ++i)
        for (size_t j = i; j <= text.size(); ++j) {
            TerminalText pieces;
            std::string got;
            pieces.push(std::string_view(text).substr(0, i), got);
            pieces.push(std::string_view(text).substr(i, j - i), got);
            pieces.push(std::string_view(text).substr(j), got);
            pieces.finish(got);
            ASSERT_EQ(got, want) << i << " " << j;
        }
}

}  // namespace
}  // namespace kvik::cli
