#include "text/spm_tokenizer.h"

#include <gtest/gtest.h>

#include <map>

#include "text/tokenizer_merge.h"
#include "text/tokenizer_test_support.h"
#include "text/tokenizer_vocab.h"
#include "text/utf8.h"

namespace kvik {
namespace {

using testing::Random;
using Ids = std::vector<TokenId>;

std::string marked(std::string_view text) {
    std::string out;
    for (char c : text) out += c == ' ' ? std::string(kSpaceMark) : std::string(1, c);
    return out;
}

// The ids of a text without specials, by the definition: over the whole text, in the file's
// spelling, a scan for the pair with the best score at each step.
Ids encode_by_scanning(const TokenizerSpec& spec, std::string_view text) {
    std::map<std::string, TokenId> ids_of;
    for (size_t i = 0; i < spec.tokens.size(); ++i)
        if (spec.types[i] == TokenType::normal) ids_of[spec.tokens[i]] = static_cast<TokenId>(i);
    const std::string spelling = marked(text);
    std::vector<std::string> pieces;
    for (size_t at = 0; at < spelling.size(); at += pieces.back().size())
        pieces.push_back(
            spelling.substr(at, utf8_unit(std::string_view(spelling).substr(at)).n_bytes));
    pieces = testing::merge_by_scanning(pieces, [&](const auto& left, const auto& right) {
        const auto found = ids_of.find(left + right);
        if (found == ids_of.end()) return kNoPair;
        // The scores of the tiny vocabulary are small negative whole numbers.
        return static_cast<uint32_t>(-spec.scores[static_cast<size_t>(found->second)]);
    });
    Ids ids;
    for (const std::string& piece : pieces) {
        const auto found = ids_of.find(piece);
        if (found != ids_of.end())
            ids.push_back(found->second);
        else  // the byte tokens are the first 256
            for (char c : piece) ids.push_back(static_cast<uint8_t>(c));
    }
    return ids;
}

TEST(SpmTokenizer, merges_as_its_definition_does_over_the_whole_text) {
    const TokenizerSpec spec = testing::tiny_spm_spec();
    const auto tokenizer = testing::tokenizer_of(spec);
    for (uint64_t seed = 0; seed < 1000; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        std::string text = testing::random_words(random, 40);
        // "> <" is a token that has a space inside.
        if (seed % 2 == 0) text += "> <\n" + testing::random_words(random, 20) + "> > <";
        ASSERT_EQ(tokenizer->encode(text, Specials::recognised), encode_by_scanning(spec, text));
    }
}

TEST(SpmTokenizer, prefers_scores_to_places_and_places_among_equals) {
    TokenizerSpec spec = testing::tiny_spm_spec();
    for (double& score : spec.scores) score = -100;
    const auto score_of = [&](std::string_view token) -> double& {
        for (size_t i = 0; i < spec.tokens.size(); ++i)
            if (spec.tokens[i] == token) return spec.scores[i];
        return spec.scores[0];
    };
    const auto pieces_of = [](const TokenizerSpec& s, std::string_view text) {
        const auto tokenizer = testing::tokenizer_of(s);
        std::vector<std::string> pieces;
        for (TokenId id : tokenizer->encode(text, Specials::as_text))
            pieces.emplace_back(tokenizer->piece(id));
        return pieces;
    };
    score_of("he") = 1.5f;
    score_of("th") = -0.5f;
    score_of("the") = -1000;
    EXPECT_EQ(pieces_of(spec, "the"), (std::vector<std::string>{"the"}));
    EXPECT_EQ(pieces_of(spec, "thhe"), (std::vector<std::string>{"th", "he"}));
    score_of("the") = score_of("he") = score_of("th") = 0.0f;
    EXPECT_EQ(pieces_of(spec, "thoo"), (std::vector<std::string>{"th", "oo"}));
    EXPECT_EQ(pieces_of(spec, "ooo"), (std::vector<std::string>{"oo", "o"}));
}

TEST(SpmTokenizer, gives_every_byte_back_and_spaces_for_their_marks) {
    const auto tokenizer = testing::tokenizer_of(testing::tiny_spm_spec());
    for (uint64_t seed = 0; seed < 1000; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        std::string text = testing::random_text(random, 30);
        std::string back;
        for (TokenId id : tokenizer->encode(text, Specials::recognised))
            back += tokenizer->piece(id);
        for (size_t at; (at = text.find(kSpaceMark)) != std::string::npos;)
            text.replace(at, kSpaceMark.size(), " ");
        ASSERT_EQ(back, text);
    }
}

// The tiny vocabulary with merges for scores: those of every token, in an order of its own.
TokenizerSpec tiny_merge_spec() {
    TokenizerSpec spec = testing::tiny_spm_spec();
    spec.scores.clear();
    spec.merges = {"t h",
                   "th e",
                   "h e",
                   "e r",
                   "i n",
                   "in g",
                   "er ing",
                   "o o",
                   "oo oo",
                   "\xE2\x96\x81 the",
                   "\xE2\x96\x81 t",
                   "\xE2\x96\x81 \xE2\x96\x81"};
    return spec;
}

TEST(SpmTokenizer, merges_by_rank_where_there_are_no_scores) {
    const TokenizerSpec spec = tiny_merge_spec();
    const auto tokenizer = testing::tokenizer_of(spec);
    std::map<std::string, uint32_t> ranks;
    for (uint32_t i = 0; i < spec.merges.size(); ++i) ranks[spec.merges[i]] = i;
    for (uint64_t seed = 0; seed < 1000; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const std::string text = testing::random_words(random, 60);
        std::vector<std::string> want;
        for (char c : text) want.push_back(marked({&c, 1}));
        want = testing::merge_by_scanning(want, [&](const auto& left, const auto& right) {
            const auto found = ranks.find(left + " " + right);
            return found == ranks.end() ? kNoPair : found->second;
        });
        std::vector<std::string> pieces;
        for (TokenId id : tokenizer->encode(text, Specials::as_text))
            pieces.push_back(marked(tokenizer->piece(id)));
        ASSERT_EQ(pieces, want);
    }
}

TEST(SpmTokenizer, merges_into_user_defined_tokens_too) {
    TokenizerSpec spec = tiny_merge_spec();
    for (size_t i = 0; i < spec.tokens.size(); ++i)
        if (spec.tokens[i] == "oo") spec.types[i] = TokenType::user_defined;
    spec.special_mark = SpaceMark::itself;
    const auto tokenizer = testing::tokenizer_of(spec);
    EXPECT_EQ(tokenizer->encode("ooo", Specials::as_text),
              (Ids{*tokenizer->find("oo"), *tokenizer->find("o")}));
}

TEST(SpmTokenizer, leaves_out_what_has_no_token_where_merges_have_no_unknown) {
    TokenizerSpec spec = tiny_merge_spec();
    for (size_t b = 0; b < 256; ++b) spec.types[b] = TokenType::unused;
    const auto tokenizer = testing::tokenizer_of(spec);
    EXPECT_EQ(tokenizer->encode("t\xC3\xB6h", Specials::as_text), Ids{*tokenizer->find("th")});
    EXPECT_EQ(tokenizer->encode("\xC3\xB6", Specials::as_text), Ids{});
}

TEST(SpmTokenizer, names_the_merge_that_does_not_fit) {
    for (const char* merge : {"t", "t ", "zz t", "t zz", "t n"}) {
        TokenizerSpec spec = tiny_merge_spec();
        spec.merges.emplace_back(merge);
        EXPECT_NE(testing::error_of(spec).find("merges[12]"), std::string::npos) << merge;
    }
}

TEST(SpmTokenizer, puts_a_space_where_its_prefix_says_unless_one_is_there) {
    const auto pieces_of = [](SpacePrefix prefix, std::string_view text) {
        TokenizerSpec spec = testing::tiny_spm_spec();
        spec.space_prefix = prefix;
        const auto tokenizer = testing::tokenizer_of(spec);
        std::string pieces;
        for (TokenId id : tokenizer->encode(text, Specials::recognised)) {
            pieces += tokenizer->piece(id);
            pieces += '|';
        }
        return pieces;
    };
    const std::string text = "the<|end|>the<hr>the";
    EXPECT_EQ(pieces_of(SpacePrefix::never, text), "the|<|end|>|the|<hr>|the|");
    EXPECT_EQ(pieces_of(SpacePrefix::start, text), " the|<|end|>|the|<hr>|the|");
    EXPECT_EQ(pieces_of(SpacePrefix::always, text), " the|<|end|>| the|<hr>| the|");
    EXPECT_EQ(pieces_of(SpacePrefix::start, "<|end|>the"), "<|end|>|the|");
    EXPECT_EQ(pieces_of(SpacePrefix::always, " the"), " the|");
    EXPECT_EQ(pieces_of(SpacePrefix::always, "\xE2\x96\x81the"), " the|");
    EXPECT_EQ(pieces_of(SpacePrefix::around_control, " e"), "  |e|");
}

TEST(SpmTokenizer, finds_a_space_in_a_special_only_where_its_mark_means_one) {
    TokenizerSpec spec = testing::tiny_spm_spec();
    spec.tokens.push_back("\xE2\x96\x81\xE2\x96\x81\xE2\x96\x81");
    spec.types.push_back(TokenType::user_defined);
    spec.scores.push_back(0);
    const TokenId three = static_cast<TokenId>(spec.tokens.size() - 1);
    EXPECT_EQ(testing::tokenizer_of(spec)->encode("   ", Specials::as_text), Ids{three});
    spec.special_mark = SpaceMark::itself;
    const auto tokenizer = testing::tokenizer_of(spec);
    EXPECT_EQ(tokenizer->encode("   ", Specials::as_text).size(), 2u);
    EXPECT_EQ(tokenizer->encode(marked("   "), Specials::as_text), Ids{three});
}

TEST(SpmTokenizer, falls_back_to_bytes_or_else_to_the_unknown_token) {
    TokenizerSpec spec = testing::tiny_spm_spec();
    EXPECT_EQ(testing::tokenizer_of(spec)->encode("\xC3\xB6", Specials::as_text),
              (Ids{0xC3, 0xB6}));
    for (size_t b = 0; b < 256; ++b) spec.types[b] = TokenType::unused;
    spec.types[7] = TokenType::unknown;
    spec.unk = 7;
    const auto tokenizer = testing::tokenizer_of(spec);
    EXPECT_EQ(tokenizer->encode("\xC3\xB6\xC3\xA9", Specials::as_text),
              (Ids{7, *tokenizer->find("\xC3\xA9")}));
}

TEST(SpmTokenizer, puts_a_space_before_the_text_and_after_control_tokens_if_asked_to) {
    TokenizerSpec spec = testing::tiny_spm_spec();
    spec.space_prefix = SpacePrefix::around_control;
    const auto tokenizer = testing::tokenizer_of(spec);
    const TokenId the = *tokenizer->find("the");
    const TokenId spaced = *tokenizer->find(" the");
    EXPECT_EQ(tokenizer->encode("the<|end|>the<hr>the", Specials::recognised),
              (Ids{spaced, testing::kEnd, spaced, testing::kRule, the}));
    EXPECT_EQ(tokenizer->encode("", Specials::recognised), Ids{});
}

TEST(SpmTokenizer, never_makes_a_byte_token_or_a_control_token_by_merging) {
    TokenizerSpec spec = testing::tiny_spm_spec();
    for (const char* part :
         {"<0", "<0x", "<0x4", "<0x41", "<|", "<|e", "<|en", "<|end", "<|end|"}) {
        spec.tokens.emplace_back(part);
        spec.types.push_back(TokenType::normal);
        spec.scores.push_back(0);
    }
    const auto tokenizer = testing::tokenizer_of(spec);
    for (TokenId id : tokenizer->encode("<0x41><|end|>", Specials::as_text)) {
        EXPECT_NE(id, 0x41);
        EXPECT_FALSE(tokenizer->is_control(id));
    }
}

TEST(SpmTokenizer, says_what_is_wrong_with_its_byte_tokens_and_scores) {
    const TokenizerSpec good = testing::tiny_spm_spec();
    TokenizerSpec spec = good;
    spec.tokens[0x41] = "<0xG1>";
    EXPECT_NE(testing::error_of(spec).find("tokens[65]"), std::string::npos);
    spec.tokens[0x41] = "<0x42>";
    EXPECT_NE(testing::error_of(spec).find("no <0x41>"), std::string::npos);
    spec.tokens[0x41] = "A";
    spec.types[0x41] = TokenType::normal;
    EXPECT_NE(testing::error_of(spec).find("<0x41>"), std::string::npos);
    spec = good;
    spec.scores.clear();
    EXPECT_NE(testing::error_of(spec).find("scores"), std::string::npos);
}

}  // namespace
}  // namespace kvik
