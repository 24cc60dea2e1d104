#include "model/chat_templates.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace kvik {
namespace {

std::unique_ptr<Tokenizer> tokenizer_with(const std::vector<std::string>& controls) {
    TokenizerSpec spec;
    spec.model = "llama";
    for (int byte = 0; byte < 256; ++byte) {
        constexpr char kHex[] = "0123456789ABCDEF";
        spec.tokens.push_back(std::string("<0x") + kHex[byte >> 4] + kHex[byte & 15] + ">");
        spec.types.push_back(TokenType::byte);
    }
    for (const std::string& each : controls) {
        spec.tokens.push_back(each);
        spec.types.push_back(TokenType::control);
    }
    spec.scores.resize(spec.tokens.size());
    return std::move(*make_tokenizer(std::move(spec)));
}

// "origin name source", or the kind of the error and its words.
std::string chosen(const std::vector<NamedTemplate>& templates, const TemplateWish& wish,
                   const std::vector<std::string>& controls = {}) {
    const auto tokenizer = tokenizer_with(controls);
    const auto got = choose_template(templates, "llama", *tokenizer, wish);
    if (!got) return std::to_string(static_cast<int>(got.error().kind)) + " " + got.error().message;
    const bool own = got->origin == TemplateOrigin::builtin;
    return std::string(template_origin_name(got->origin)) + " " + got->name +
           (own ? "" : " " + got->source);
}

const std::vector<NamedTemplate> kSeveral = {{"rag", "R"}, {"default", "D"}, {"tool_use", "T"}};

TEST(ChatTemplates, are_chosen_as_the_model_has_them) {
    EXPECT_EQ(chosen(kSeveral, {}), "model default D");
    EXPECT_EQ(chosen(kSeveral, {.has_tools = true}), "model tool_use T");
    EXPECT_EQ(chosen({{"default", "D"}}, {.has_tools = true}), "model default D");
    EXPECT_EQ(chosen({{"tool_use", "T"}}, {.has_tools = true}), "model tool_use T");
    EXPECT_NE(chosen({{"tool_use", "T"}, {"rag", "R"}}, {}).find("of tool_use, rag"),
              std::string::npos);
    EXPECT_EQ(chosen({}, {}, {"<|im_start|>", "<|im_end|>"}), "builtin chatml");
    EXPECT_EQ(chosen({}, {}), "none  ");
    EXPECT_NE(chosen({{"default", ""}}, {}).find("'default' is empty"), std::string::npos);
}

TEST(ChatTemplates, asked_for_are_the_models_then_kviks_then_a_file) {
    EXPECT_EQ(chosen(kSeveral, {.asked = "rag", .has_tools = true}), "model rag R");
    EXPECT_EQ(chosen({{"chatml", "own"}}, {.asked = "chatml"}), "model chatml own");
    EXPECT_EQ(chosen(kSeveral, {.asked = "chatml"}), "builtin chatml");
    const auto path = std::filesystem::path(::testing::TempDir()) / "kvik_asked.jinja";
    std::ofstream(path) << "F";
    EXPECT_EQ(chosen(kSeveral, {.asked = path.string()}), "file " + path.string() + " F");
    std::ofstream(path, std::ios::trunc).flush();
    EXPECT_NE(chosen(kSeveral, {.asked = path.string()}).find("is empty"), std::string::npos);
    std::filesystem::remove(path);
    const std::string missing = chosen(kSeveral, {.asked = "nosuch"});
    EXPECT_EQ(missing.substr(0, 2), "2 ");
    for (const char* name : {"'nosuch'", "rag, default, tool_use", "chatml", "gemma"})
        EXPECT_NE(missing.find(name), std::string::npos) << missing;
}

TEST(ChatTemplates, of_one_name_count_once) {
    std::vector<NamedTemplate> templates;
    for (const char* source : {"a", "b"}) add_template(templates, "x", source);
    ASSERT_EQ(templates.size(), 1u);
    EXPECT_EQ(templates[0].source, "b");
}

}  // namespace
}  // namespace kvik
