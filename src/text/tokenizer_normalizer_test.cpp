#include "text/tokenizer_normalizer.h"

#include <gtest/gtest.h>

namespace kvik {
namespace {

using Kind = NormalizerStep::Kind;

std::string after(std::vector<NormalizerStep> steps, std::string_view text) {
    return Normalizer::make(std::move(steps))->apply(text);
}

TEST(Normalizer, takes_its_steps_in_order) {
    EXPECT_EQ(after({{Kind::replace, "a", "bb"}, {Kind::replace, "b", "c"}}, "aba"), "ccccc");
    EXPECT_EQ(after({{Kind::prepend, "", "a"}, {Kind::replace, "a", "x"}}, "ba"), "xbx");
    EXPECT_EQ(after({{Kind::nfc}, {Kind::replace, "\xC3\xA9", "E"}}, "e\xCC\x81"), "E");
}

TEST(Normalizer, replaces_from_left_to_right_and_not_what_it_wrote) {
    EXPECT_EQ(after({{Kind::replace, "aa", "a"}}, "aaaaa"), "aaa");
    EXPECT_EQ(after({{Kind::replace, "a", "aa"}}, "aa"), "aaaa");
    EXPECT_EQ(after({{Kind::replace, "x", ""}}, "xx"), "");
}

TEST(Normalizer, puts_nothing_before_an_empty_text) {
    EXPECT_EQ(after({{Kind::prepend, "", "a"}}, ""), "");
    EXPECT_EQ(after({{Kind::replace, "x", ""}, {Kind::prepend, "", "a"}}, "x"), "");
}

TEST(Normalizer, refuses_to_replace_nothing) {
    const auto made = Normalizer::make({{Kind::nfc}, {Kind::replace, "", "x"}});
    ASSERT_FALSE(made.has_value());
    EXPECT_EQ(made.error().kind, ErrorKind::file);
    EXPECT_NE(made.error().message.find("steps[1]"), std::string::npos);
}

TEST(Normalizer, refuses_steps_that_together_let_a_text_grow_without_measure) {
    std::vector<NormalizerStep> steps(6, {Kind::replace, "a", "aa"});
    EXPECT_TRUE(Normalizer::make(steps).has_value());
    steps.push_back({Kind::replace, "a", "aa"});
    const auto made = Normalizer::make(steps);
    ASSERT_FALSE(made.has_value());
    EXPECT_EQ(made.error().kind, ErrorKind::unsupported);
    EXPECT_NE(made.error().message.find("steps[6]"), std::string::npos);
    EXPECT_FALSE(Normalizer::make({{Kind::prepend, "", std::string(4097, 'x')}}).has_value());
}

}  // namespace
}  // namespace kvik
