#include "model/hf_tokenizer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "testing/expect_error.h"
#include "text/bpe_alphabet.h"

namespace kvik {
namespace {

using Json = nlohmann::json;
using Ids = std::vector<TokenId>;

// Byte-level BPE with the 256 bytes, one merge (256: "th") and two added tokens.
Json byte_level() {
    Json json = Json::parse(R"({
        "added_tokens": [
            {"id": 257, "content": "<|end|>", "special": true, "normalized": false},
            {"id": 258, "content": "<hr>", "special": false, "normalized": false}],
        "normalizer": null,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": true},
        "post_processor": null,
        "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", "vocab": {}, "merges": [["t", "h"]]}})");
    for (int b = 0; b < 256; ++b) json["model"]["vocab"][spelled_byte(static_cast<uint8_t>(b))] = b;
    json["model"]["vocab"]["th"] = 256;
    return json;
}

// Characters with U+2581 for spaces: <unk>, <s>, the mark, t, h, th, Mark+t.
Json characters() {
    return Json::parse(R"({
        "added_tokens": [
            {"id": 0, "content": "<unk>", "special": true},
            {"id": 1, "content": "<s>", "special": true}],
        "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"},
        "pre_tokenizer": null,
        "model": {"type": "BPE", "unk_token": "<unk>", "merges": ["t h", "\u2581 t"],
                  "vocab": {"<unk>": 0, "<s>": 1, "\u2581": 2, "t": 3, "h": 4, "th": 5,
                            "\u2581t": 6}}})");
}

Json unigram() {
    Json json = characters();
    json["model"] = Json::parse(R"({"type": "Unigram", "unk_id": 0,
        "vocab": [["<unk>", 0], ["<s>", 0], ["\u2581", -3], ["t", -3.5], ["h", -4], ["th", -5]]})");
    return json;
}

Result<TokenizerSpec> spec_of(const std::string& text) {
    return tokenizer_from_hf(HfTokenizerFiles{"dir", text, {}, {}});
}
Result<TokenizerSpec> spec_of(const Json& json) {
    return spec_of(json.dump());
}

Ids ids_of(const Json& json, std::string_view text, Specials specials = Specials::recognised) {
    auto spec = spec_of(json);
    EXPECT_TRUE(spec) << spec.error().message;
    const auto tokenizer = make_tokenizer(std::move(*spec));
    EXPECT_TRUE(tokenizer) << tokenizer.error().message;
    return (*tokenizer)->encode(text, specials);
}

Result<TokenizerSpec> with_config(const Json& config, const Json& generation = nullptr) {
    const std::string tokenizer = byte_level().dump(), first = config.dump(),
                      second = generation.dump();
    HfTokenizerFiles files{"dir", tokenizer, first, {}};
    if (!generation.is_null()) files.generation_config = second;
    return tokenizer_from_hf(files);
}

TEST(HfTokenizer, reads_byte_level_bpe) {
    EXPECT_EQ(ids_of(byte_level(), "the<|end|><hr>"), (Ids{256, 'e', 257, 258}));
    EXPECT_EQ(ids_of(byte_level(), "<hr><|end|>", Specials::as_text).front(), 258);
    EXPECT_EQ(ids_of(byte_level(), "<|end|>", Specials::as_text).size(), 7u);
}

// No text becomes an id that has no token, and no answer shows it.
TEST(HfTokenizer, ids_may_have_gaps) {
    Json json = byte_level();
    json["model"]["vocab"]["the"] = 300;
    json["model"]["merges"].push_back({"th", "e"});
    EXPECT_EQ(ids_of(json, "the<|end|>e"), (Ids{300, 257, 'e'}));
    const auto tokenizer = make_tokenizer(*spec_of(json));
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    EXPECT_EQ((*tokenizer)->n_tokens(), 301u);
    for (TokenId id = 259; id < 300; ++id) {
        EXPECT_TRUE((*tokenizer)->is_control(id));
        EXPECT_EQ((*tokenizer)->piece(id), "");
    }
    json["model"]["vocab"].erase("e");
    json["model"]["merges"] = Json::array();
    EXPECT_EQ(ids_of(json, "the"), (Ids{'t', 'h'})) << "its byte has no token";
}

TEST(HfTokenizer, reads_merges_as_lines_and_a_model_without_its_type) {
    Json json = byte_level();
    json["model"]["merges"] = {"t h"};
    json["model"].erase("type");
    EXPECT_EQ(ids_of(json, "th"), Ids{256});
}

