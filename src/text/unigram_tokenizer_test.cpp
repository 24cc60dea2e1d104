#include "text/unigram_tokenizer.h"

#include <gtest/gtest.h>

#include <map>

#include "text/tokenizer_test_support.h"
#include "text/unigram_trie.h"
#include "text/utf8.h"

namespace kvik {
namespace {

using testing::below;
using testing::Random;
using Ids = std::vector<TokenId>;

// Ids 0 to 2 are <unk>, <s> and </s>; no byte tokens.
TokenizerSpec tiny_unigram_spec() {
    TokenizerSpec spec;
    spec.model = "unigram";
    const auto add = [&](std::string token, TokenType type, double score) {
        spec.tokens.push_back(std::move(token));
        spec.types.push_back(type);
        spec.scores.push_back(score);
    };
    add("<unk>", TokenType::unknown, 0);
    add("<s>", TokenType::control, 0);
    add("</s>", TokenType::control, 0);
    for (const char* piece : {"\xE2\x96\x81", "t", "h", "e", "r", "i", "n", "g", "o", "\n"})
        add(piece, TokenType::normal, -5.5 - static_cast<double>(spec.tokens.size()) / 8);
    for (const char* piece : {"the", "he", "\xE2\x96\x81the", "ing", "in", "er", "ring", "oo",
                              "\xE2\x96\x81\xE2\x96\x81", "e\xE2\x96\x81t", "tt", "hh"})
        add(piece, TokenType::normal, -7 - static_cast<double>(spec.tokens.size() * 5 % 7) / 4);
    spec.unk = 0;
    return spec;
}

void add_bytes(TokenizerSpec& spec) {
    for (const std::string& token : testing::tiny_spm_spec().tokens) {
        if (!token.starts_with("<0x")) continue;
        spec.tokens.push_back(token);
        spec.types.push_back(TokenType::byte);
        spec.scores.push_back(0);
    }
}

// The best sum over every way to cut text[at, end), by trying them all (with memory).
double best_sum(const std::map<std::string, double>& pieces, double unknown,
                const std::string& text, size_t at, std::map<size_t, double>& known) {
    if (at == text.size()) return 0;
    if (const auto found = known.find(at); found != known.end()) return found->second;
    double best = -1e300;
    for (size_t n = 1; at + n <= text.size(); ++n) {
        const auto piece = pieces.find(text.substr(at, n));
        const bool is_character = n == utf8_unit(std::string_view(text).substr(at)).n_bytes;
        if (piece == pieces.end() && !is_character) continue;
        const double score = piece == pieces.end() ? unknown : piece->second;
        best = std::max(best, score + best_sum(pieces, unknown, text, at + n, known));
    }
    return known[at] = best;
}

TEST(UnigramTokenizer, finds_the_largest_sum_of_all_cuts) {
    const TokenizerSpec spec = tiny_unigram_spec();
    const auto tokenizer = testing::tokenizer_of(spec);
    std::map<std::string, double> pieces;
    double worst = 0;
    for (size_t id = 0; id < spec.tokens.size(); ++id) {
        worst = std::min(worst, spec.scores[id]);
        if (id > 2)
            pieces[std::string(tokenizer->piece(static_cast<TokenId>(id)))] = spec.scores[id];
    }
    for (uint64_t seed = 0; seed < 500; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        std::string text = testing::random_words(random, 30);
        if (seed % 3 == 0) text += "\xC3\xA9x";
        double sum = 0;
        std::string back;
        for (TokenId id : tokenizer->encode(text, Specials::as_text)) {
            sum += id == 0 ? worst - 10 : spec.scores[static_cast<size_t>(id)];
            back += id == 0 ? "?" : tokenizer->piece(id);
        }
        std::map<size_t, double> known;
        ASSERT_NEAR(sum, best_sum(pieces, worst - 10, text, 0, known), 1e-9) << text;
    }
}

TEST(UnigramTokenizer, takes_the_last_piece_that_begins_earliest_among_equal_sums) {
    TokenizerSpec spec = tiny_unigram_spec();
    for (double& score : spec.scores) score = -1;
    spec.tokens.insert(spec.tokens.end(), {"rin", "gt"});
    spec.types.resize(spec.tokens.size(), TokenType::normal);
    spec.scores.resize(spec.tokens.size(), -1);
    const auto tokenizer = testing::tokenizer_of(spec);
    EXPECT_EQ(tokenizer->encode("ringt", Specials::as_text),
              (Ids{*tokenizer->find("rin"), *tokenizer->find("gt")}))
        << "ring+t and rin+gt have equal sums; the path to the end was first offered by gt";
}

TEST(UnigramTokenizer, writes_characters_without_a_piece_in_bytes_where_there_are_byte_tokens) {
    TokenizerSpec spec = tiny_unigram_spec();
    add_bytes(spec);
    const auto tokenizer = testing::tokenizer_of(spec);
    const TokenId zero = static_cast<TokenId>(spec.tokens.size()) - 256;
    EXPECT_EQ(tokenizer->encode("\xC3\xA9", Specials::as_text), (Ids{zero + 0xC3, zero + 0xA9}));
    for (uint64_t seed = 0; seed < 500; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        std::string text = testing::random_words(random, 20) + "\xC3\xA9\xFF<0x41><s>\xE4\xB8";
        text += testing::random_words(random, 20);
        std::string back;
        for (TokenId id : tokenizer->encode(text, Specials::as_text)) {
            ASSERT_FALSE(tokenizer->is_control(id));
            back += tokenizer->piece(id);
        }
        ASSERT_EQ(back, text);
    }
}

TEST(UnigramTokenizer, says_unknown_once_for_neighbours_if_it_fuses_them) {
    TokenizerSpec spec = tiny_unigram_spec();
    const TokenId space = 3;
    EXPECT_EQ(testing::tokenizer_of(spec)->encode("xy x", Specials::as_text),
              (Ids{0, 0, space, 0}));
    spec.fuses_unknown = true;
    EXPECT_EQ(testing::tokenizer_of(spec)->encode("xy x", Specials::as_text), (Ids{0, space, 0}));
    // A control token's neighbours are two stretches, each with an unknown of its own.
    EXPECT_EQ(testing::tokenizer_of(spec)->encode("x<s>y", Specials::recognised), (Ids{0, 1, 0}));
}

TEST(UnigramTokenizer, crosses_into_a_space_only_where_words_are_not_split) {
    TokenizerSpec spec = tiny_unigram_spec();
    const auto whole = testing::tokenizer_of(spec);
    spec.splits_at_spaces = true;
    const auto split = testing::tokenizer_of(spec);
    const TokenId across = *whole->find("e t");
    EXPECT_EQ(whole->encode("e t", Specials::as_text), Ids{across});
    EXPECT_EQ(split->encode("e t", Specials::as_text).size(), 3u);
}

TEST(UnigramTokenizer, needs_an_unknown_token_and_a_score_for_each) {
    TokenizerSpec spec = tiny_unigram_spec();
    spec.unk.reset();
    EXPECT_NE(testing::error_of(spec).find("unk"), std::string::npos);
    spec = tiny_unigram_spec();
    spec.scores.clear();
    EXPECT_NE(testing::error_of(spec).find("scores"), std::string::npos);
}

TEST(PieceTrie, gives_every_piece_that_a_text_begins_with_by_rising_length) {
    for (uint64_t seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        std::map<std::string, TokenId> naive;
        for (size_t n = below(random, 40); n > 0; --n) {
            std::string piece;
            for (size_t m = 1 + below(random, 6); m > 0; --m)
                piece += static_cast<char>(below(random, 2) == 0 ? 'a' : 0xFF - below(random, 3));
            naive.try_emplace(piece, static_cast<TokenId>(naive.size()));
        }
        std::vector<PieceTrie::Piece> pieces;
        for (const auto& [bytes, id] : naive) pieces.push_back({bytes, id});
        std::reverse(pieces.begin(), pieces.end());
        const PieceTrie trie(pieces);
        std::string text;
        for (size_t m = below(random, 10); m > 0; --m)
            text += static_cast<char>(below(random, 2) == 0 ? 'a' : 0xFF - below(random, 3));
        std::vector<TokenId> want, got;
        for (size_t n = 1; n <= text.size(); ++n)
            if (const auto found = naive.find(text.substr(0, n)); found != naive.end())
                want.push_back(found->second);
        trie.for_each_prefix(text, [&](size_t n_bytes, TokenId id) {
            EXPECT_EQ(naive.at(text.substr(0, n_bytes)), id);
            got.push_back(id);
        });
        ASSERT_EQ(got, want);
    }
}

}  // namespace
}  // namespace kvik
