// The parts of tokenizer_test_support.h that need no template.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>

#include "text/bpe_alphabet.h"
#include "text/tokenizer_test_support.h"

namespace kvik::testing {
namespace {

constexpr std::array kMerges = {"e r", "t h",  "h e", "th e",  "\xC4\xA0 t",        "\xC4\xA0t he",
                                "i n", "in g", "o o", "oo oo", "\xC4\xA0 \xC4\xA0", "er ing"};

void add(TokenizerSpec& spec, std::string token, TokenType type, float score = 0) {
    spec.tokens.push_back(std::move(token));
    spec.types.push_back(type);
    if (spec.model == "llama") spec.scores.push_back(score);
}

void add_specials(TokenizerSpec& spec) {
    add(spec, "<|start|>", TokenType::control);
    add(spec, "<|end|>", TokenType::control);
    add(spec, "<hr>", TokenType::user_defined);
    spec.bos = kStart;
    spec.eos = kEnd;
}

}  // namespace

TokenizerSpec tiny_bpe_spec() {
    TokenizerSpec spec;
    spec.model = "gpt2";
    spec.pre = "gpt2";
    for (uint32_t b = 0; b < 256; ++b)
        add(spec, spelled_byte(static_cast<uint8_t>(b)), TokenType::normal);
    add_specials(spec);
    for (std::string merge : kMerges) {
        spec.merges.push_back(merge);
        merge.erase(merge.find(' '), 1);
        add(spec, merge, TokenType::normal);
    }
    return spec;
}

TokenizerSpec tiny_spm_spec() {
    TokenizerSpec spec;
    spec.model = "llama";
    for (uint32_t b = 0; b < 256; ++b) {
        std::array<char, 8> name{};
        (void)std::snprintf(name.data(), name.size(), "<0x%02X>", b);
        add(spec, name.data(), TokenType::byte);
    }
    add_specials(spec);
    float score = 0;
    for (const char* piece :
         {"th", "he", "the", "\xE2\x96\x81t", "\xE2\x96\x81the", "in", "ing",
          "\xE2\x96\x81\xE2\x96\x81", "er", "ering", "oo", "oooo", ">\xE2\x96\x81<"})
        add(spec, piece, TokenType::normal, score -= 1);
    for (const char* letter :
         {"\xE2\x96\x81", "e", "t", "h", "i", "n", "g", "r", "o", ">", "<", "\xC3\xA9"})
        add(spec, letter, TokenType::normal, score -= 1);
    return spec;
}

std::unique_ptr<Tokenizer> tokenizer_of(TokenizerSpec spec) {
    auto tokenizer = make_tokenizer(std::move(spec));
    EXPECT_TRUE(tokenizer.has_value()) << (tokenizer ? "" : tokenizer.error().message);
    return tokenizer ? std::move(*tokenizer) : nullptr;
}

std::string error_of(TokenizerSpec spec) {
    const auto tokenizer = make_tokenizer(std::move(spec));
    return tokenizer ? "" : tokenizer.error().message;
}

std::string random_words(Random& random, size_t n_parts) {
    constexpr std::array kParts = {"t", "h", "e", "r", "i", "n", "g", "oo", " ", " ", "\n", "the"};
    std::string text;
    for (size_t n = below(random, n_parts + 1); n > 0; --n)
        text += kParts[below(random, kParts.size())];
    return text;
}

std::string random_text(Random& random, size_t n_parts) {
    constexpr std::array kParts = {"e",
                                   "the",
                                   "ering",
                                   "7",
                                   "12",
                                   "'ll",
                                   " ",
                                   "  ",
                                   "\n",
                                   "\t \r\n",
                                   "\xC2\xA0",
                                   "\xC3\xA9",
                                   "\xD0\x96",
                                   "\xE4\xB8\x80",
                                   "\xE2\x96\x81",
                                   "!?",
                                   "\xF0\x9F\x98\x80",
                                   "<|start|>",
                                   "<|end|>",
                                   "<hr>",
                                   "<|st",
                                   "art|>",
                                   "\xE1\xA0\x8E",
                                   "> <"};
    std::string text;
    for (size_t n = below(random, n_parts + 1); n > 0; --n) {
        if (below(random, 8) == 0)
            text += static_cast<char>(below(random, 256));
        else
            text += kParts[below(random, kParts.size())];
    }
    return text;
}

}  // namespace kvik::testing
