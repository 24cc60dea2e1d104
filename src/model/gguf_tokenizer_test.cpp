#include "model/gguf_tokenizer.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "formats/gguf.h"
#include "testing/expect_error.h"
#include "testing/gguf_samples.h"
#include "testing/patch_bytes.h"
#include "text/pretokenizer_patterns.h"

namespace kvik {
namespace {

using Strings = std::vector<std::string>;

Result<std::optional<TokenizerSpec>> spec_of(const std::vector<std::byte>& bytes) {
    const Result<GgufFile> file = GgufFile::from_bytes(bytes, "m.gguf");
    EXPECT_TRUE(file) << file.error().message;
    if (!file) return tl::unexpected<Error>(file.error());
    return tokenizer_from_gguf(file->metadata());
}

// A vocabulary of three tokens for a model.
GgufWriter vocabulary(std::string_view model) {
    GgufWriter w;
    w.set("tokenizer.ggml.model", model);
    w.set_strings("tokenizer.ggml.tokens", std::array<std::string, 3>{"a", "b", "c"});
    return w;
}

TEST(GgufTokenizer, reads_a_byte_level_vocabulary) {
    const auto found = spec_of(sample_llama().bytes());
    ASSERT_TRUE(found) << found.error().message;
    const TokenizerSpec& spec = **found;
    EXPECT_EQ(spec.model, "gpt2");
    EXPECT_EQ(spec.pre, "smollm");
    EXPECT_EQ(spec.tokens, (Strings{"<|end|>", "a", "b", "ab"}));
    EXPECT_EQ(spec.types[0], TokenType::control);
    EXPECT_EQ(spec.types[3], TokenType::normal);
    EXPECT_EQ(spec.merges, Strings{"a b"});
    EXPECT_TRUE(spec.scores.empty());
    EXPECT_EQ(spec.eos, 0);
    EXPECT_FALSE(spec.bos || spec.eot || spec.unk);
}

TEST(GgufTokenizer, reads_a_sentence_piece_vocabulary) {
    const auto found = spec_of(gguf_samples()[2].bytes);
    ASSERT_TRUE(found) << found.error().message;
    const TokenizerSpec& spec = **found;
    EXPECT_EQ(spec.model, "llama");
    EXPECT_EQ(spec.tokens.size(), 4u);
    EXPECT_EQ(spec.scores, (std::vector<double>{0, 0, -1, -2}));
    EXPECT_EQ(spec.unk, 0);
    EXPECT_EQ(spec.bos, 1);
}

TEST(GgufTokenizer, a_file_without_one_has_none) {
    EXPECT_FALSE(spec_of(GgufWriter().bytes())->has_value());
}

TEST(GgufTokenizer, bos_and_a_space_in_front_are_the_models_habit_unless_said) {
    EXPECT_FALSE((*spec_of(vocabulary("gpt2").bytes()))->add_bos);
    EXPECT_EQ((*spec_of(vocabulary("gpt2").bytes()))->space_prefix, SpacePrefix::never);
    EXPECT_TRUE((*spec_of(vocabulary("llama").bytes()))->add_bos);
    EXPECT_EQ((*spec_of(vocabulary("llama").bytes()))->space_prefix, SpacePrefix::around_control);
    const auto said = [](std::string_view model, std::string_view key, bool value) {
        return **spec_of(vocabulary(model).set(key, value).bytes());
    };
    EXPECT_TRUE(said("gpt2", "tokenizer.ggml.add_bos_token", true).add_bos);
    EXPECT_FALSE(said("llama", "tokenizer.ggml.add_bos_token", false).add_bos);
    EXPECT_EQ(said("llama", "tokenizer.ggml.add_space_prefix", false).space_prefix,
              SpacePrefix::never);
}

TEST(GgufTokenizer, bos_comes_before_some_patterns_unless_the_file_says_no) {
    for (const char* pre : {"llama-bpe", "llama3", "llama-v3", "pixtral", "lfm2", "tekken"}) {
        GgufWriter w = vocabulary("gpt2").set("tokenizer.ggml.pre", pre);
        EXPECT_TRUE((*spec_of(w.bytes()))->add_bos) << pre;
        w.set("tokenizer.ggml.add_bos_token", false);
        EXPECT_FALSE((*spec_of(w.bytes()))->add_bos) << pre;
    }
    for (const char* pre : {"qwen2", "deepseek-r1-qwen", "glm4", "default", "gpt-4o"}) {
        const GgufWriter w = vocabulary("gpt2").set("tokenizer.ggml.pre", pre);
        EXPECT_FALSE((*spec_of(w.bytes()))->add_bos) << pre;
    }
}

TEST(GgufTokenizer, qwen2_is_normalised_to_composed_characters) {
    for (const char* pre : {"qwen2", "deepseek-r1-qwen"}) {
        const auto spec = *spec_of(vocabulary("gpt2").set("tokenizer.ggml.pre", pre).bytes());
        ASSERT_EQ(spec->steps.size(), 1u);
        EXPECT_EQ(spec->steps[0].kind, NormalizerStep::Kind::nfc);
    }
    EXPECT_TRUE((*spec_of(vocabulary("gpt2").bytes()))->steps.empty());
}

TEST(GgufTokenizer, every_name_of_the_table_makes_a_tokenizer_and_none_means_default) {
    GgufWriter nameless = vocabulary("gpt2");
    const auto plain = make_tokenizer(**spec_of(nameless.bytes()));
    ASSERT_TRUE(plain) << plain.error().message;
    EXPECT_EQ((*spec_of(nameless.bytes()))->pre, "default");
    for (const PretokenizerPattern& pattern : kPretokenizerPatterns) {
        GgufWriter w = vocabulary("gpt2").set("tokenizer.ggml.pre", pattern.name);
        w.set("tokenizer.ggml.add_bos_token", false);
        const auto made = make_tokenizer(**spec_of(w.bytes()));
        ASSERT_TRUE(made) << made.error().message;
        EXPECT_EQ((*made)->encode("cab", Specials::as_text), (std::vector<TokenId>{2, 0, 1}))
            << pattern.name;
    }
}

TEST(GgufTokenizer, a_vocabulary_has_tokens) {
    GgufWriter w;
    w.set("tokenizer.ggml.model", "gpt2");
    expect_refused(spec_of(w.bytes()), ErrorKind::file, {"'tokenizer.ggml.tokens'", "missing"});
    w.set_strings("tokenizer.ggml.tokens", {});
    expect_refused(spec_of(w.bytes()), ErrorKind::file,
                   {"'tokenizer.ggml.tokens'", "has 0 tokens", "1 .. 2097152"});
}

TEST(GgufTokenizer, lists_about_tokens_have_a_word_for_each) {
    GgufWriter types = vocabulary("gpt2");
    types.set_array<int32_t>("tokenizer.ggml.token_type", std::array{1, 1});
    expect_refused(spec_of(types.bytes()), ErrorKind::file,
                   {"'tokenizer.ggml.token_type'", "has 2 elements", "has 3"});
    GgufWriter scores = vocabulary("llama");
    scores.set_array<float>("tokenizer.ggml.scores", std::array{1.f, 1.f, 1.f, 1.f});
    expect_refused(spec_of(scores.bytes()), ErrorKind::file,
                   {"'tokenizer.ggml.scores'", "has 4 elements", "has 3"});
}

TEST(GgufTokenizer, a_type_is_one_of_six) {
    for (const int32_t lie : {0, 7, -1, INT32_MAX}) {
        GgufWriter w = vocabulary("gpt2");
        w.set_array<int32_t>("tokenizer.ggml.token_type", std::array{1, lie, 1});
        expect_refused(spec_of(w.bytes()), ErrorKind::file,
                       {"has type " + std::to_string(lie) + " for token 1", "1 .. 6"});
    }
}

TEST(GgufTokenizer, a_score_is_a_finite_number) {
    using Float = std::numeric_limits<float>;
    for (const float lie : {Float::quiet_NaN(), Float::infinity(), -Float::infinity()}) {
        GgufWriter w = vocabulary("llama");
        w.set_array<float>("tokenizer.ggml.scores", std::array{0.f, 0.f, lie});
        expect_refused(spec_of(w.bytes()), ErrorKind::file,
                       {"'tokenizer.ggml.scores'", "for token 2", "finite"});
    }
}

TEST(GgufTokenizer, special_ids_are_tokens) {
    for (const char* name : {"bos", "eos", "eot", "unknown"}) {
        const std::string key = "tokenizer.ggml." + std::string(name) + "_token_id";
        EXPECT_TRUE(spec_of(vocabulary("gpt2").set(key, uint32_t{2}).bytes())) << name;
        for (const uint32_t lie : {3u, UINT32_MAX})
            expect_refused(spec_of(vocabulary("gpt2").set(key, lie).bytes()), ErrorKind::file,
                           {"'" + key + "'", "is " + std::to_string(lie), "0 .. 2"});
    }
}

// What byte-level BPE cannot do without is named; ids need no tokenizer.
TEST(GgufTokenizer, byte_level_tokens_of_several_bytes_need_merges) {
    GgufWriter w;
    w.set("tokenizer.ggml.model", "gpt2");
    w.set_strings("tokenizer.ggml.tokens", std::array<std::string, 3>{"a", "b", "ab"});
    expect_refused(spec_of(w.bytes()), ErrorKind::unsupported,
                   {"'tokenizer.ggml.merges'", "is missing", "token 2 'ab'"});
    w.set_strings("tokenizer.ggml.merges", {});
    expect_refused(spec_of(w.bytes()), ErrorKind::unsupported, {"is empty"});
    w.set_array<int32_t>("tokenizer.ggml.token_type", std::array{1, 1, 3});
    EXPECT_TRUE(spec_of(w.bytes())) << "control tokens are found as they are written";
}

TEST(GgufTokenizer, a_model_that_kvik_lacks_is_named) {
    for (const char* model : {"no_vocab", "none", "bert", "t5", "rwkv", "plamo2", ""})
        expect_refused(spec_of(vocabulary(model).bytes()), ErrorKind::unsupported,
                       {"'tokenizer.ggml.model'", std::string("is '") + model + "'"});
}

TEST(GgufTokenizer, ends_are_read_without_a_tokenizer_too) {
    GgufWriter w = vocabulary("no_vocab");
    w.set("tokenizer.ggml.eos_token_id", uint32_t{7});
    w.set("tokenizer.ggml.eot_token_id", uint64_t{9});
    w.set("tokenizer.ggml.eom_token_id", int32_t{8});
    const auto bytes = w.bytes();
    const Result<GgufFile> file = GgufFile::from_bytes(bytes, "m.gguf");
    EXPECT_EQ(*end_tokens_from_gguf(file->metadata()), (std::vector<TokenId>{7, 9, 8}));
}

TEST(GgufTokenizer, the_chat_templates_are_the_files_by_their_names) {
    const auto names_of = [](const GgufWriter& writer) {
        const auto bytes = writer.bytes();
        std::string out;
        const auto file = GgufFile::from_bytes(bytes, "m.gguf");
        const auto templates = chat_templates_from_gguf(file->metadata());
        for (const NamedTemplate& each : *templates) out += each.name + "=" + each.source + ";";
        return out;
    };
    EXPECT_EQ(names_of(sample_llama()), "default={{ messages[0].content }};");
    EXPECT_EQ(names_of(GgufWriter()), "");
    GgufWriter several = sample_llama();
    several.set("tokenizer.chat_template.tool_use", "T").set("tokenizer.chat_template.rag", "");
    EXPECT_EQ(names_of(several), "default={{ messages[0].content }};tool_use=T;rag=;");
    GgufWriter many;
    for (size_t i = 0; i <= kMostTemplates; ++i)
        many.set("tokenizer.chat_template.t" + std::to_string(i), "x");
    const auto bytes = many.bytes();
    expect_refused(chat_templates_from_gguf(GgufFile::from_bytes(bytes, "m")->metadata()),
                   ErrorKind::file, {"tokenizer.chat_template.t64", "more than 64"});
}

}  // namespace
}  // namespace kvik
