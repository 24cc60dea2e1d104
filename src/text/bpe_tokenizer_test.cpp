#include "text/bpe_tokenizer.h"

#include <gtest/gtest.h>

#include <map>

#include "text/bpe_alphabet.h"
#include "text/pretokenizer.h"
#include "text/tokenizer_merge.h"
#include "text/tokenizer_test_support.h"

namespace kvik {
namespace {

using testing::Random;
using Ids = std::vector<TokenId>;

std::string spelled(std::string_view bytes) {
    std::string spelling;
    for (char c : bytes) spelling += spelled_byte(static_cast<uint8_t>(c));
    return spelling;
}

// The ids of a text without specials, by the definition: a scan for the best merge at each step.
Ids encode_by_scanning(const TokenizerSpec& spec, std::string_view text) {
    std::map<std::string, uint32_t> ranks;
    std::map<std::string, TokenId> ids_of;
    for (uint32_t i = 0; i < spec.merges.size(); ++i) ranks.try_emplace(spec.merges[i], i);
    for (size_t i = 0; i < spec.tokens.size(); ++i)
        ids_of[spec.tokens[i]] = static_cast<TokenId>(i);
    std::vector<uint32_t> ends;
    Pretokenizer::named(spec.pre)->split(text, ends);
    Ids ids;
    uint32_t begin = 0;
    for (uint32_t end : ends) {
        std::vector<std::string> pieces;
        for (char c : text.substr(begin, end - begin)) pieces.push_back(spelled({&c, 1}));
        pieces = testing::merge_by_scanning(pieces, [&](const auto& left, const auto& right) {
            const auto found = ranks.find(left + " " + right);
            return found == ranks.end() ? kNoPair : found->second;
        });
        for (const std::string& piece : pieces) ids.push_back(ids_of.at(piece));
        begin = end;
    }
    return ids;
}

TEST(BpeAlphabet, spells_every_byte_by_a_character_of_its_own) {
    std::map<std::string, uint32_t> seen;
    for (uint32_t b = 0; b < 256; ++b) {
        const std::string spelling = spelled_byte(static_cast<uint8_t>(b));
        EXPECT_TRUE(seen.try_emplace(spelling, b).second);
        std::string bytes;
        append_spelled_bytes(spelling, bytes);
        EXPECT_EQ(bytes, std::string(1, static_cast<char>(b)));
    }
}

TEST(BpeAlphabet, leaves_other_characters_as_they_are) {
    std::string bytes;
    append_spelled_bytes("\xE2\x96\x81 \xC5\xB0\xC2", bytes);
    EXPECT_EQ(bytes, "\xE2\x96\x81 \xC5\xB0\xC2");
}

TEST(BpeTokenizer, merges_as_its_definition_does) {
    const TokenizerSpec spec = testing::tiny_bpe_spec();
    const auto tokenizer = testing::tokenizer_of(spec);
    for (uint64_t seed = 0; seed < 1000; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const std::string text = testing::random_words(random, 60);
        ASSERT_EQ(tokenizer->encode(text, Specials::recognised), encode_by_scanning(spec, text));
    }
}

TEST(BpeTokenizer, gives_every_byte_back) {
    for (const char* pattern : {"gpt2", "smollm", "llama-bpe"}) {
        TokenizerSpec spec = testing::tiny_bpe_spec();
        spec.pre = pattern;
        const auto tokenizer = testing::tokenizer_of(spec);
        for (uint64_t seed = 0; seed < 1000; ++seed) {
            SCOPED_TRACE(std::string(pattern) + " " + std::to_string(seed));
            Random random(seed);
            const std::string text = testing::random_text(random, 30);
            for (Specials specials : {Specials::as_text, Specials::recognised}) {
                std::string back;
                for (TokenId id : tokenizer->encode(text, specials)) back += tokenizer->piece(id);
                ASSERT_EQ(back, text);
            }
        }
    }
}

TEST(BpeTokenizer, finds_control_tokens_only_where_they_are_recognised) {
    const auto tokenizer = testing::tokenizer_of(testing::tiny_bpe_spec());
    const std::string text = "<|start|>the<|end|>";
    const TokenId the = *tokenizer->find("the");
    EXPECT_EQ(tokenizer->encode(text, Specials::recognised),
              (Ids{testing::kStart, the, testing::kEnd}));
    for (TokenId id : tokenizer->encode(text, Specials::as_text))
        EXPECT_FALSE(tokenizer->is_control(id));
}

TEST(BpeTokenizer, finds_user_defined_tokens_everywhere) {
    const auto tokenizer = testing::tokenizer_of(testing::tiny_bpe_spec());
    EXPECT_EQ(tokenizer->encode("<hr>", Specials::as_text), Ids{testing::kRule});
    EXPECT_EQ(tokenizer->encode(MarkedText{"<hr>", {{0, 4}}}), Ids{testing::kRule});
}

TEST(BpeTokenizer, leaves_out_bytes_without_a_token_so_that_their_neighbours_merge) {
    TokenizerSpec spec = testing::tiny_bpe_spec();
    spec.pre = "smollm";
    spec.tokens['\x04'] = "gone";
    const auto tokenizer = testing::tokenizer_of(spec);
    spec = testing::tiny_bpe_spec();
    spec.tokens['n'] = "gone";
    spec.merges.clear();
    spec.merges = {"i g"};
    spec.tokens.push_back("ig");
    spec.types.push_back(TokenType::normal);
    const auto without_n = testing::tokenizer_of(spec);
    EXPECT_EQ(tokenizer->encode("\x04", Specials::as_text), Ids{});
    EXPECT_EQ(without_n->encode("ing", Specials::as_text), Ids{*without_n->find("ig")});
}

TEST(BpeTokenizer, takes_whole_pieces_first_where_its_pattern_says_so) {
    TokenizerSpec spec = testing::tiny_bpe_spec();
    spec.tokens.push_back("xyz");  // no merge leads to it
    spec.types.push_back(TokenType::normal);
    EXPECT_EQ(testing::tokenizer_of(spec)->encode("xyz", Specials::as_text), (Ids{'x', 'y', 'z'}));
    spec.pre = "llama-bpe";
    const auto tokenizer = testing::tokenizer_of(spec);
    EXPECT_EQ(tokenizer->encode("xyz", Specials::as_text), Ids{*tokenizer->find("xyz")});
}

TEST(BpeTokenizer, no_merge_makes_a_token_that_is_not_written_in_the_alphabet) {
    TokenizerSpec spec = testing::tiny_bpe_spec();
    for (const std::string& token :
         {std::string("\u200d"), spelled_byte(0xE2) + spelled_byte(0x80),
          spelled_byte(0xE2) + spelled_byte(0x80) + spelled_byte(0x8D)}) {
        spec.tokens.push_back(token);
        spec.types.push_back(TokenType::normal);
    }
    spec.merges.push_back(spelled_byte(0xE2) + " " + spelled_byte(0x80));
    spec.merges.push_back(spelled_byte(0xE2) + spelled_byte(0x80) + " " + spelled_byte(0x8D));
    const TokenId spelled = static_cast<TokenId>(spec.tokens.size() - 1);
    EXPECT_EQ(testing::tokenizer_of(spec)->encode("\u200d", Specials::as_text), Ids{spelled});
}

TEST(BpeTokenizer, keeps_the_first_rank_of_a_pair_that_is_written_twice) {
    TokenizerSpec spec = testing::tiny_bpe_spec();
    spec.merges = {"e r", "t h", "h e", "e r"};
    const auto tokenizer = testing::tokenizer_of(spec);
    EXPECT_EQ(tokenizer->encode("her", Specials::as_text), (Ids{'h', *tokenizer->find("er")}));
}

TEST(BpeTokenizer, names_the_merge_that_does_not_fit) {
    const auto error_with = [](const std::string& merge) {
        TokenizerSpec spec = testing::tiny_bpe_spec();
        spec.merges.push_back(merge);
        return testing::error_of(spec);
    };
    for (const char* merge : {"", " ", "the", "the ", " the", "zz a", "a zz", "a b"}) {
        SCOPED_TRACE(merge);
        EXPECT_NE(error_with(merge).find("merges[12]"), std::string::npos);
    }
}

}  // namespace
}  // namespace kvik
