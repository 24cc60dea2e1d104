#include "text/detokenizer.h"

#include <gtest/gtest.h>

#include "text/tokenizer_test_support.h"

namespace kvik {
namespace {

using testing::Random;

std::vector<TokenId> random_ids(Random& random, const Tokenizer& tokenizer) {
    std::vector<TokenId> ids;
    for (size_t n = testing::below(random, 40); n > 0; --n) {
        // Half of them bytes past ASCII: characters come in pieces and broken.
        const size_t range = testing::below(random, 2) == 0 ? tokenizer.n_tokens() : 256;
        ids.push_back(static_cast<TokenId>(testing::below(random, range)));
    }
    return ids;
}

std::string push_all(Detokenizer& detokenizer, std::span<const TokenId> ids) {
    std::string text;
    for (TokenId id : ids) text += detokenizer.push(id);
    return text + detokenizer.finish();
}

TEST(Detokenizer, says_piece_by_piece_what_decode_says_at_once) {
    const auto tokenizer = testing::tokenizer_of(testing::tiny_bpe_spec());
    for (uint64_t seed = 0; seed < 2000; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const std::vector<TokenId> ids = random_ids(random, *tokenizer);
        std::vector<TokenId> visible;
        for (TokenId id : ids)
            if (!tokenizer->is_control(id)) visible.push_back(id);
        Detokenizer shown(*tokenizer, Controls::shown);
        Detokenizer hidden(*tokenizer, Controls::hidden);
        ASSERT_EQ(push_all(shown, ids), tokenizer->decode(ids));
        ASSERT_EQ(push_all(hidden, ids), tokenizer->decode(visible));
    }
}

TEST(Detokenizer, never_hands_out_half_a_character) {
    const auto tokenizer = testing::tokenizer_of(testing::tiny_bpe_spec());
    for (uint64_t seed = 0; seed < 500; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        Detokenizer detokenizer(*tokenizer);
        for (TokenId id : random_ids(random, *tokenizer)) {
            const std::string text = detokenizer.push(id);
            ASSERT_EQ(utf8_valid_prefix(text), text.size());
        }
    }
}

TEST(Detokenizer, continues_after_truncate_as_if_the_rest_had_never_been) {
    const auto tokenizer = testing::tokenizer_of(testing::tiny_bpe_spec());
    for (uint64_t seed = 0; seed < 1000; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const std::vector<TokenId> kept = random_ids(random, *tokenizer);
        const std::vector<TokenId> refused = random_ids(random, *tokenizer);
        const std::vector<TokenId> next = random_ids(random, *tokenizer);
        Detokenizer back(*tokenizer);
        Detokenizer straight(*tokenizer);
        for (TokenId id : kept) (void)back.push(id), (void)straight.push(id);
        for (TokenId id : refused) (void)back.push(id);
        back.truncate(static_cast<uint32_t>(kept.size()));
        ASSERT_EQ(back.n_tokens(), kept.size());
        ASSERT_EQ(push_all(back, next), push_all(straight, next));
    }
}

}  // namespace
}  // namespace kvik
