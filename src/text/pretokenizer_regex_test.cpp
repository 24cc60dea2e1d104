#include "text/pretokenizer_regex.h"

#include <gtest/gtest.h>

#include <array>

#include "text/pretokenizer.h"

namespace kvik {
namespace {

// The pieces of a text with a bar between them, by one split.
std::string pieces(std::string_view regex, std::string_view text) {
    const std::array splits = {regex};
    const auto pretokenizer = Pretokenizer::of(splits, WholePieces::merged);
    if (!pretokenizer) return pretokenizer.error().message;
    std::vector<uint32_t> ends;
    pretokenizer->split(text, ends);
    std::string joined;
    size_t begin = 0;
    for (const uint32_t end : ends) {
        if (begin > 0) joined += '|';
        joined += text.substr(begin, end - begin);
        begin = end;
    }
    return joined;
}

TEST(PretokenizerRegex, writes_kinds_and_no_characters) {
    const auto regex = translate_regex(R"( ?\p{L}+|[^\s\p{L}\p{N}]++(?=a)|\p{N}{1,3})");
    ASSERT_TRUE(regex) << regex.error().message;
    EXPECT_EQ(regex->pattern.find('p'), std::string::npos) << regex->pattern;
    std::string kinds;
    regex->kinds.spell("a\xC3\xA9\xE4\xB8\xAD\xF0\xB1\x8D\x90", kinds);
    ASSERT_EQ(kinds.size(), 4u);
    EXPECT_EQ(kinds[1], kinds[2]) << "the pattern tells no letters apart but a";
    EXPECT_EQ(kinds[1], kinds[3]);
    EXPECT_NE(kinds[0], kinds[1]);
}

TEST(PretokenizerRegex, means_what_the_models_mean) {
    EXPECT_EQ(pieces(R"(\s+)",
                     "a \t\xC2\xA0\xE2\x80\xA8x\xE1\xA0\x8E"
                     "b"),
              "a| \t\xC2\xA0\xE2\x80\xA8|x\xE1\xA0\x8E"
              "b");
    EXPECT_EQ(pieces(R"(\d[\D])", "a1b22"), "a|1b|22");
    EXPECT_EQ(pieces(R"(\u00e9\x{1F600}\x41)",
                     "\xC3\xA9\xF0\x9F\x98\x80"
                     "AB"),
              "\xC3\xA9\xF0\x9F\x98\x80"
              "A|B");
    EXPECT_EQ(pieces("(a)(b)", "cabc"), "c|ab|c");
    EXPECT_EQ(pieces("a(?=b)", "abac"), "a|bac");
    EXPECT_EQ(pieces("a(?!b)", "abac"), "ab|a|c");
    EXPECT_EQ(pieces("(?<=a)b", "abb"), "a|b|b");
    EXPECT_EQ(pieces("(?<!a)b", "abb"), "ab|b");
    EXPECT_EQ(pieces("a{2,}?", "aaa"), "aa|a");
    EXPECT_EQ(pieces("[a-c_-]", "d-_c"), "d|-|_|c");
    EXPECT_EQ(pieces(R"([^\r\n]+)", "ab\ncd"), "ab|\n|cd");
    EXPECT_EQ(pieces(R"(\p{Lu}\P{Han})", "aBc"), "a|Bc");
    EXPECT_EQ(pieces("a.", "ab\na\n"), "ab|\na\n");
    EXPECT_EQ(pieces("a$", "ab a\na"), "ab |a|\n|a");
}

// Case is that of the tables, in classes and outside; the long s and the Kelvin sign are letters too.
TEST(PretokenizerRegex, ignores_case_where_it_is_told_to) {
    EXPECT_EQ(pieces("(?i:'s|k)",
                     "a'\xC5\xBF"
                     "bK\xE2\x84\xAA"),
              "a|'\xC5\xBF|b|K|\xE2\x84\xAA");
    EXPECT_EQ(pieces("(?i:[a-z]+)", "1\xE2\x84\xAAx2"), "1|\xE2\x84\xAAx|2");
    EXPECT_EQ(pieces(R"((?i:[^\p{Lu}]))", "aBc1"), "aBc|1");
    EXPECT_EQ(pieces(R"((?i:\p{Lu}))", "aBc1"), "a|B|c|1");
    EXPECT_EQ(pieces("(?i:(?:a)b)c", "ABcABC"), "ABc|ABC");
}

TEST(PretokenizerRegex, refuses_what_it_would_have_to_guess) {
    constexpr std::array kRefused = {
        "",       "a\\",      R"(\w)",   R"(\b)",     R"(\h)", R"(\1)",        R"(\Qx)",
        "(?>a)",  "(?#a)",    "(*FAIL)", "(?P<n>a)",  "(?i)a", "(a",           "a)",
        "[a",     "[]a]",     "[[:x]]",  "[a&&b]",    "a**",   "a{2}+",        "a{x}",
        "a{,3}",  "a{1,2,3}", "*a",      "^a",        "a$*",   "[b-a]",        R"(\p{Foo})",
        R"(\pL)", R"(\xE9)",  R"(\x4)",  R"(\u12)",   "a\xFF", "[a-\\s]",      R"(\p)",
        "(?",     R"(\x{41)", "[\\",     R"([\s-a])", "[a-[]", R"(\x{110000})"};
    for (const char* source : kRefused) {
        const auto translated = translate_regex(source);
        ASSERT_FALSE(translated.has_value()) << source << " became " << translated->pattern;
        EXPECT_EQ(translated.error().kind, ErrorKind::unsupported);
        EXPECT_EQ(translated.error().message.find('\n'), std::string::npos);
    }
}

TEST(PretokenizerRegex, refuses_an_expression_that_is_too_long) {
    EXPECT_TRUE(translate_regex(std::string(kMaxRegexBytes, 'a')).has_value());
    EXPECT_FALSE(translate_regex(std::string(kMaxRegexBytes + 1, 'a')).has_value());
}

TEST(PretokenizerRegex, refuses_to_tell_more_characters_apart_than_there_are_bytes) {
    std::string source;
    for (int i = 0; i < 260; ++i)
        source += "\\u" + std::string("4") + "abcdefghij0123456789"[i % 6] +
                  "0123456789abcdef"[i / 16 % 16] + "0123456789abcdef"[i % 16];
    const auto translated = translate_regex(source);
    ASSERT_FALSE(translated.has_value());
    EXPECT_NE(translated.error().message.find("256 kinds"), std::string::npos);
}

}  // namespace
}  // namespace kvik
