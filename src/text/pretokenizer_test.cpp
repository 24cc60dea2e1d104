#include "text/pretokenizer.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "text/tokenizer_test_support.h"
#include "text/utf8.h"

namespace kvik {
namespace {

using Pieces = std::vector<std::string>;

Pieces split(std::string_view name, std::string_view text, Matching matching = Matching::jit) {
    const auto pretokenizer = Pretokenizer::named(name, matching);
    std::vector<uint32_t> ends;
    pretokenizer->split(text, ends);
    Pieces pieces;
    uint32_t begin = 0;
    for (uint32_t end : ends) {
        pieces.emplace_back(text.substr(begin, end - begin));
        begin = end;
    }
    return pieces;
}

TEST(Pretokenizer, splits_gpt2_at_contractions_letters_numbers_and_spaces) {
    EXPECT_EQ(split("gpt2", "I'll go  12ab!? \n x"),
              (Pieces{"I", "'ll", " go", " ", " 12", "ab", "!?", " \n", " x"}));
}

TEST(Pretokenizer, splits_smollm_at_every_digit_before_anything_else) {
    EXPECT_EQ(split("smollm", "a  12 3."), (Pieces{"a", "  ", "1", "2", " ", "3", "."}));
}

TEST(Pretokenizer, splits_llama_bpe_into_threes_of_digits_and_lines) {
    EXPECT_EQ(split("llama-bpe", "DON'T 12345;\n\n  x"),
              (Pieces{"DON", "'T", " ", "123", "45", ";\n\n", " ", " x"}));
}

TEST(Pretokenizer, takes_unicode_white_space_and_no_more_as_space) {
    // U+2003 is white space, U+180E is not: it stays with the sign after it.
    EXPECT_EQ(split("gpt2",
                    "a\xE2\x80\x83\xE2\x80\x83"
                    "b"),
              (Pieces{"a", "\xE2\x80\x83", "\xE2\x80\x83", "b"}));
    EXPECT_EQ(split("gpt2", "a\xE1\xA0\x8E!"), (Pieces{"a", "\xE1\xA0\x8E!"}));
}

TEST(Pretokenizer, keeps_bytes_that_are_not_utf8_apart) {
    EXPECT_EQ(split("gpt2", "ab\xFF\xC3\xC3\xA9"), (Pieces{"ab", "\xFF\xC3", "\xC3\xA9"}));
}

TEST(Pretokenizer, covers_every_text_without_empty_pieces_and_the_same_without_jit) {
    for (const PretokenizerPattern& pattern : kPretokenizerPatterns) {
        for (uint64_t seed = 0; seed < 300; ++seed) {
            SCOPED_TRACE(std::string(pattern.name) + " " + std::to_string(seed));
            testing::Random random(seed);
            const std::string text = testing::random_text(random, 30);
            const Pieces pieces = split(pattern.name, text);
            std::string joined;
            for (const std::string& piece : pieces) {
                ASSERT_FALSE(piece.empty());
                joined += piece;
            }
            ASSERT_EQ(joined, text);
            ASSERT_EQ(split(pattern.name, text, Matching::interpreted), pieces);
        }
    }
}

TEST(Pretokenizer, takes_a_long_run_of_one_kind_whole) {
    for (const PretokenizerPattern& pattern : kPretokenizerPatterns) {
        SCOPED_TRACE(pattern.name);
        const std::string letters(100'000, 'a');
        EXPECT_EQ(split(pattern.name, letters), Pieces{letters});
        const std::string spaces(100'000, ' ');
        EXPECT_EQ(split(pattern.name, spaces), Pieces{spaces});
    }
}

TEST(Pretokenizer, names_the_pattern_that_it_does_not_know) {
    const auto made = Pretokenizer::named("no-such");
    ASSERT_FALSE(made.has_value());
    EXPECT_EQ(made.error().kind, ErrorKind::unsupported);
    EXPECT_NE(made.error().message.find("no-such"), std::string::npos);
}

}  // namespace
}  // namespace kvik
