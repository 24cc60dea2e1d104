#include "cli/text_side.h"

#include <gtest/gtest.h>

namespace kvik::cli {
namespace {

TEST(Messages, come_in_order) {
    const auto messages = parse_messages(
        R"([{"role": "system", "content": "s"}, {"content": "\u00e9", "role": "user"}])", "m");
    ASSERT_TRUE(messages);
    ASSERT_EQ(messages->size(), 2u);
    EXPECT_EQ((*messages)[0].role, "system");
    EXPECT_EQ((*messages)[1].role, "user");
    EXPECT_EQ((*messages)[1].content, "\xc3\xa9");
}

TEST(Messages, what_is_wrong_is_named_with_its_place) {
    const auto refusal = [](const char* json) {
        const auto messages = parse_messages(json, "m.json");
        return messages ? std::string("accepted") : messages.error().message;
    };
    EXPECT_EQ(refusal(R"([{"role": "user", "content": "a"}, {"role": "user"}])"),
              "m.json: [1].content is not a string");
    EXPECT_EQ(refusal(R"([{"role": 1, "content": "a"}])"), "m.json: [0].role is not a string");
    EXPECT_EQ(refusal("[1]"), "m.json: [0] is not an object");
    EXPECT_EQ(refusal("[{"), "m.json is not JSON: it breaks at byte 2");
    for (const char* json : {"{}", "[]", R"({"role": "user", "content": "a"})", ""})
        EXPECT_NE(refusal(json), "accepted") << json;
}

TEST(Messages, a_key_that_would_be_ignored_is_refused) {
    const auto messages =
        parse_messages(R"([{"role": "user", "content": "a", "tool_calls": []}])", "m");
    ASSERT_FALSE(messages);
    EXPECT_EQ(messages.error().kind, ErrorKind::unsupported);
}

}  // namespace
}  // namespace kvik::cli
