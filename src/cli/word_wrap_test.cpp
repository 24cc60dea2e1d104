#include "cli/word_wrap.h"

#include <gtest/gtest.h>

#include <random>

#include "cli/terminal.h"
#include "cli/values.h"

namespace kvik::cli {
namespace {

std::string wrap(std::string_view text, uint32_t n_columns) {
    WordWrap words(n_columns);
    std::string out;
    words.push(text, out);
    words.finish(out);
    return out;
}

TEST(WordWrap, a_line_ends_between_words) {
    EXPECT_EQ(wrap("one two three", 13), "one two three");
    EXPECT_EQ(wrap("one two three", 12), "one two\nthree");
    EXPECT_EQ(wrap("one  two   three", 5), "one\ntwo\nthree");
    EXPECT_EQ(wrap("", 5), "");
    EXPECT_EQ(wrap("one two ", 7), "one two");
}

TEST(WordWrap, line_ends_and_indents_of_the_text_stay) {
    EXPECT_EQ(wrap("a\n\n    int x;\n\tint y;\n", 20), "a\n\n    int x;\n\tint y;\n");
    EXPECT_EQ(wrap("abcde  \nf", 5), "abcde\nf") << "blanks past the end would make an empty line";
    EXPECT_EQ(wrap("a\tb", 8), "a\nb") << "a tab goes to column 8, and b would be the ninth";
    EXPECT_EQ(wrap("a\tb", 9), "a\tb");
}

TEST(WordWrap, a_word_that_is_too_long_is_left_to_the_terminal) {
    EXPECT_EQ(wrap("abcdefgh ij", 5), "abcdefgh\nij") << "8 columns: 5 and 3";
    EXPECT_EQ(wrap("x abcdefgh i", 5), "x\nabcdefgh i");
}

TEST(WordWrap, what_is_too_long_shows_before_it_ends) {
    WordWrap words(5);
    std::string out;
    words.push("x abcdef", out);
    EXPECT_EQ(out, "x\nabcdef");
}

TEST(WordWrap, wide_characters_count_twice_and_are_words) {
    const std::string a = "\xe6\xbc\xa2", b = "\xe5\xad\x97", stop = "\xe3\x80\x82";
    EXPECT_EQ(wrap(a + b + a, 4), a + b + "\n" + a);
    EXPECT_EQ(wrap(a + b + a, 5), a + b + "\n" + a);
    EXPECT_EQ(wrap(a + b + stop, 4), a + "\n" + b + stop) << "a full stop begins no line";
    EXPECT_EQ(wrap(a + "ab" + b, 4), a + "ab\n" + b);
    EXPECT_EQ(wrap("a " + a, 3), "a\n" + a);
}

TEST(WordWrap, marks_take_no_column_and_stay_with_their_letter) {
    const std::string e = "e\xcc\x81";  // with a combining acute accent
    EXPECT_EQ(wrap(e + e + e + " " + e, 5), e + e + e + " " + e);
    EXPECT_EQ(wrap(e + e + e + " " + e, 4), e + e + e + "\n" + e);
}

TEST(WordWrap, what_steers_a_terminal_is_written_out_and_counted) {
    EXPECT_EQ(wrap("ab \x1b[2J", 8), "ab\n\\x1b[2J");
    EXPECT_EQ(wrap("ab \xe2\x80\xae", 9), "ab \\u202e");
    EXPECT_EQ(wrap("ab \xe2\x80\xae", 8), "ab\n\\u202e");
    EXPECT_EQ(wrap("ab \xe2\x80", 8), "ab\n\\xe2\\x80");
}

TEST(WordWrap, any_split_gives_the_same_text_and_no_line_is_too_long) {
    const std::string_view parts[] = {"a",
                                      "bc",
                                      " ",
                                      "  ",
                                      "\n",
                                      "\t",
                                      "word",
                                      "\xe6\xbc\xa2",
                                      "\xe3\x80\x82",
                                      "e\xcc\x81",
                                      "\xf0\x9f\x98\x80",
                                      "\x1b",
                                      "\xff",
                                      "\xc2"};
    std::mt19937 dice(1);
    const auto below = [&](size_t n) { return static_cast<size_t>(dice() % n); };
    for (int round = 0; round < 3000; ++round) {
        std::string text;
        for (size_t n = below(40); n > 0; --n) text += parts[below(std::size(parts))];
        const auto n_columns = static_cast<uint32_t>(1 + below(30));
        const std::string whole = wrap(text, n_columns);
        WordWrap words(n_columns);
        std::string out;
        for (size_t at = 0; at < text.size();) {
            const size_t n = 1 + below(5);
            words.push(std::string_view(text).substr(at, n), out);
            at += n;
        }
        words.finish(out);
        ASSERT_EQ(out, whole) << text << " in " << n_columns;
        // But for blanks and line ends, it is the text; a line with blanks between words fits.
        const auto dense = [](std::string s) {
            std::erase_if(s, [](char c) { return c == ' ' || c == '\t' || c == '\n'; });
            return s;
        };
        ASSERT_EQ(dense(out), dense(printable_lines(text)));
    }
}

}  // namespace
}  // namespace kvik::cli
