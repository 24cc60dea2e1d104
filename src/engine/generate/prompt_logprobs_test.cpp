#include "engine/generate/prompt_logprobs.h"

#include <gtest/gtest.h>

#include <map>

#include "support/requests.h"

namespace kvik {
namespace {

using Tokens = std::vector<TokenId>;

const NamespaceKey kNs = namespace_key({"a"});

// A value that is a function of the prefix, as a logprob is.
std::vector<float> values_of(const Tokens& tokens) {
    std::vector<float> values;
    float sum = 0;
    for (const TokenId token : tokens) values.push_back(sum = sum * 3 + static_cast<float>(token));
    return values;
}

std::vector<float> found(const PromptLogprobs& store, const Tokens& tokens,
                         const NamespaceKey& ns = kNs) {
    const std::span<const float> values = store.find(ns, tokens);
    return {values.begin(), values.end()};
}

TEST(PromptLogprobs, are_found_as_far_as_tokens_agree) {
    PromptLogprobs store(1 << 20);
    store.put(kNs, Tokens{1, 2, 3, 4}, values_of({1, 2, 3, 4}));
    store.put(kNs, Tokens{1, 5}, values_of({1, 5}));
    EXPECT_EQ(found(store, {1, 2, 3, 4}), values_of({1, 2, 3, 4}));
    EXPECT_EQ(found(store, {1, 2, 3, 9, 4}), values_of({1, 2, 3}));
    EXPECT_EQ(found(store, {1, 2, 3}), values_of({1, 2, 3}));
    EXPECT_EQ(found(store, {1, 5, 5}), values_of({1, 5}));
    EXPECT_EQ(found(store, {2, 2, 3}), values_of({}));
    EXPECT_EQ(found(store, {1, 2}, namespace_key({"b"})), values_of({}));
}

TEST(PromptLogprobs, keep_one_entry_of_prompts_that_begin_each_other) {
    PromptLogprobs store(1 << 20);
    for (const size_t n : {3, 5, 2, 5, 4}) {
        const Tokens tokens(n, 7);
        store.put(kNs, tokens, values_of(tokens));
        EXPECT_EQ(store.n_entries(), 1u);
    }
    EXPECT_EQ(found(store, Tokens(6, 7)), values_of(Tokens(5, 7)));
}

TEST(PromptLogprobs, never_exceed_the_budget_and_lose_what_was_put_longest_ago) {
    PromptLogprobs store(1000);  // room for three
    for (const TokenId first : {1, 2, 3, 1, 4}) {
        const Tokens tokens{first, 1, 1, 1};
        store.put(kNs, tokens, values_of(tokens));
        EXPECT_LE(store.n_bytes(), 1000u);
    }
    EXPECT_EQ(store.n_entries(), 3u);
    EXPECT_EQ(found(store, {2, 1}), values_of({}));
    EXPECT_EQ(found(store, {1, 1}), values_of({1, 1}));
    store.put(kNs, Tokens(200, 1), std::vector<float>(200));
    EXPECT_EQ(store.n_entries(), 3u);
}

// The naive store compares with everything that was ever put.
TEST(PromptLogprobs, are_what_looking_at_all_prompts_would_find) {
    PromptLogprobs store(1 << 20);
    Random random(1);
    std::vector<Tokens> all;
    for (uint32_t i = 0; i < 2000; ++i) {
        const Tokens tokens = random_tokens(random, 1 + random.below(7), 3);
        size_t longest = 0;
        for (const Tokens& known : all) {
            size_t n = 0;
            while (n < known.size() && n < tokens.size() && known[n] == tokens[n]) ++n;
            longest = std::max(longest, n);
        }
        EXPECT_EQ(
            found(store, tokens),
            values_of({tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(longest)}));
        if (random.below(4) > 0) continue;
        store.put(kNs, tokens, values_of(tokens));
        all.push_back(tokens);
    }
}

}  // namespace
}  // namespace kvik
