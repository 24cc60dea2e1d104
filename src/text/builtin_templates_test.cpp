#include "text/builtin_templates.h"

#include <gtest/gtest.h>

#include "text/chat_template.h"

namespace kvik {
namespace {

Result<std::string> rendered(std::string_view name, std::vector<ChatMessage> messages) {
    const BuiltinChatTemplate* found = find_builtin_template(name);
    if (!found) return fail(ErrorKind::failed, "no such template");
    KVIK_TRY(const ChatTemplate made, ChatTemplate::compile(std::string(found->source)));
    TemplateInputs inputs{.messages = std::move(messages), .bos_token = "<s>", .eos_token = "</s>"};
    KVIK_TRY(MarkedText text, made.render(inputs));
    return std::move(text.text);
}

TEST(BuiltinTemplates, write_chatml_s_turns) {
    EXPECT_EQ(rendered("chatml", {{"system", "Be brief."}, {"user", " Hi "}}).value(),
              "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n Hi <|im_end|>\n"
              "<|im_start|>assistant\n");
}

TEST(BuiltinTemplates, call_gemmas_assistant_model_and_trim_what_is_said) {
    EXPECT_EQ(rendered("gemma", {{"user", " Hi\n"}, {"assistant", "Ho"}, {"user", "Hey"}}).value(),
              "<s><start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\nHo<end_of_turn>\n"
              "<start_of_turn>user\nHey<end_of_turn>\n<start_of_turn>model\n");
}

TEST(BuiltinTemplates, open_gemmas_first_turn_with_the_system_text) {
    EXPECT_EQ(rendered("gemma", {{"system", "Be brief."}, {"user", "Hi"}}).value(),
              "<s><start_of_turn>user\nBe brief.\n\nHi<end_of_turn>\n<start_of_turn>model\n");
}

TEST(BuiltinTemplates, refuse_gemma_turns_that_do_not_alternate) {
    const auto got = rendered("gemma", {{"user", "a"}, {"user", "b"}});
    ASSERT_FALSE(got.has_value());
    EXPECT_EQ(got.error().kind, ErrorKind::usage);
    EXPECT_NE(got.error().message.find("must take turns"), std::string::npos);
}

TEST(BuiltinTemplates, write_each_family_s_turns) {
    const std::vector<ChatMessage> chat = {
        {"system", "Be brief."}, {"user", " Hi"}, {"assistant", "Ho "}, {"user", "Hey"}};
    EXPECT_EQ(rendered("llama3", chat).value(),
              "<s><|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|>"
              "<|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>"
              "<|start_header_id|>assistant<|end_header_id|>\n\nHo<|eot_id|>"
              "<|start_header_id|>user<|end_header_id|>\n\nHey<|eot_id|>"
              "<|start_header_id|>assistant<|end_header_id|>\n\n");
    EXPECT_EQ(rendered("llama2", chat).value(),
              "<s>[INST] <<SYS>>\nBe brief.\n<</SYS>>\n\n Hi [/INST] Ho </s><s>[INST] Hey [/INST]");
    EXPECT_EQ(rendered("mistral", chat).value(),
              "<s>[INST]  Hi[/INST] Ho</s>[INST] Be brief.\n\nHey[/INST]");
    EXPECT_EQ(rendered("mistral-tekken", chat).value(),
              "<s>[INST] Hi[/INST]Ho </s>[INST]Be brief.\n\nHey[/INST]");
    EXPECT_EQ(rendered("mistral-v7", chat).value(),
              "<s>[SYSTEM_PROMPT]Be brief.[/SYSTEM_PROMPT][INST] Hi[/INST]Ho </s>[INST]Hey[/INST]");
    EXPECT_EQ(rendered("phi3", chat).value(),
              "<|system|>\nBe brief.<|end|>\n<|user|>\n Hi<|end|>\n<|assistant|>\nHo <|end|>\n"
              "<|user|>\nHey<|end|>\n<|assistant|>\n");
    EXPECT_EQ(
        rendered("phi4", chat).value(),
        "<|im_start|>system<|im_sep|>Be brief.<|im_end|><|im_start|>user<|im_sep|> Hi<|im_end|>"
        "<|im_start|>assistant<|im_sep|>Ho <|im_end|><|im_start|>user<|im_sep|>Hey<|im_end|>"
        "<|im_start|>assistant<|im_sep|>");
}

TEST(BuiltinTemplates, refuse_turns_that_do_not_alternate_where_the_family_does) {
    for (const char* name : {"gemma", "llama2", "mistral", "mistral-tekken"}) {
        EXPECT_FALSE(rendered(name, {{"user", "a"}, {"user", "b"}})) << name;
        EXPECT_FALSE(rendered(name, {{"assistant", "a"}})) << name;
    }
}

std::string chosen(std::string_view architecture, std::vector<std::string> controls,
                   size_t n_tokens = 0) {
    TokenizerSpec spec;
    spec.model = "llama";
    for (std::string& token : controls) spec.tokens.push_back(std::move(token));
    spec.types.resize(spec.tokens.size(), TokenType::control);
    while (spec.tokens.size() < std::max<size_t>(n_tokens, 8)) {
        spec.tokens.push_back("w" + std::to_string(spec.tokens.size()));
        spec.types.push_back(TokenType::normal);
    }
    spec.scores.resize(spec.tokens.size());
    spec.unk = 0;
    spec.types[0] = TokenType::unknown;
    const auto tokenizer = make_tokenizer(std::move(spec));
    if (!tokenizer) return tokenizer.error().message;
    const BuiltinChatTemplate* found = choose_builtin_template(architecture, **tokenizer);
    return found ? std::string(found->name) : "none";
}

TEST(BuiltinTemplates, are_chosen_by_the_vocabulary_s_tokens) {
    const std::vector<std::string> inst = {"<unk>", "[INST]", "[/INST]"};
    const std::vector<std::string> phi = {"<unk>", "<|user|>", "<|assistant|>", "<|end|>"};
    EXPECT_EQ(chosen("gemma3", {"<unk>", "<start_of_turn>", "<end_of_turn>"}), "gemma");
    EXPECT_EQ(chosen("", {"<unk>", "<|im_start|>", "<|im_end|>"}), "chatml");
    EXPECT_EQ(chosen("phi3", {"<unk>", "<|im_start|>", "<|im_end|>", "<|im_sep|>"}), "phi4");
    EXPECT_EQ(chosen("llama", {"<unk>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"}),
              "llama3");
    EXPECT_EQ(chosen("llama", inst), "mistral-tekken");
    EXPECT_EQ(chosen("llama", inst, 32768), "mistral");
    EXPECT_EQ(chosen("mistral", {"<unk>", "[INST]", "[/INST]", "[SYSTEM_PROMPT]"}), "mistral-v7");
    EXPECT_EQ(chosen("phi3", phi), "phi3");
    EXPECT_EQ(chosen("llama", {"<unk>", "<s>", "</s>"}, 32000), "llama2");
    EXPECT_EQ(chosen("llama", {"<unk>", "<s>", "</s>"}), "none");
    EXPECT_EQ(chosen("gpt2", {"<unk>", "<s>", "</s>"}, 32000), "none");
}

TEST(BuiltinTemplates, are_chosen_by_the_architecture_where_two_fit) {
    const std::vector<std::string> both = {"<unk>", "<start_of_turn>", "<end_of_turn>",
                                           "<|im_end|>", "<|im_start|>"};
    EXPECT_EQ(chosen("qwen2", both), "chatml");
    EXPECT_EQ(chosen("gemma2", both), "gemma");
    EXPECT_EQ(chosen("other", both), "gemma");
}

}  // namespace
}  // namespace kvik