TEST(HfTokenizer, reads_bpe_over_characters) {
    EXPECT_EQ(ids_of(characters(), "t th"), (Ids{3, 2, 5}));
    EXPECT_EQ(ids_of(characters(), " tt\xC3\xA9x"), (Ids{6, 3, 0, 0}));
    Json json = characters();
    json["model"]["fuse_unk"] = true;
    EXPECT_EQ(ids_of(json, "\xC3\xA9xt"), (Ids{0, 3}));
}

TEST(HfTokenizer, reads_unigram) {
    EXPECT_EQ(ids_of(unigram(), "t thxy"), (Ids{3, 2, 5, 0}));
}

TEST(HfTokenizer, reads_where_a_space_comes_first) {
    Json json = characters();
    json["normalizer"] = nullptr;
    json["pre_tokenizer"] = {{"type", "Metaspace"}, {"replacement", "\u2581"}, {"split", false}};
    EXPECT_EQ(ids_of(json, "t<s>t"), (Ids{6, 1, 6}));
    json["pre_tokenizer"]["prepend_scheme"] = "first";
    EXPECT_EQ(ids_of(json, "t<s>t"), (Ids{6, 1, 3}));
    json["pre_tokenizer"]["prepend_scheme"] = "never";
    EXPECT_EQ(ids_of(json, "t<s>t"), (Ids{3, 1, 3}));
    json = byte_level();
    json["pre_tokenizer"]["add_prefix_space"] = true;
    EXPECT_EQ(ids_of(json, "e<|end|> e"), (Ids{' ', 'e', 257, ' ', 'e'}));
}

TEST(HfTokenizer, normalises_in_the_files_order) {
    Json json = byte_level();
    json["normalizer"] = Json::parse(R"({"type": "Sequence", "normalizers": [
        {"type": "NFC"}, {"type": "Replace", "pattern": {"String": "\u00e9"}, "content": "t"},
        {"type": "Prepend", "prepend": "h"}]})");
    EXPECT_EQ(ids_of(json, "e\xCC\x81h"), (Ids{'h', 256}));
}

TEST(HfTokenizer, splits_in_the_files_order) {
    Json json = byte_level();
    json["pre_tokenizer"] = Json::parse(R"({"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"String": "th"}, "behavior": "Isolated", "invert": false},
        {"type": "Digits", "individual_digits": true},
        {"type": "Split", "pattern": {"Regex": "\\s+"}, "behavior": "Isolated", "invert": false},
        {"type": "ByteLevel", "add_prefix_space": false, "use_regex": false}]})");
    const auto spec = spec_of(json);
    ASSERT_TRUE(spec) << spec.error().message;
    EXPECT_EQ(spec->splits, (std::vector<std::string>{"th", "\\p{N}", "\\s+"}));
}

TEST(HfTokenizer, takes_bos_from_the_template_and_lets_the_config_decide) {
    Json json = byte_level();
    json["post_processor"] = Json::parse(R"({"type": "Sequence", "processors": [
        {"type": "ByteLevel"},
        {"type": "TemplateProcessing", "single": [
            {"SpecialToken": {"id": "<|end|>", "type_id": 0}}, {"Sequence": {"id": "A"}}],
         "special_tokens": {"<|end|>": {"id": "<|end|>", "ids": [257], "tokens": ["<|end|>"]}}}]})");
    const std::string text = json.dump();
    const auto spec = spec_of(text);
    ASSERT_TRUE(spec) << spec.error().message;
    EXPECT_TRUE(spec->add_bos);
    EXPECT_EQ(spec->bos, 257);
    const auto without =
        tokenizer_from_hf(HfTokenizerFiles{"dir", text, R"({"add_bos_token": false})", {}});
    EXPECT_FALSE(without->add_bos);
}

TEST(HfTokenizer, reads_special_tokens_as_strings_or_objects) {
    const auto spec = with_config(
        {{"bos_token", "<|end|>"}, {"eos_token", {{"content", "<hr>"}}}, {"add_bos_token", true}});
    ASSERT_TRUE(spec) << spec.error().message;
    EXPECT_EQ(spec->bos, 257);
    EXPECT_EQ(spec->eos, 258);
    EXPECT_TRUE(spec->add_bos);
    EXPECT_FALSE(with_config({{"bos_token", nullptr}})->bos);
}

