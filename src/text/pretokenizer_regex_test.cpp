#include "text/pretokenizer_regex.h"

#include <gtest/gtest.h>

#include <array>

namespace kvik {
namespace {

constexpr std::string_view kSpace = R"([\t-\r\x{85}\p{Z}])";

TEST(PretokenizerRegex, spells_out_white_space_and_digits) {
    EXPECT_EQ(*translate_regex(R"(\s+)"), std::string(kSpace) + "+");
    EXPECT_EQ(*translate_regex(R"(\S)"), R"([^\t-\r\x{85}\p{Z}])");
    EXPECT_EQ(*translate_regex(R"([^\s\p{L}])"), R"([^\t-\r\x{85}\p{Z}\p{L}])");
    EXPECT_EQ(*translate_regex(R"(\d[\D])"), R"(\p{Nd}[\P{Nd}])");
}

TEST(PretokenizerRegex, keeps_what_means_the_same) {
    for (const char* same : {"abc", "a|b", "(?:ab)+?", "(?i:'s|'t)", "a(?=b)", "a(?!b)", "(?<=a)b",
                             "(?<!a)b", "a{1,3}", "a{2,}?", "a{2}", "a++b", R"([\r\n]*)",
                             R"(\p{Lu}\P{Han})", "[a-z_-]", R"(\.\*\[)", "!#%&"})
        EXPECT_EQ(translate_regex(same).value_or("refused"), same);
}

TEST(PretokenizerRegex, catches_nothing_in_plain_groups_and_writes_code_points_in_braces) {
    EXPECT_EQ(*translate_regex("(a)(b)"), "(?:a)(?:b)");
    EXPECT_EQ(*translate_regex(R"(\u4e00\x{1F600}\x41)"), R"(\x{4e00}\x{1F600}\x{41})");
}

TEST(PretokenizerRegex, refuses_what_it_would_have_to_guess) {
    constexpr std::array kRefused = {
        "",       "a\\",     R"(\w)",    R"(\b)",      R"(\h)",    R"(\1)",   R"(\Qx)",   "(?>a)",
        "(?#a)",  "(*FAIL)", "(?P<n>a)", "(?i)a",      "(a",       "a)",      "[a",       "[]a]",
        "[[:x]]", "[a&&b]",  "a**",      "a{2}+",      "a{x}",     "a{,3}",   "a{1,2,3}", "*a",
        "^a",     "a$",      "a.b",      R"(\p{Foo})", R"(\pL)",   R"(\xE9)", R"(\x4)",   R"(\u12)",
        "a\xFF",  "[a-\\s]", R"(\p)",    "(?",         R"(\x{41)", "[\\"};
    for (const char* source : kRefused) {
        const auto translated = translate_regex(source);
        ASSERT_FALSE(translated.has_value()) << source << " became " << *translated;
        EXPECT_EQ(translated.error().kind, ErrorKind::unsupported);
        EXPECT_EQ(translated.error().message.find('\n'), std::string::npos);
    }
}

TEST(PretokenizerRegex, refuses_an_expression_that_is_too_long) {
    EXPECT_TRUE(translate_regex(std::string(kMaxRegexBytes, 'a')).has_value());
    EXPECT_FALSE(translate_regex(std::string(kMaxRegexBytes + 1, 'a')).has_value());
}

}  // namespace
}  // namespace kvik
