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
              "m.json: [1] has no content");
    EXPECT_EQ(refusal(R"([{"role": "user", "content": 5}])"),
              "m.json: [0].content is not a string");
    EXPECT_EQ(refusal(R"([{"role": 1, "content": "a"}])"), "m.json: [0].role is not a string");
    EXPECT_EQ(refusal("[1]"), "m.json: [0] is not an object");
    EXPECT_EQ(refusal("[{"), "m.json is not JSON: it breaks at byte 2");
    for (const char* json : {"{}", "[]", R"({"role": "user", "content": "a"})", ""})
        EXPECT_NE(refusal(json), "accepted") << json;
}

TEST(Messages, what_else_a_message_has_is_for_the_template) {
    const auto messages = parse_messages(
        R"([{"role": "assistant", "content": null, "tool_calls": [{"a": 1}]}])", "m");
    ASSERT_TRUE(messages) << messages.error().message;
    const ChatMessage& message = messages->front();
    EXPECT_EQ(message.content, "");
    ASSERT_EQ(message.fields.size(), 2u);
    EXPECT_EQ(message.fields[0].name, "content");
    EXPECT_EQ(message.fields[0].json, "null");
    EXPECT_EQ(message.fields[1].name, "tool_calls");
    EXPECT_EQ(message.fields[1].json, "[{\"a\": 1}]");
}

TEST(Messages, values_stay_as_they_are_written) {
    for (const char* value :
         {"18446744073709551616", "-9223372036854775809", "1e22", "1.50", "-0.0", "[1 , 2]",
          "{\"a\" : \"],}\\\"\", \"b\": [{}]}", "true", "\"\\u00e9, :[\""}) {
        const auto messages =
            parse_messages("[{\"role\": \"user\", \"x\\u0079\" : " + std::string(value) +
                               " , \"content\": \"a\"} ]",
                           "m");
        ASSERT_TRUE(messages) << messages.error().message;
        ASSERT_EQ(messages->front().fields.size(), 1u) << value;
        EXPECT_EQ(messages->front().fields[0].name, "xy");
        EXPECT_EQ(messages->front().fields[0].json, value);
        EXPECT_EQ(messages->front().content, "a");
    }
}

TEST(Messages, an_assistant_may_say_nothing) {
    const auto messages =
        parse_messages(R"([{"role": "assistant", "tool_calls": []}, {"role": "assistant"}])", "m");
    ASSERT_TRUE(messages) << messages.error().message;
    for (const ChatMessage& message : *messages) {
        EXPECT_EQ(message.fields.back().name, "content");
        EXPECT_EQ(message.fields.back().json, "null");
    }
    EXPECT_FALSE(parse_messages(R"([{"role": "tool"}])", "m"));
}

TEST(TemplateRequest, is_a_list_of_messages_or_an_object_with_variables_beside_it) {
    const auto list = parse_template_request(R"([{"role": "user", "content": "a"}])", "m");
    ASSERT_TRUE(list);
    EXPECT_EQ(list->messages.size(), 1u);
    EXPECT_TRUE(list->variables.empty());
    const auto object = parse_template_request(
        R"({"tools": [{"a": 1}], "messages": [{"role": "user", "content": "b"}]})", "m");
    ASSERT_TRUE(object) << object.error().message;
    EXPECT_EQ(object->messages[0].content, "b");
    ASSERT_EQ(object->variables.size(), 1u);
    EXPECT_EQ(object->variables[0].name, "tools");
    EXPECT_EQ(object->variables[0].json, "[{\"a\": 1}]");
    EXPECT_FALSE(parse_template_request(R"({"role": "user"})", "m"));
    EXPECT_FALSE(parse_template_request(R"({"messages": 5})", "m"));
}

}  // namespace
}  // namespace kvik::cli
