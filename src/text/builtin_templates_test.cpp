#include "text/builtin_templates.h"

#include <gtest/gtest.h>

#include "text/chat_template.h"

namespace kvik {
namespace {

Result<std::string> rendered(std::string_view architecture, std::vector<ChatMessage> messages) {
    KVIK_TRY(const ChatTemplate made,
             ChatTemplate::compile(std::string(builtin_chat_template(architecture))));
    TemplateInputs inputs;
    inputs.messages = std::move(messages);
    inputs.bos_token = "<bos>";
    KVIK_TRY(MarkedText text, made.render(inputs));
    return std::move(text.text);
}

TEST(BuiltinTemplates, give_an_unknown_architecture_chatml) {
    EXPECT_EQ(rendered("nobody", {{"system", "Be brief."}, {"user", " Hi "}}).value(),
              "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n Hi <|im_end|>\n"
              "<|im_start|>assistant\n");
}

TEST(BuiltinTemplates, call_gemmas_assistant_model_and_trim_what_is_said) {
    EXPECT_EQ(rendered("gemma3", {{"user", " Hi\n"}, {"assistant", "Ho"}, {"user", "Hey"}}).value(),
              "<bos><start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\nHo<end_of_turn>\n"
              "<start_of_turn>user\nHey<end_of_turn>\n<start_of_turn>model\n");
}

TEST(BuiltinTemplates, open_gemmas_first_turn_with_the_system_text) {
    EXPECT_EQ(rendered("gemma3", {{"system", "Be brief."}, {"user", "Hi"}}).value(),
              "<bos><start_of_turn>user\nBe brief.\n\nHi<end_of_turn>\n<start_of_turn>model\n");
}

TEST(BuiltinTemplates, refuse_gemma_turns_that_do_not_alternate) {
    const auto got = rendered("gemma3", {{"user", "a"}, {"user", "b"}});
    ASSERT_FALSE(got.has_value());
    EXPECT_EQ(got.error().kind, ErrorKind::usage);
    EXPECT_NE(got.error().message.find("must take turns"), std::string::npos);
}

TEST(BuiltinTemplates, compile_all) {
    for (const char* architecture : {"gemma", "gemma2", "gemma3", "llama", ""}) {
        EXPECT_TRUE(ChatTemplate::compile(std::string(builtin_chat_template(architecture))));
    }
}

}  // namespace
}  // namespace kvik