TEST(HfTokenizer, reads_every_end_token_of_a_list) {
    const auto spec =
        with_config({{"eos_token", "<hr>"}}, {{"eos_token_id", {257, 258, 1, 257, 2}}});
    ASSERT_TRUE(spec) << spec.error().message;
    EXPECT_EQ(spec->eos, 258);
    EXPECT_EQ(spec->eot, 257);
    EXPECT_EQ(spec->ends, (Ids{1, 2}));
    EXPECT_EQ(with_config(Json::object(), {{"eos_token_id", 5}})->eos, 5);
}

TEST(HfTokenizer, never_merges_into_a_control_or_byte_token) {
    Json json = characters();
    json["model"]["vocab"].update({{"<", 7}, {"s>", 8}, {"s", 9}, {">", 10}});
    json["model"]["merges"] = {"s >", "< s>"};
    EXPECT_EQ(ids_of(json, "<s>", Specials::as_text), (Ids{7, 8}));
}

struct Lie {
    const char* name;
    Json (*base)();
    std::function<void(Json&)> tell;
    std::vector<const char*> words;
};

void refuses(const std::vector<Lie>& lies, ErrorKind kind) {
    for (const Lie& lie : lies) {
        SCOPED_TRACE(lie.name);
        Json json = lie.base();
        lie.tell(json);
        auto spec = spec_of(json);
        const auto made =
            spec ? make_tokenizer(std::move(*spec))
                 : Result<std::unique_ptr<Tokenizer>>(tl::unexpected<Error>(spec.error()));
        ASSERT_FALSE(made.has_value());
        EXPECT_EQ(made.error().kind, kind) << made.error().message;
        EXPECT_TRUE(made.error().message.starts_with("dir/tokenizer.json: "))
            << made.error().message;
        EXPECT_EQ(made.error().message.find('\n'), std::string::npos);
        for (const char* word : lie.words)
            EXPECT_NE(made.error().message.find(word), std::string::npos)
                << "no \"" << word << "\" in: " << made.error().message;
    }
}

