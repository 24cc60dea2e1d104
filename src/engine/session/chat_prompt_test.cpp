#include "engine/session/chat_prompt.h"

#include <gtest/gtest.h>

#include "support/toy_tokenizer.h"

namespace kvik {
namespace {

ToyTokenizer toy() {
    ToyTokenizer tokenizer({"<bos>", "<eos>", "<turn>", "a", "b"}, {0, 1, 2});
    tokenizer.bos_id = 0;
    tokenizer.eos_id = 1;
    return tokenizer;
}

ChatTemplate compiled(const char* source) {
    return std::move(*ChatTemplate::compile(source));
}

TEST(ChatPrompt, bos_is_added_only_where_the_text_has_none) {
    const ToyTokenizer tokenizer = toy();
    EXPECT_EQ(encode_prompt(tokenizer, {"ab", {}}), (std::vector<TokenId>{0, 3, 4}));
    EXPECT_EQ(encode_prompt(tokenizer, {"<bos>ab", {}}), (std::vector<TokenId>{0, 3, 4}));
    EXPECT_EQ(encode_prompt(tokenizer, {"", {}}), (std::vector<TokenId>{0}));
}

TEST(ChatPrompt, templates_are_given_the_tokenizers_spelling_of_bos_and_eos) {
    const TemplateInputs inputs = template_inputs(toy(), {{"user", "a"}});
    EXPECT_EQ(inputs.bos_token, "<bos>");
    EXPECT_EQ(inputs.eos_token, "<eos>");
    EXPECT_EQ(inputs.messages.size(), 1u);
}

TEST(ChatPrompt, rest_of_a_marked_text_keeps_its_marks) {
    const MarkedText text{"0123456789", {{1, 3}, {4, 7}, {8, 9}}};
    const MarkedText rest = text_from(text, 5);
    EXPECT_EQ(rest.text, "56789");
    ASSERT_EQ(rest.untrusted.size(), 2u);
    EXPECT_EQ(rest.untrusted[0].begin, 0u);
    EXPECT_EQ(rest.untrusted[0].end, 2u);
    EXPECT_EQ(rest.untrusted[1].begin, 3u);
    EXPECT_EQ(rest.untrusted[1].end, 4u);
}

TEST(ChatPrompt, end_tokens_are_eos_and_what_the_template_writes_after_an_answer) {
    const ToyTokenizer tokenizer = toy();
    const ChatTemplate turns = compiled("{% for m in messages %}{{ m.content }}<turn>{% endfor %}");
    EXPECT_EQ(find_end_tokens(&tokenizer, &turns), (std::vector<TokenId>{1, 2}));
    const ChatTemplate eos =
        compiled("{% for m in messages %}{{ m.content }}{{ eos_token }}{% endfor %}");
    EXPECT_EQ(find_end_tokens(&tokenizer, &eos), (std::vector<TokenId>{1}));
    EXPECT_EQ(find_end_tokens(&tokenizer, nullptr), (std::vector<TokenId>{1}));
    EXPECT_TRUE(find_end_tokens(nullptr, nullptr).empty());
}

TEST(ChatPrompt, end_tokens_are_all_that_the_model_names_each_once) {
    ToyTokenizer tokenizer = toy();
    tokenizer.end_ids = {2, 1, 0};
    EXPECT_EQ(find_end_tokens(&tokenizer, nullptr), (std::vector<TokenId>{1, 2, 0}));
}

TEST(ChatPrompt, a_template_that_writes_the_date_shows_where_its_turns_end) {
    const ToyTokenizer tokenizer = toy();
    const ChatTemplate dated = compiled(
        "{% for m in messages %}{{ strftime_now('%d') }}{{ m.content }}<turn>{% endfor %}");
    EXPECT_EQ(find_turn_end(tokenizer, dated), TokenId{2});
}

TEST(ChatPrompt, words_after_an_answer_are_no_end_of_the_turn) {
    const ToyTokenizer tokenizer = toy();
    const ChatTemplate words = compiled("{% for m in messages %}{{ m.content }}ab{% endfor %}");
    EXPECT_FALSE(find_turn_end(tokenizer, words).has_value());
}

}  // namespace
}  // namespace kvik
