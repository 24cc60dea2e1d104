#include "text/tokenizer_specials.h"

#include <gtest/gtest.h>

#include <string>

#include "text/tokenizer_test_support.h"

namespace kvik {
namespace {

using testing::below;
using testing::Random;

struct Special {
    std::string spelling;
    SpecialUse use;
};

std::vector<Special> random_specials(Random& random) {
    std::vector<Special> specials;
    for (size_t n = 1 + below(random, 12); n > 0; --n) {
        std::string spelling;
        for (size_t length = 1 + below(random, 5); length > 0; --length)
            spelling += "<>a"[below(random, 3)];
        bool is_new = true;
        for (const Special& other : specials) is_new = is_new && other.spelling != spelling;
        if (is_new)
            specials.push_back(
                {spelling, below(random, 2) == 0 ? SpecialUse::control : SpecialUse::user_defined});
    }
    return specials;
}

TEST(SpecialTrie, finds_the_longest_token_that_is_allowed_as_trying_all_of_them_does) {
    for (uint64_t seed = 0; seed < 3000; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const std::vector<Special> specials = random_specials(random);
        SpecialTrie trie(SpaceMark::itself, specials.size());
        for (size_t i = 0; i < specials.size(); ++i)
            ASSERT_FALSE(trie.add(specials[i].spelling, static_cast<TokenId>(i), specials[i].use));
        std::string text;
        for (size_t n = below(random, 12); n > 0; --n) text += "<>a"[below(random, 3)];
        const size_t most = below(random, 6);
        size_t expected = 0;
        TokenId expected_id = -1;
        for (size_t i = 0; i < specials.size(); ++i) {
            const Special& special = specials[i];
            if (!text.starts_with(special.spelling) || special.spelling.size() <= expected)
                continue;
            if (special.use == SpecialUse::control && special.spelling.size() > most) continue;
            expected = special.spelling.size();
            expected_id = static_cast<TokenId>(i);
        }
        const auto hit = trie.longest(text, most);
        ASSERT_EQ(hit ? hit->n_bytes : 0, expected);
        ASSERT_EQ(hit ? hit->id : -1, expected_id);
    }
}

TEST(SpecialTrie, says_who_has_a_spelling_already) {
    SpecialTrie trie(SpaceMark::itself, 2);
    EXPECT_EQ(trie.add("<s>", 4, SpecialUse::control), std::nullopt);
    EXPECT_EQ(trie.add("<s>", 7, SpecialUse::user_defined), 4);
    EXPECT_EQ(trie.find("<s>"), 4);
    EXPECT_EQ(trie.find("<s"), std::nullopt);
}

TEST(SpecialTrie, takes_the_space_mark_for_a_space_where_it_stands_for_one) {
    SpecialTrie trie(SpaceMark::space, 1);
    (void)trie.add("  ", 1, SpecialUse::user_defined);
    const auto hit = trie.longest("\xE2\x96\x81 x", 0);
    ASSERT_TRUE(hit.has_value());
    EXPECT_EQ(hit->n_bytes, 4u);
    SpecialTrie plain(SpaceMark::itself, 1);
    (void)plain.add("  ", 1, SpecialUse::user_defined);
    EXPECT_FALSE(plain.longest("\xE2\x96\x81 x", 0).has_value());
}

}  // namespace
}  // namespace kvik