TEST(HfTokenizer, refuses_a_lie_by_its_field_and_index) {
    refuses(
        {{"no model", byte_level, [](Json& j) { j.erase("model"); }, {"'model'"}},
         {"a list", byte_level, [](Json& j) { j = Json::array(); }, {"not an object"}},
         {"model a string", byte_level, [](Json& j) { j["model"] = "x"; }, {"model is string"}},
         {"vocab a list",
          byte_level,
          [](Json& j) { j["model"]["vocab"] = Json::array(); },
          {"model.vocab"}},
         {"id twice",
          byte_level,
          [](Json& j) { j["model"]["vocab"]["th"] = 7; },
          {"model.vocab", "id 7"}},
         {"huge id",
          byte_level,
          [](Json& j) { j["model"]["vocab"]["th"] = INT64_MAX; },
          {"model.vocab 'th'", "9223372036854775807"}},
         {"id past all",
          byte_level,
          [](Json& j) { j["model"]["vocab"]["th"] = UINT64_MAX; },
          {"18446744073709551615"}},
         {"negative id", byte_level, [](Json& j) { j["model"]["vocab"]["th"] = -1; }, {"is -1"}},
         {"real id",
          byte_level,
          [](Json& j) { j["model"]["vocab"]["th"] = 256.5; },
          {"not a token's id"}},
         {"no tokens",
          byte_level,
          [](Json& j) {
              j["model"]["vocab"] = Json::object(), j["added_tokens"] = Json::array();
              j["model"]["merges"] = Json::array();
          },
          {"tokens has 0"}},
         {"added id is taken",
          byte_level,
          [](Json& j) { j["added_tokens"][1]["id"] = 3; },
          {"added_tokens[1].id", "'<hr>'"}},
         {"added id past all",
          byte_level,
          [](Json& j) { j["added_tokens"][1]["id"] = 99999; },
          {"added_tokens[1].id is 99999"}},
         {"added twice",
          byte_level,
          [](Json& j) { j["added_tokens"][1] = j["added_tokens"][0]; },
          {"added_tokens[1]"}},
         {"added with another id",
          characters,
          [](Json& j) { j["added_tokens"][1]["id"] = 4; },
          {"added_tokens[1].id is 4", "id 1"}},
         {"added without a name",
          byte_level,
          [](Json& j) { j["added_tokens"][1]["content"] = ""; },
          {"added_tokens[1].content"}},
         {"added a number",
          byte_level,
          [](Json& j) { j["added_tokens"][1] = 7; },
          {"added_tokens[1] is number"}},
         {"special a string",
          byte_level,
          [](Json& j) { j["added_tokens"][0]["special"] = "yes"; },
          {"added_tokens[0].special"}},
         {"merge of one",
          byte_level,
          [](Json& j) { j["model"]["merges"] = {"th"}; },
          {"model.merges[0]"}},
         {"merge of three",
          byte_level,
          [](Json& j) { j["model"]["merges"] = {"t h e"}; },
          {"model.merges[0]"}},
         {"merge a number",
          byte_level,
          [](Json& j) { j["model"]["merges"][0][1] = 5; },
          {"model.merges[0]"}},
         {"merge of no token",
          byte_level,
          [](Json& j) {
              j["model"]["merges"] = {"t h", "th e"};
          },
          {"merges[1]", "'th e'"}},
         {"merge that needs itself",
          byte_level,
          [](Json& j) { j["model"]["merges"] = {"thth th"}; },
          {"merges[0]", "left part"}},
         {"no merges", byte_level, [](Json& j) { j["model"].erase("merges"); }, {"'merges'"}},
         {"score not a number",
          unigram,
          [](Json& j) { j["model"]["vocab"][3][1] = "x"; },
          {"model.vocab[3]"}},
         {"piece twice",
          unigram,
          [](Json& j) { j["model"]["vocab"][5][0] = "t"; },
          {"model.vocab[5]", "[3]"}},
         {"unk_id past all",
          unigram,
          [](Json& j) { j["model"]["unk_id"] = 6; },
          {"model.unk_id is 6"}},
         {"no unk_id", unigram, [](Json& j) { j["model"].erase("unk_id"); }, {"unk"}},
         {"unk_token unknown",
          characters,
          [](Json& j) { j["model"]["unk_token"] = "x\ny"; },
          {"model.unk_token is 'x\\x0Ay'"}},
         {"bytes not all there",
          characters,
          [](Json& j) {
              j["model"]["byte_fallback"] = true;
              j["model"]["vocab"]["<0x41>"] = 7;
          },
          {"byte tokens"}},
         {"empty pattern",
          byte_level,
          [](Json& j) {
              j["normalizer"] = {
                  {"type", "Replace"}, {"pattern", {{"String", ""}}}, {"content", "x"}};
          },
          {"normalizer.pattern.String"}},
         {"template without its token",
          byte_level,
          [](Json& j) {
              j["post_processor"] = Json::parse(R"({"type": "TemplateProcessing",
                  "single": [{"SpecialToken": {"id": "x\ny"}}], "special_tokens": {}})");
          },
          {"post_processor.special_tokens has no 'x\\x0Ay'"}},
         {"bos of the template unknown",
          byte_level,
          [](Json& j) {
              j["post_processor"] = Json::parse(R"({"type": "TemplateProcessing",
                  "single": [{"SpecialToken": {"id": "x"}}],
                  "special_tokens": {"x": {"ids": [999]}}})");
          },
          {"post_processor.special_tokens.x.ids[0] is 999"}}},
        ErrorKind::file);
}

