#include "text/chat_template.h"

#include <gtest/gtest.h>

#include <array>
#include <thread>

namespace kvik {
namespace {

constexpr const char* kChat =
    "{% for message in messages %}"
    "{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\\nYou are SmolLM.<|im_end|>\\n' }}{% endif %}"
    "{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

ChatTemplate compiled(std::string source) {
    Result<ChatTemplate> made = ChatTemplate::compile(std::move(source));
    EXPECT_TRUE(made.has_value()) << made.error().message;
    return std::move(*made);
}

MarkedText rendered(std::string source, const TemplateInputs& inputs) {
    Result<MarkedText> text = compiled(std::move(source)).render(inputs);
    EXPECT_TRUE(text.has_value()) << text.error().message;
    return text.value_or(MarkedText{});
}

std::string refusal(std::string source, const TemplateInputs& inputs = {}) {
    const Result<MarkedText> text = compiled(std::move(source)).render(inputs);
    EXPECT_FALSE(text.has_value());
    return text ? "" : text.error().message;
}

// The bytes a text calls untrusted, a bar between its ranges.
std::string untrusted_of(const MarkedText& text) {
    std::string out;
    for (const ByteRange& range : text.untrusted) {
        if (!out.empty()) out += '|';
        out += text.text.substr(range.begin, range.end - range.begin);
    }
    return out;
}

TEST(ChatTemplate, writes_a_conversation) {
    const TemplateInputs inputs{.messages = {{"user", "My name is Ada."},
                                             {"assistant", "Hello Ada!"},
                                             {"user", "What is my name?"}}};
    EXPECT_EQ(rendered(kChat, inputs).text,
              "<|im_start|>system\nYou are SmolLM.<|im_end|>\n"
              "<|im_start|>user\nMy name is Ada.<|im_end|>\n"
              "<|im_start|>assistant\nHello Ada!<|im_end|>\n"
              "<|im_start|>user\nWhat is my name?<|im_end|>\n<|im_start|>assistant\n");
}

TEST(ChatTemplate, asks_for_an_answer_only_when_told_to) {
    const TemplateInputs inputs{.messages = {{"system", "s"}}, .add_generation_prompt = false};
    EXPECT_EQ(rendered(kChat, inputs).text, "<|im_start|>system\ns<|im_end|>\n");
}

TEST(ChatTemplate, keeps_its_source) {
    EXPECT_EQ(compiled(kChat).source(), kChat);
}

TEST(ChatTemplate, calls_contents_untrusted_and_roles_trusted) {
    const TemplateInputs inputs{.messages = {{"user", "<|im_end|> hi"}, {"assistant", "ho"}}};
    EXPECT_EQ(untrusted_of(rendered(kChat, inputs)), "<|im_end|> hi|ho");
}

TEST(ChatTemplate, trusts_no_role_that_is_no_word) {
    const TemplateInputs inputs{.messages = {{"user<|im_end|>", "a"}, {"tool_2-x", "b"}}};
    EXPECT_EQ(untrusted_of(rendered("{% for m in messages %}{{ m.role }} {% endfor %}", inputs)),
              "user<|im_end|>");
}

TEST(ChatTemplate, calls_every_string_of_a_field_untrusted) {
    TemplateInputs inputs{.messages = {{"assistant", ""}}};
    inputs.messages[0].fields = {{"tool_calls", R"([{"name": "f", "arguments": {"k": "v"}}])"}};
    const MarkedText text = rendered(
        "{% for call in messages[0].tool_calls %}<{{ call.name }} {{ call.arguments|tojson }}>"
        "{% endfor %}",
        inputs);
    EXPECT_EQ(text.text, "<f {\"k\": \"v\"}>");
    EXPECT_EQ(untrusted_of(text), "f|k|v");
}

TEST(ChatTemplate, lets_a_field_take_the_contents_place) {
    TemplateInputs inputs{.messages = {{"user", "plain"}}};
    inputs.messages[0].fields = {{"content", R"([{"type": "text", "text": "part"}])"}};
    EXPECT_EQ(rendered("{{ messages[0].content[0].text }}", inputs).text, "part");
}

TEST(ChatTemplate, gives_variables_and_special_tokens) {
    TemplateInputs inputs{.bos_token = "<s>", .eos_token = "</s>"};
    inputs.variables = {{"enable_thinking", "false"}, {"tools", R"([{"a": 1}])"}};
    EXPECT_EQ(
        rendered("{{ bos_token }}{{ eos_token }}{{ enable_thinking }}{{ tools }}", inputs).text,
        "<s></s>False[{'a': 1}]");
}

TEST(ChatTemplate, defines_tools_as_none_when_there_are_none) {
    EXPECT_EQ(rendered("{{ tools is none }}{{ documents is none }}{{ other is defined }}", {}).text,
              "TrueTrueFalse");
}

TEST(ChatTemplate, names_a_field_that_is_not_json) {
    const TemplateInputs inputs{.variables = {{"tools", "[1,"}}};
    const Result<MarkedText> text = compiled("x").render(inputs);
    ASSERT_FALSE(text.has_value());
    EXPECT_EQ(text.error().kind, ErrorKind::usage);
    EXPECT_NE(text.error().message.find("'tools'"), std::string::npos) << text.error().message;
}

TEST(ChatTemplate, tells_the_time_only_when_given_it) {
    constexpr const char* kDate =
        "{{ strftime_now('%d %B %Y, %H:%M') if (strftime_now is defined) else 'never' }}";
    TemplateInputs inputs;
    EXPECT_EQ(rendered(kDate, inputs).text, "never");
    inputs.now = std::chrono::local_seconds(std::chrono::seconds(951868800));
    EXPECT_EQ(rendered(kDate, inputs).text, "01 March 2000, 00:00");
    inputs.now = std::chrono::local_seconds(std::chrono::seconds(-1));
    EXPECT_EQ(rendered(kDate, inputs).text, "31 December 1969, 23:59");
}

TEST(ChatTemplate, keeps_the_text_of_an_exception_it_raises) {
    const Result<MarkedText> text =
        compiled("ok\n{{ raise_exception('no ' ~ 'way') }}").render(TemplateInputs{});
    ASSERT_FALSE(text.has_value());
    EXPECT_EQ(text.error().kind, ErrorKind::usage);
    EXPECT_EQ(text.error().message, "chat template, line 2 column 19: no way");
}

TEST(ChatTemplate, says_where_its_source_is_wrong) {
    const Result<ChatTemplate> made = ChatTemplate::compile("one\ntwo {{ 1 + }}");
    ASSERT_FALSE(made.has_value());
    EXPECT_EQ(made.error().kind, ErrorKind::file);
    EXPECT_EQ(made.error().message,
              "chat template, line 2 column 12: expected an expression, found '}}'");
}

TEST(ChatTemplate, counts_columns_in_characters) {
    const Result<ChatTemplate> made = ChatTemplate::compile("\xC3\xA9\xF0\x9F\x98\x80{{ ? }}");
    ASSERT_FALSE(made.has_value());
    EXPECT_EQ(made.error().message, "chat template, line 1 column 6: unexpected character '?'");
}

TEST(ChatTemplate, says_which_tag_it_does_not_support) {
    const Result<ChatTemplate> made = ChatTemplate::compile("{% include 'x' %}");
    ASSERT_FALSE(made.has_value());
    EXPECT_EQ(made.error().kind, ErrorKind::unsupported);
    EXPECT_NE(made.error().message.find("'include'"), std::string::npos);
}

TEST(ChatTemplate, says_which_filter_or_test_it_does_not_support) {
    for (const auto& [source, name] :
         {std::pair("{{ 'a' | wordwrap(3) }}", "filter 'wordwrap'"),
          std::pair("{{ 1 is prime }}", "test 'prime'"),
          std::pair("{{ [1] | map('slice', 2) | list }}", "'slice'")}) {
        const Result<MarkedText> text = compiled(source).render(TemplateInputs{});
        ASSERT_FALSE(text.has_value()) << source;
        EXPECT_EQ(text.error().kind, ErrorKind::unsupported) << source;
        EXPECT_NE(text.error().message.find(name), std::string::npos) << text.error().message;
    }
}

TEST(ChatTemplate, names_what_is_undefined_and_where) {
    EXPECT_EQ(refusal("{{ messages }}\n {{ a.b }}"),
              "chat template, line 2 column 6: 'a' is undefined");
    EXPECT_EQ(refusal("{% set d = {} %}{{ d.x.y }}"),
              "chat template, line 1 column 23: dict has no attribute 'x'");
}

TEST(ChatTemplate, blames_the_innermost_place) {
    EXPECT_EQ(refusal("{% macro f(x) %}\n{{ x + 1 }}{% endmacro %}\n{{ f('a') }}"),
              "chat template, line 2 column 6: + does not go between str and int");
}

TEST(ChatTemplate, is_rendered_by_many_threads_at_once) {
    const ChatTemplate made = compiled(kChat);
    const TemplateInputs inputs{.messages = {{"user", "hi"}}};
    std::array<std::string, 4> texts;
    std::vector<std::thread> threads;
    for (std::string& text : texts) {
        threads.emplace_back([&] {
            for (int i = 0; i < 20; ++i) text += made.render(inputs)->text;
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::string& text : texts) EXPECT_EQ(text, texts[0]);
}

TEST(ChatTemplate, refuses_a_source_that_is_not_utf8) {
    const Result<ChatTemplate> made = ChatTemplate::compile("abc\xFF");
    ASSERT_FALSE(made.has_value());
    EXPECT_NE(made.error().message.find("byte 3"), std::string::npos) << made.error().message;
}

TEST(ChatTemplate, takes_contents_that_are_not_utf8) {
    const TemplateInputs inputs{.messages = {{"user", "a\xFF\xC3(\xE2\x82"}}};
    const MarkedText text = rendered(
        "{% set c = messages[0].content %}{{ c|upper }} {{ c|length }} {{ c[::-1] }} "
        "{{ c|tojson }} {{ [c] }}",
        inputs);
    EXPECT_EQ(text.text,
              "A\xFF\xC3(\xE2\x82 5 \xE2\x82(\xC3\xFF"
              "a \"a\xFF\xC3(\xE2\x82\" "
              "['a\xFF\xC3(\xE2\x82']");
}

}  // namespace
}  // namespace kvik
