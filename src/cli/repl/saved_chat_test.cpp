#include "cli/repl/saved_chat.h"

#include <gtest/gtest.h>

#include <random>

namespace kvik::cli {
namespace {

Result<SavedChat> read(std::string_view json) {
    return from_json(json, "f.json", {});
}

TEST(SavedChat, comes_back_as_it_was) {
    SavedChat chat;
    chat.model = "m";
    chat.messages = {
        {"system", "be \"brief\""}, {"user", "a\n\tb\x01"}, {"assistant", "gr\xc3\xbc\xc3\x9f"}};
    chat.settings.emplace();
    chat.settings->sampling.temperature = 0.7f;
    chat.settings->sampling.seed = UINT64_MAX;
    chat.settings->sampling.logit_bias = {{5, -1.5f}};
    chat.settings->answer.max_new_tokens = 30;
    chat.settings->answer.stop = {"off", "\n", "5"};
    const auto back = read(to_json(chat));
    ASSERT_TRUE(back.has_value()) << back.error().message;
    EXPECT_EQ(back->model, "m");
    ASSERT_EQ(back->messages.size(), 3u);
    for (size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(back->messages[i].role, chat.messages[i].role);
        EXPECT_EQ(back->messages[i].content, chat.messages[i].content);
    }
    EXPECT_EQ(back->settings->sampling.temperature, 0.7f);
    EXPECT_EQ(back->settings->sampling.seed, UINT64_MAX);
    EXPECT_EQ(back->settings->sampling.logit_bias, chat.settings->sampling.logit_bias);
    EXPECT_EQ(back->settings->answer.max_new_tokens, 30u);
    EXPECT_EQ(back->settings->answer.stop, chat.settings->answer.stop);
}

TEST(SavedChat, writes_numbers_as_people_do) {
    SavedChat chat;
    chat.settings.emplace();
    EXPECT_NE(to_json(chat).find("\"temp\": 0.7,"), std::string::npos);
}

TEST(SavedChat, a_bare_list_of_messages_is_a_chat) {
    const auto chat = read(R"([{"role": "user", "content": "hello"}])");
    ASSERT_TRUE(chat.has_value());
    EXPECT_EQ(chat->messages.size(), 1u);
    EXPECT_FALSE(chat->settings);
}

TEST(SavedChat, what_is_no_chat_is_an_error_that_says_where) {
    const std::pair<const char*, const char*> cases[] = {
        {"", "f.json"},
        {"{", "f.json"},
        {"null", "kvik_chat"},
        {"{}", "kvik_chat"},
        {R"({"kvik_chat": 2, "messages": []})", "kvik_chat"},
        {R"({"kvik_chat": 1})", "messages"},
        {R"({"kvik_chat": 1, "messages": {}})", "messages"},
        {R"([7])", "messages[0]"},
        {R"([{"role": "user", "content": 7}])", "messages[0].content"},
        {R"([{"role": "user", "content": "", "tool_calls": []}])", "messages[0].tool_calls"},
        {R"([{"content": "x"}])", "messages[0].role"},
        {R"([{"role": "user", "content": ""}, {"role": "system", "content": ""}])",
         "messages[1].role"},
        {R"({"kvik_chat": 1, "messages": [], "settings": []})", "settings"},
        {R"({"kvik_chat": 1, "messages": [], "settings": {"temp": -1}})", "settings.temp"},
        {R"({"kvik_chat": 1, "messages": [], "settings": {"temp": null}})", "settings.temp"},
        {R"({"kvik_chat": 1, "messages": [], "settings": {"n": 1e99}})", "settings.n"},
        {R"({"kvik_chat": 1, "messages": [], "settings": {"warmth": 1}})", "warmth"},
        {R"({"kvik_chat": 1, "messages": [], "settings": {"stop": "x"}})", "settings.stop"},
        {R"({"kvik_chat": 1, "messages": [], "settings": {"stop": [""]}})", "settings.stop"},
        {"[{\"role\": \"user\", \"content\": \"\xff\"}]", "f.json"},
    };
    for (const auto& [json, place] : cases) {
        const auto chat = read(json);
        ASSERT_FALSE(chat.has_value()) << json;
        EXPECT_NE(chat.error().message.find(place), std::string::npos) << chat.error().message;
        EXPECT_NE(chat.error().message.find("f.json"), std::string::npos) << chat.error().message;
    }
    EXPECT_FALSE(read(std::string(100'000, '[')).has_value());
}

TEST(SavedChat, a_damaged_file_is_refused_or_a_chat_that_comes_back) {
    const uint32_t seed = 8;
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    SavedChat chat;
    chat.messages = {{"system", "s"}, {"user", "u\n"}, {"assistant", "\xc3\xbc"}};
    chat.settings.emplace();
    chat.settings->answer.stop = {"x"};
    const std::string whole = to_json(chat);
    constexpr std::string_view kBytes = "{}[]\",:\\0-9e.ntu\xff";
    int n_read = 0;
    for (int round = 0; round < 3000; ++round) {
        std::string damaged = whole;
        for (auto n = random() % 3 + 1; n > 0; --n)
            damaged[random() % damaged.size()] = kBytes[random() % kBytes.size()];
        if (random() % 4 == 0) damaged.resize(random() % damaged.size());
        const auto got = read(damaged);
        if (!got) continue;
        ++n_read;
        EXPECT_TRUE(read(to_json(*got)).has_value()) << damaged;
    }
    EXPECT_GT(n_read, 30);
}

}  // namespace
}  // namespace kvik::cli
