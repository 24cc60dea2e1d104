#include "text/tokenizer_pieces.h"

#include <gtest/gtest.h>

#include <map>

#include "text/tokenizer_test_support.h"

namespace kvik {
namespace {

TEST(PieceTable, finds_what_a_map_finds) {
    for (uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        testing::Random random(seed);
        const size_t n_tokens = testing::below(random, 300);
        PieceTable pieces;
        pieces.reserve(n_tokens, 0);
        std::map<std::string, TokenId> twin;
        const auto word = [&] {
            std::string w;
            for (size_t n = testing::below(random, 4); n > 0; --n)
                w += static_cast<char>('a' + testing::below(random, 5));
            return w;
        };
        std::vector<std::string> words;
        for (size_t i = 0; i < n_tokens; ++i) {
            words.push_back(word());
            pieces.pool() += words.back();
            ASSERT_EQ(pieces.close_piece(), words.back());
        }
        for (size_t i = 0; i < n_tokens; ++i) {
            const TokenId id = static_cast<TokenId>(i);
            const auto [place, is_new] = twin.try_emplace(words[i], id);
            ASSERT_EQ(pieces.index(id), is_new ? std::nullopt : std::optional(place->second));
            ASSERT_EQ(pieces.piece(id), words[i]);
        }
        for (int i = 0; i < 200; ++i) {
            const std::string w = word();
            const auto place = twin.find(w);
            ASSERT_EQ(pieces.find(w),
                      place == twin.end() ? std::nullopt : std::optional(place->second));
        }
    }
}

// Of 300'000 words about ten pairs share a hash of 32 bits.
TEST(PieceTable, tells_pieces_apart_whose_hashes_are_equal) {
    constexpr TokenId kWords = 300'000;
    PieceTable pieces;
    pieces.reserve(kWords, 0);
    for (TokenId id = 0; id < kWords; ++id) {
        pieces.pool() += std::to_string(id);
        pieces.close_piece();
    }
    for (TokenId id = 0; id < kWords; ++id) ASSERT_EQ(pieces.index(id), std::nullopt);
    for (TokenId id = 0; id < kWords; ++id) ASSERT_EQ(pieces.find(std::to_string(id)), id);
}

}  // namespace
}  // namespace kvik
