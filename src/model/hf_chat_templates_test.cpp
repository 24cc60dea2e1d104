#include "model/hf_chat_templates.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace kvik {
namespace {

namespace fs = std::filesystem;

std::string shown(const Result<std::vector<NamedTemplate>>& templates) {
    if (!templates) return "error: " + templates.error().message;
    std::string out;
    for (const NamedTemplate& each : *templates) out += each.name + "=" + each.source + ";";
    return out;
}

std::string in_config(const std::string& json) {
    return shown(chat_templates_from_hf_config(json, "c.json"));
}

TEST(HfChatTemplates, are_one_text_or_a_list_with_names) {
    EXPECT_EQ(in_config("{}"), "");
    EXPECT_EQ(in_config(R"({"chat_template": null})"), "");
    EXPECT_EQ(in_config(R"({"chat_template": "{{ x }}"})"), "default={{ x }};");
    EXPECT_EQ(in_config(R"({"chat_template": ""})"), "default=;");
    EXPECT_EQ(in_config(R"({"chat_template": [{"name": "tool_use", "template": "a"},
                            {"name": "default", "template": "b"}, {"name": "tool_use",
                            "template": "c"}]})"),
              "tool_use=c;default=b;");
    for (const char* bad : {"5", "[5]", R"([{"name": "x"}])", R"([{"template": "x"}])",
                            R"([{"name": 1, "template": "x"}])"})
        EXPECT_EQ(in_config(R"({"chat_template": )" + std::string(bad) + "}").substr(0, 13),
                  "error: c.json")
            << bad;
    std::string many;
    for (size_t i = 0; i <= kMostTemplates; ++i)
        many += (many.empty() ? "" : ",") + std::string(R"({"name": "x", "template": "y"})");
    EXPECT_NE(in_config(R"({"chat_template": [)" + many + "]}").find("more than 64"),
              std::string::npos);
}

// Each source alone and with those that come before it: the first that is there counts.
TEST(HfChatTemplates, of_a_directory_come_from_the_first_place_that_has_some) {
    const fs::path folder = fs::path(::testing::TempDir()) / "kvik_hf_chat_templates";
    const auto write = [&](const char* name, const char* text) {
        fs::create_directories((folder / name).parent_path());
        std::ofstream(folder / name) << text;
    };
    fs::remove_all(folder);
    fs::create_directories(folder);
    const auto all = [&] { return shown(chat_templates_from_hf(folder.string())); };
    EXPECT_EQ(all(), "");
    write("chat_template.json", R"({"chat_template": "legacy"})");
    EXPECT_EQ(all(), "default=legacy;");
    write("tokenizer_config.json", R"({"chat_template": "config"})");
    EXPECT_EQ(all(), "default=config;");
    write("additional_chat_templates/tool_use.jinja", "T");
    write("additional_chat_templates/rag.jinja", "");
    write("additional_chat_templates/readme.txt", "no template");
    EXPECT_EQ(all(), "rag=;tool_use=T;");
    write("chat_template.jinja", "D");
    EXPECT_EQ(all(), "default=D;rag=;tool_use=T;");
    write("chat_template.jinja", "");
    EXPECT_EQ(all(), "default=;rag=;tool_use=T;");
    fs::remove(folder / "chat_template.jinja");
    fs::create_symlink("lost", folder / "chat_template.jinja");
    EXPECT_EQ(all().substr(0, 6), "error:");
    fs::remove_all(folder);
}

}  // namespace
}  // namespace kvik
