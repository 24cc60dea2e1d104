#include "cli/text_side.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace kvik::cli {
namespace {

// Bytes and one control token.
std::unique_ptr<Tokenizer> tokenizer_with(const std::string& control) {
    TokenizerSpec spec;
    spec.model = "llama";
    for (int byte = 0; byte < 256; ++byte) {
        spec.tokens.push_back(fmt::format("<0x{:02X}>", byte));
        spec.types.push_back(TokenType::byte);
    }
    spec.tokens.push_back(control);
    spec.types.push_back(TokenType::control);
    spec.scores.resize(spec.tokens.size());
    auto tokenizer = make_tokenizer(std::move(spec));
    EXPECT_TRUE(tokenizer) << tokenizer.error().message;
    return std::move(*tokenizer);
}

TEST(BuiltinTemplate, is_only_for_a_vocabulary_that_has_its_tokens) {
    const auto name = [](const char* control, const char* architecture) {
        const auto found = builtin_template_for(*tokenizer_with(control), architecture);
        return found ? found->name : "none";
    };
    EXPECT_EQ(name("<|im_end|>", "llama"), "chatml");
    EXPECT_EQ(name("<end_of_turn>", "gemma3"), "gemma3");
    EXPECT_EQ(name("<end_of_turn>", "llama"), "none");
    EXPECT_EQ(name("<|im_end|>", "gemma3"), "none");
}

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
