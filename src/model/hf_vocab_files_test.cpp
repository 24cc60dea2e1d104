// Directories with vocab.json and merges.txt give the ids that Transformers gives:
// tests/oracles/vocab_files.py recorded them.
#include "model/hf_vocab_files.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "model/hf_tokenizer.h"
#include "testing/expect_error.h"
#include "testing/scratch_folder.h"

namespace kvik {
namespace {

using Json = nlohmann::json;

Json golden(const std::string& name) {
    std::ifstream file(KVIK_SOURCE_DIR "/tests/golden/tokenizers/" + name);
    EXPECT_TRUE(file) << name;
    return Json::parse(file);
}

std::string merges_of(const Json& model) {
    std::string text = "#version: 0.2\n";
    for (const Json& merge : model["merges"])
        text +=
            (merge.is_string() ? merge.get<std::string>()
                               : merge[0].get<std::string>() + " " + merge[1].get<std::string>()) +
            "\n";
    return text;
}

std::string vocab_of(const Json& model) {
    Json vocab = model["vocab"];
    if (!vocab.contains("<|endoftext|>")) vocab["<|endoftext|>"] = vocab.size();
    return vocab.dump();
}

void write(const std::string& file, const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
}

TEST(HfVocabFiles, give_the_ids_that_transformers_gives) {
    const Json record = golden("vocab_files.json");
    for (const auto& [kind, row] : record["kinds"].items()) {
        SCOPED_TRACE(kind);
        const ScratchFolder directory;
        const Json model = golden(row["vocabulary"].get<std::string>() + ".json")["model"];
        write(directory.path("vocab.json"), vocab_of(model));
        write(directory.path("merges.txt"), merges_of(model));
        for (const auto& [name, text] : row["files"].items())
            write(directory.path(name), text.get<std::string>());
        const auto spec = tokenizer_from_hf(directory.path());
        ASSERT_TRUE(spec) << spec.error().message;
        ASSERT_TRUE(spec->has_value());
        const auto tokenizer = make_tokenizer(**spec);
        ASSERT_TRUE(tokenizer) << tokenizer.error().message;
        for (size_t i = 0; i < record["texts"].size(); ++i)
            EXPECT_EQ(
                (*tokenizer)->encode(record["texts"][i].get<std::string>(), Specials::recognised),
                row["ids"][i].get<std::vector<TokenId>>())
                << record["texts"][i];
    }
}

Result<std::string> json_of(std::string_view vocab, std::string_view merges,
                            std::string_view config) {
    return tokenizer_json_of(HfVocabFiles{"m", vocab, merges, config, std::nullopt});
}

constexpr std::string_view kVocab = R"({"a": 0, "b": 1, "ab": 2})";
constexpr std::string_view kGpt2 = R"({"tokenizer_class": "GPT2Tokenizer"})";

TEST(HfVocabFiles, every_line_of_the_merges_is_two_tokens) {
    EXPECT_TRUE(json_of(kVocab, "#version: 0.2\r\na b\r\n", kGpt2));
    EXPECT_TRUE(json_of(kVocab, "a b", kGpt2));
    for (const char* lie :
         {"a b\na\n", "a b\n a\n", "a b\na \n", "a b\na b c\n", "a b\n\n", "a b\n\xff b\n"})
        expect_refused(json_of(kVocab, lie, kGpt2), ErrorKind::file, {"m/merges.txt", "line 2"});
}

TEST(HfVocabFiles, the_vocabulary_is_an_object) {
    for (const char* lie : {"[]", "1", "\"a\""})
        expect_refused(json_of(lie, "a b", kGpt2), ErrorKind::file, {"m/vocab.json", "object"});
    expect_refused(json_of("{", "a b", kGpt2), ErrorKind::file, {"m/vocab.json"});
}

TEST(HfVocabFiles, a_class_whose_cuts_nobody_knows_is_named) {
    expect_refused(json_of(kVocab, "a b", R"({"tokenizer_class": "RobertaTokenizer"})"),
                   ErrorKind::unsupported, {"m/tokenizer_config.json", "'RobertaTokenizer'"});
    expect_refused(json_of(kVocab, "a b", "{}"), ErrorKind::unsupported, {"tokenizer_class"});
}

TEST(HfVocabFiles, added_tokens_have_numbers_for_ids) {
    for (const char* key : {"-1", "x", "", "12345678901"})
        expect_refused(json_of(kVocab, "a b",
                               Json{{"tokenizer_class", "GPT2Tokenizer"},
                                    {"added_tokens_decoder", {{key, {{"content", "<e>"}}}}}}
                                   .dump()),
                       ErrorKind::file, {"added_tokens_decoder"});
}

}  // namespace
}  // namespace kvik
