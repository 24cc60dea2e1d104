#include "hub/ollama.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "hub/places.h"
#include "testing/expect_error.h"

namespace kvik::hub {
namespace {

std::string layer(const std::string& kind, char digit) {
    return R"({"mediaType":"application/vnd.ollama.image.)" + kind + R"(","digest":"sha256:)" +
           std::string(64, digit) + R"(","size":5})";
}

std::string manifest_of(const std::string& layers) {
    return R"({"schemaVersion":2,"layers":[)" + layers + "]}";
}

TEST(OllamaManifest, layers_by_their_kinds) {
    const auto got = parse_ollama_manifest(
        manifest_of(layer("model", 'a') + "," + layer("params", 'b') + "," + layer("system", 'c') +
                    "," + layer("template", 'd') + "," + layer("license", 'e') + "," +
                    layer("messages", 'f')),
        "m");
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(got->model, std::string(64, 'a'));
    EXPECT_EQ(got->params, std::string(64, 'b'));
    EXPECT_EQ(got->system, std::string(64, 'c'));
    EXPECT_EQ(got->ignored, (std::vector<std::string>{"template", "messages"}));
    EXPECT_EQ(got->model_bytes, 5u);
}

TEST(OllamaManifest, what_changes_the_answers_is_refused) {
    for (const char* kind : {"adapter", "projector", "tensor", "model"})
        expect_refused(
            parse_ollama_manifest(manifest_of(layer("model", 'a') + "," + layer(kind, 'b')), "m"),
            ErrorKind::unsupported, {"m: "});
    expect_refused(parse_ollama_manifest(manifest_of(layer("params", 'a')), "m"), ErrorKind::file,
                   {"names no file of weights"});
    expect_refused(parse_ollama_manifest(manifest_of(layer("model", '/')), "m"), ErrorKind::file,
                   {"digest"});
}

TEST(OllamaParams, become_defaults_of_flags) {
    const auto got = parse_ollama_params(
        R"({"temperature":0.25,"stop":["a","b"],"num_predict":-2,"seed":18446744073709551615,
            "top_k":40,"mirostat":1,"num_gpu":99})",
        "p");
    ASSERT_TRUE(got) << got.error().message;
    std::vector<std::string> settings;
    for (const ModelDefault& setting : got->settings)
        for (const std::string& value : setting.values)
            settings.push_back(setting.key + "=" + value);
    std::sort(settings.begin(), settings.end());
    EXPECT_EQ(settings, (std::vector<std::string>{"seed=18446744073709551615", "stop=a", "stop=b",
                                                  "temp=0.25", "top-k=40"}));
    EXPECT_EQ(got->not_used, (std::vector<std::string>{"mirostat", "num_gpu"}));
    expect_refused(parse_ollama_params(R"({"temperature":{}})", "p"), ErrorKind::file,
                   {"temperature"});
    expect_refused(parse_ollama_params("[]", "p"), ErrorKind::file, {"p: "});
}

TEST(Places, are_where_the_other_programs_look) {
    const auto with = [](std::vector<std::pair<std::string, std::string>> variables) {
        return find_places([variables](const std::string& name) -> std::optional<std::string> {
            for (const auto& [key, value] : variables)
                if (key == name) return value;
            return std::nullopt;
        });
    };
    const Places usual = with({{"HOME", "/nowhere"}});
    EXPECT_EQ(usual.ollama, (std::vector<std::string>{"/nowhere/.ollama/models",
                                                      "/usr/share/ollama/.ollama/models"}));
    EXPECT_EQ(usual.lmstudio, (std::vector<std::string>{"/nowhere/.lmstudio/models",
                                                        "/nowhere/.cache/lm-studio/models"}));
    EXPECT_EQ(usual.hf_cache, "/nowhere/.cache/huggingface/hub");
    EXPECT_EQ(usual.hf_token_file, "/nowhere/.cache/huggingface/token");
    EXPECT_EQ(with({{"HOME", "/h"}, {"HF_HOME", "~/x"}}).hf_cache, "/h/x/hub");
    EXPECT_EQ(with({{"HF_HOME", "/x"}, {"HF_HUB_CACHE", "/y"}}).hf_cache, "/y");
    EXPECT_EQ(with({{"OLLAMA_MODELS", "/o/"}}).ollama.front(), "/o");
    EXPECT_EQ(with({}).hf_cache, "");
}

}  // namespace
}  // namespace kvik::hub
