// Directories with a tokenizer.model give the ids that Transformers and SentencePiece give:
// tests/oracles/sentencepiece_models.py recorded models and ids.
#include "model/sentencepiece_model.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "model/hf_tokenizer.h"
#include "testing/expect_error.h"
#include "testing/scratch_folder.h"

namespace kvik {
namespace {

using Json = nlohmann::json;

Json record() {
    std::ifstream file(KVIK_SOURCE_DIR "/tests/golden/tokenizers/sentencepiece.json");
    EXPECT_TRUE(file) << "no record";
    return Json::parse(file);
}

std::string from_base64(std::string_view text) {
    constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    uint32_t bits = 0, n_bits = 0;
    for (const char c : text) {
        if (c == '=') break;
        bits = bits << 6 | static_cast<uint32_t>(kDigits.find(c));
        n_bits += 6;
        if (n_bits < 8) continue;
        n_bits -= 8;
        bytes += static_cast<char>(bits >> n_bits & 0xFF);
    }
    return bytes;
}

TEST(SentencePieceModel, gives_the_ids_that_were_recorded) {
    const Json recorded = record();
    for (const auto& [kind, row] : recorded["kinds"].items()) {
        SCOPED_TRACE(kind);
        const ScratchFolder directory;
        const std::string model = recorded["models"][row["model"].get<std::string>()];
        std::ofstream(directory.path("tokenizer.model"), std::ios::binary) << from_base64(model);
        std::ofstream(directory.path("tokenizer_config.json"))
            << row["tokenizer_config"].get<std::string>();
        const auto spec = tokenizer_from_hf(directory.path());
        ASSERT_TRUE(spec) << spec.error().message;
        ASSERT_TRUE(spec->has_value());
        const auto tokenizer = make_tokenizer(**spec);
        ASSERT_TRUE(tokenizer) << tokenizer.error().message;
        ASSERT_GE(row["ids"].size(), 6u);
        for (size_t i = 0; i < row["ids"].size(); ++i) {
            const std::string text = recorded["texts"][i];
            std::vector<TokenId> ids = (*tokenizer)->encode(text, Specials::recognised);
            if ((*tokenizer)->adds_bos()) ids.insert(ids.begin(), (*tokenizer)->bos().value());
            EXPECT_EQ(ids, row["ids"][i].get<std::vector<TokenId>>()) << text;
        }
    }
}

std::string field(uint8_t number, const std::string& bytes) {
    return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}
std::string number(uint8_t number, char value) {
    return std::string{static_cast<char>(number << 3), value};
}
const std::string kIdentity = field(3, number(4, 0));
const std::string kUnknown = field(1, field(1, "<unk>") + number(3, 2));

Result<SentencePieceModel> read(const std::string& bytes) {
    return read_sentencepiece(bytes, "m.model");
}

TEST(SentencePieceModel, reads_pieces_and_settings) {
    const auto model = read(kUnknown + field(1, field(1, "a")) + field(2, number(3, 2)) +
                            field(3, number(4, 0) + number(3, 0)));
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_EQ(model->pieces.size(), 2u);
    EXPECT_EQ(model->pieces[0].type, TokenType::unknown);
    EXPECT_EQ(model->pieces[1].text, "a");
    EXPECT_EQ(model->type, SentencePieceModel::Type::bpe);
    EXPECT_FALSE(model->add_dummy_prefix);
}

TEST(SentencePieceModel, names_what_it_cannot_do) {
    const auto refused = [](const std::string& bytes, const char* word) {
        expect_refused(read(bytes), ErrorKind::unsupported, {"m.model", word});
    };
    refused(kUnknown + field(3, number(4, 0) + field(1, "nmt_nfkc") + field(2, "xx")),
            "'nmt_nfkc'");
    refused(kUnknown + field(3, number(4, 1)), "remove_extra_whitespaces");
    refused(kUnknown, "remove_extra_whitespaces");
    refused(kUnknown + field(3, number(4, 0) + number(5, 0)), "escape_whitespaces");
    refused(kUnknown + field(2, number(3, 3)) + kIdentity, "model type 3");
    refused(kUnknown + field(1, field(1, "a") + number(3, 5)) + kIdentity, "piece 1");
}

TEST(SentencePieceModel, refuses_what_lies) {
    const auto refused = [](const std::string& bytes, const char* word) {
        expect_refused(read(bytes), ErrorKind::file, {"m.model", word});
    };
    refused(kIdentity, "0 pieces");
    refused("\x0A\x7Fxx", "begins a field of 127 bytes, 2 are left");
    refused("\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01x", "1 are left");
    refused(std::string(11, '\xFF'), "more than 10 bytes");
    refused("\x0A", "in the middle of a number");
    refused("\x0B", "wire type 3");
    refused(field(1, field(1, "")) + kIdentity, "piece 0 of 0 bytes");
    refused(field(1, field(1, "\xFF")) + kIdentity, "not UTF-8");
    refused(field(1, field(1, "a") + number(3, 7)) + kIdentity, "type 7");
    refused(field(1, field(1, "a") + std::string("\x15\0\0\xC0\x7F", 5)) + kIdentity, "score");
    refused(kUnknown + kUnknown + kIdentity, "already as 0");
    refused(kUnknown + field(2, std::string("\xC0\x02\x09", 3)) + kIdentity, "unk_id is 9");
}

TEST(SentencePieceModel, every_cut_and_every_changed_byte_ends_in_an_answer) {
    std::string bytes = from_base64(record()["models"]["bpe"].get<std::string>());
    size_t n_refused = 0;
    for (size_t n = 0; n < bytes.size(); ++n) n_refused += !read(bytes.substr(0, n));
    EXPECT_GT(n_refused, bytes.size() - 20);  // the settings stand at the end
    for (size_t at = 0; at < bytes.size(); ++at) {
        const char was = bytes[at];
        bytes[at] = static_cast<char>(was ^ 0x81);
        const auto model = read(bytes);
        if (!model) {
            EXPECT_FALSE(model.error().message.empty());
        }
        bytes[at] = was;
    }
}

}  // namespace
}  // namespace kvik
