#include "cli/repl/chat_settings.h"

#include <gtest/gtest.h>

namespace kvik::cli {
namespace {

std::string shown(const ChatSettings& settings, std::string_view name) {
    return find_setting(name).value().describe(settings);
}

TEST(ChatSettings, every_setting_takes_what_it_shows) {
    ChatSettings settings;
    const std::pair<const char*, const char*> values[] = {
        {"temp", "0.25"},
        {"top_k", "40"},
        {"top_p", "0.9"},
        {"min_p", "0.1"},
        {"seed", "18446744073709551615"},
        {"n", "12"},
        {"repeat_penalty", "1.1"},
        {"presence_penalty", "-0.5"},
        {"frequency_penalty", "2"},
        {"logit_bias", "5:-inf,7:1.5"},
        {"stop", "a\\nb\\\\"},
        {"overflow", "truncate"},
        {"invalidation", "lazy"},
    };
    EXPECT_EQ(std::size(values), all_settings().size());
    for (const auto& [name, value] : values) {
        ASSERT_TRUE(set(settings, name, value).has_value()) << name;
        EXPECT_EQ(shown(settings, name), value);
    }
    EXPECT_EQ(settings.answer.stop, std::vector<std::string>{"a\nb\\"});
    EXPECT_EQ(settings.answer.max_new_tokens, 12u);
}

TEST(ChatSettings, what_is_off_says_so_and_can_be_turned_off_again) {
    ChatSettings settings;
    for (const auto& [name, value] : {std::pair{"n", "3"}, {"stop", "x"}, {"logit_bias", "1:2"}}) {
        EXPECT_EQ(shown(settings, name), "off");
        ASSERT_TRUE(set(settings, name, value).has_value());
        ASSERT_TRUE(set(settings, name, "off").has_value());
        EXPECT_EQ(shown(settings, name), "off");
    }
}

TEST(ChatSettings, names_may_be_spelled_as_flags_are) {
    ChatSettings settings;
    EXPECT_TRUE(set(settings, "--top-k", "3").has_value());
    EXPECT_TRUE(set(settings, "temperature", "0").has_value());
    EXPECT_EQ(settings.sampling.top_k, 3u);
    EXPECT_EQ(settings.sampling.temperature, 0.0f);
}

TEST(ChatSettings, a_mistyped_name_gets_the_nearest_one) {
    ChatSettings settings;
    const auto refused = set(settings, "tmep", "1");
    ASSERT_FALSE(refused.has_value());
    EXPECT_NE(refused.error().message.find("did you mean temp?"), std::string::npos);
}

TEST(ChatSettings, a_refused_value_changes_nothing_and_names_its_setting) {
    ChatSettings settings;
    for (const char* name : {"temp", "top_k", "top_p", "min_p", "seed", "n", "repeat_penalty",
                             "presence_penalty", "frequency_penalty", "logit_bias"}) {
        const std::string before = shown(settings, name);
        const auto refused = set(settings, name, "1e9x");
        ASSERT_FALSE(refused.has_value()) << name;
        EXPECT_TRUE(refused.error().message.starts_with(name)) << refused.error().message;
        EXPECT_EQ(shown(settings, name), before);
    }
    EXPECT_FALSE(set(settings, "top_p", "2").has_value());
    EXPECT_FALSE(set(settings, "stop", "").has_value());
}

TEST(ChatSettings, there_are_at_most_sixteen_stops) {
    ChatSettings settings;
    for (int i = 0; i < 16; ++i) ASSERT_TRUE(set(settings, "stop", std::to_string(i)).has_value());
    EXPECT_FALSE(set(settings, "stop", "more").has_value());
    EXPECT_TRUE(set(settings, "stop", "3").has_value()) << "which is there already";
}

}  // namespace
}  // namespace kvik::cli
