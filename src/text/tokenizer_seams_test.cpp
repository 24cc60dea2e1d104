// Where a text splits, its two sides are tokenised apart.
#include <gtest/gtest.h>

#include "text/tokenizer_test_support.h"

namespace kvik {
namespace {

using testing::below;
using Ids = std::vector<TokenId>;

MarkedText marked(testing::Random& random, size_t n_parts) {
    MarkedText text;
    for (size_t i = 0; i < n_parts; ++i) {
        const size_t begin = text.text.size();
        text.text += testing::random_text(random, 6) + testing::random_words(random, 6);
        if (below(random, 3) == 0) text.text += "<|start|>";
        if (below(random, 2) == 0) text.untrusted.push_back({begin, text.text.size()});
    }
    return text;
}

MarkedText up_to(const MarkedText& text, size_t end) {
    MarkedText part{text.text.substr(0, end), {}};
    for (const ByteRange& range : text.untrusted) {
        if (range.begin < end) part.untrusted.push_back({range.begin, std::min(range.end, end)});
    }
    return part;
}

class Seams : public ::testing::TestWithParam<TokenizerSpec (*)()> {};
INSTANTIATE_TEST_SUITE_P(Kinds, Seams,
                         ::testing::Values(testing::tiny_bpe_spec, testing::tiny_spm_spec),
                         [](const auto& test) { return test.index == 0 ? "bpe" : "spm"; });

TEST_P(Seams, ids_of_both_sides_are_the_ids_of_the_whole) {
    const auto tokenizer = testing::tokenizer_of(GetParam()());
    testing::Random random(1);
    size_t n_splits = 0;
    for (int round = 0; round < 300; ++round) {
        const MarkedText text = marked(random, 1 + below(random, 4));
        const Ids whole = tokenizer->encode(text);
        for (size_t at = 0; at <= text.text.size(); ++at) {
            if (!tokenizer->splits_at(text, at)) continue;
            n_splits += at > 0 && at < text.text.size();
            Ids ids = tokenizer->encode(up_to(text, at));
            const Ids rest = tokenizer->encode_from(text, at);
            ids.insert(ids.end(), rest.begin(), rest.end());
            ASSERT_EQ(ids, whole) << "round " << round << ", byte " << at << " of " << text.text;
        }
    }
    EXPECT_GT(n_splits, 300u);
}

TEST_P(Seams, a_text_splits_there_whatever_stands_out_of_reach) {
    const auto tokenizer = testing::tokenizer_of(GetParam()());
    testing::Random random(2);
    const size_t reach = tokenizer->split_reach();
    for (int round = 0; round < 200; ++round) {
        const MarkedText text = marked(random, 3);
        for (size_t at = reach; at + reach <= text.text.size(); ++at) {
            if (!tokenizer->splits_at(text, at)) continue;
            MarkedText other = up_to(text, at + reach);
            other.text += testing::random_text(random, 3);
            ASSERT_TRUE(tokenizer->splits_at(other, at)) << other.text << " at " << at;
            const std::string before = testing::random_text(random, 3);
            other.text = before + other.text.substr(at - reach);
            std::erase_if(other.untrusted,
                          [&](const ByteRange& range) { return range.end <= at - reach; });
            for (ByteRange& range : other.untrusted) {
                range.begin = range.begin > at - reach ? range.begin - (at - reach) : 0;
                range = {range.begin + before.size(), range.end - (at - reach) + before.size()};
            }
            ASSERT_TRUE(tokenizer->splits_at(other, before.size() + reach)) << other.text;
        }
    }
}

TEST(TokenizerSeams, a_text_splits_at_a_control_token_unless_it_is_the_users) {
    const auto tokenizer = testing::tokenizer_of(testing::tiny_bpe_spec());
    EXPECT_TRUE(tokenizer->splits_at({"ab<|end|>", {}}, 2));
    EXPECT_FALSE(tokenizer->splits_at({"ab<|end|>", {{0, 9}}}, 2));
    EXPECT_FALSE(tokenizer->splits_at({"ab<|end|>", {{8, 9}}}, 2));
    EXPECT_TRUE(tokenizer->splits_at({"ab<|end|>", {{0, 2}}}, 2));
}

TEST(TokenizerSeams, a_text_splits_before_a_space_that_no_token_takes_with_what_is_before_it) {
    for (const auto spec : {testing::tiny_bpe_spec, testing::tiny_spm_spec}) {
        const auto tokenizer = testing::tokenizer_of(spec());
        EXPECT_TRUE(tokenizer->splits_at({"ab ab", {}}, 2));
        EXPECT_FALSE(tokenizer->splits_at({"ab ab", {}}, 1));
        EXPECT_FALSE(tokenizer->splits_at({"ab ab", {}}, 3));
        EXPECT_FALSE(tokenizer->splits_at({"ab  ab", {}}, 3)) << "white space may be one piece";
    }
}

TEST(TokenizerSeams, a_text_does_not_split_where_a_token_as_written_ends_or_reaches_across) {
    TokenizerSpec spec = testing::tiny_bpe_spec();
    spec.tokens[static_cast<size_t>(testing::kRule)] = "ab ab";  // user-defined
    const auto tokenizer = testing::tokenizer_of(std::move(spec));
    EXPECT_FALSE(tokenizer->splits_at({"ab ab ab", {}}, 2));
    EXPECT_FALSE(tokenizer->splits_at({"ab ab ab", {}}, 5));
    EXPECT_TRUE(tokenizer->splits_at({"ab a ab", {}}, 2));
}

}  // namespace
}  // namespace kvik