TEST(HfTokenizer, refuses_what_it_cannot_do_by_its_name) {
    const auto normalizer = [](const char* type) {
        return [type](Json& j) { j["normalizer"] = {{"type", type}}; };
    };
    const auto pre_tokenizer = [](const char* text) {
        return [text](Json& j) { j["pre_tokenizer"] = Json::parse(text); };
    };
    refuses(
        {{"WordPiece",
          byte_level,
          [](Json& j) { j["model"]["type"] = "WordPiece"; },
          {"WordPiece"}},
         {"no type",
          byte_level,
          [](Json& j) { j["model"].erase("type"), j["model"].erase("merges"); },
          {"''"}},
         {"NFKC", byte_level, normalizer("NFKC"), {"normalizer", "'NFKC'"}},
         {"Precompiled", byte_level, normalizer("Precompiled"), {"'Precompiled'"}},
         {"Lowercase", byte_level, normalizer("Lowercase"), {"'Lowercase'"}},
         {"BertPreTokenizer",
          byte_level,
          pre_tokenizer(R"({"type": "BertPreTokenizer"})"),
          {"pre_tokenizer", "'BertPreTokenizer'"}},
         {"removed",
          byte_level,
          pre_tokenizer(R"({"type": "Split", "pattern": {"Regex": "a"}, "behavior": "Removed"})"),
          {"pre_tokenizer.behavior is 'Removed'"}},
         {"after bytes",
          byte_level,
          pre_tokenizer(R"({"type": "Sequence", "pretokenizers": [
              {"type": "ByteLevel", "add_prefix_space": false}, {"type": "Digits"}]})"),
          {"pretokenizers[1]", "'Digits'"}},
         {"pattern",
          byte_level,
          pre_tokenizer(R"({"type": "Sequence", "pretokenizers": [
              {"type": "Split", "pattern": {"Regex": "\\w+"}, "behavior": "Isolated"},
              {"type": "ByteLevel", "add_prefix_space": false, "use_regex": false}]})"),
          {"'\\w+'", "\\w"}},
         {"plain spaces", characters, [](Json& j) { j["normalizer"] = nullptr; }, {"spaces"}},
         {"whole words",
          byte_level,
          [](Json& j) { j["added_tokens"][1]["single_word"] = true; },
          {"added_tokens[1]", "'<hr>'", "single_word"}},
         {"suffix",
          byte_level,
          [](Json& j) { j["model"]["end_of_word_suffix"] = "</w>"; },
          {"end_of_word_suffix"}},
         {"dropout", byte_level, [](Json& j) { j["model"]["dropout"] = 0.1; }, {"dropout"}},
         {"Roberta",
          byte_level,
          [](Json& j) {
              j["post_processor"] = {{"type", "RobertaProcessing"}};
          },
          {"'RobertaProcessing'"}},
         {"CTC",
          byte_level,
          [](Json& j) {
              j["decoder"] = {{"type", "CTC"}};
          },
          {"'CTC'"}},
         {"space in a merge",
          byte_level,
          [](Json& j) { j["model"]["merges"] = Json::parse(R"([["t", " h"]])"); },
          {"model.merges[0]"}}},
        ErrorKind::unsupported);
}

TEST(HfTokenizer, refuses_a_file_that_is_cut_off_anywhere) {
    const std::string whole = characters().dump();
    for (size_t n = 0; n < whole.size(); ++n)
        expect_refused(spec_of(whole.substr(0, n)), ErrorKind::file, {"dir/tokenizer.json"});
    expect_refused(spec_of(std::string(100'000, '[')), ErrorKind::file, {"dir/tokenizer.json"});
}

TEST(HfTokenizer, refuses_what_its_configs_say_wrong_by_their_file) {
    expect_refused(with_config({{"eos_token", Json::array({"</s>"})}}), ErrorKind::file,
                   {"dir/tokenizer_config.json: eos_token is array"});
    expect_refused(with_config({{"bos_token", 5}}), ErrorKind::file, {"bos_token is number"});
    expect_refused(with_config({{"add_bos_token", true}}), ErrorKind::file, {"add_bos_token"});
    expect_refused(with_config(Json::object(), {{"eos_token_id", {1, "2"}}}), ErrorKind::file,
                   {"dir/generation_config.json: eos_token_id[1] is string"});
}

TEST(HfTokenizer, reads_the_files_of_a_directory_that_are_there) {
    const auto directory = std::filesystem::path(::testing::TempDir()) / "kvik_hf_tokenizer";
    std::filesystem::remove_all(directory);
    std::filesystem::create_directories(directory);
    EXPECT_FALSE(tokenizer_from_hf(directory.string())->has_value());
    std::ofstream(directory / "tokenizer.json") << byte_level().dump();
    std::ofstream(directory / "tokenizer_config.json") << R"({"eos_token": "<|end|>"})";
    const auto spec = tokenizer_from_hf(directory.string());
    ASSERT_TRUE(spec) << spec.error().message;
    EXPECT_EQ((*spec)->eos, 257);
    std::filesystem::remove_all(directory);
}

// A download that lost a file leaves the link to it: without its end tokens or its template the
// model would run on and say other things.
TEST(HfTokenizer, refuses_a_link_that_leads_nowhere) {
    const auto directory = std::filesystem::path(::testing::TempDir()) / "kvik_hf_lost_file";
    for (const char* name : {"tokenizer.json", "tokenizer_config.json", "generation_config.json"}) {
        std::filesystem::remove_all(directory);
        std::filesystem::create_directories(directory);
        std::ofstream(directory / "tokenizer.json") << byte_level().dump();
        std::filesystem::remove(directory / name);
        std::filesystem::create_symlink("lost", directory / name);
        expect_refused(tokenizer_from_hf(directory.string()), ErrorKind::file, {name});
    }
    std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace kvik
