// Laws of the logits that the prefix cache keeps: a prompt cached to its end needs no forward pass.
#include <gtest/gtest.h>

#include "cache/test_rig.h"

namespace kvik {

static const NamespaceKey kNs = namespace_key({"test"});

static std::vector<float> row_of(float value) {
    return std::vector<float>(50, value);
}

static bool store(TestRig& rig, const Tokens& tokens, float value) {
    return rig.tree.store_logits(kNs, tokens, row_of(value));
}
// The value stored for exactly these tokens; -1: nothing.
static float stored(const TestRig& rig, const Tokens& tokens) {
    const PrefixHit hit = rig.tree.match(kNs, tokens);
    return hit.logits.empty() ? -1.0f : hit.logits[0];
}

TEST(PrefixLogits, belong_to_the_exact_end_of_a_prompt) {
    for (const size_t n : {1u, 15u, 16u, 17u, 32u}) {
        TestRig rig({});
        const Tokens tokens = count_from(1, n);
        rig.publish(kNs, joined(tokens, {900}));
        ASSERT_TRUE(store(rig, tokens, 3));
        EXPECT_EQ(stored(rig, tokens), 3.0f);
        EXPECT_EQ(stored(rig, joined(tokens, {900})), -1.0f);
        EXPECT_EQ(stored(rig, joined(tokens, {901})), -1.0f);
        EXPECT_EQ(stored(rig, first_of(tokens, n - 1)), -1.0f);
    }
}

TEST(PrefixLogits, are_refused_for_tokens_that_are_not_cached_to_their_end) {
    TestRig rig({});
    rig.publish(kNs, count_from(1, 20));
    EXPECT_FALSE(store(rig, count_from(1, 21), 1));
    EXPECT_FALSE(store(rig, {}, 1));
    EXPECT_FALSE(store(rig, {500}, 1));
}

TEST(PrefixLogits, survive_the_growth_of_their_tail) {
    TestRig rig({});
    rig.publish(kNs, count_from(1, 18));
    ASSERT_TRUE(store(rig, count_from(1, 18), 4));
    rig.publish(kNs, count_from(1, 40));
    EXPECT_EQ(stored(rig, count_from(1, 18)), 4.0f);
}

TEST(PrefixLogits, are_found_whatever_siblings_come_and_go) {
    const Tokens common = count_from(100, 5);
    for (const TokenId first : {1, 2, 3})
        for (const TokenId second : {1, 2, 3}) {
            TestRig rig({});
            rig.publish(kNs, joined(common, {2}));
            ASSERT_TRUE(store(rig, common, 6));
            rig.publish(kNs, joined(common, {first}));
            rig.publish(kNs, joined(common, {second}));
            EXPECT_EQ(stored(rig, common), 6.0f);
            while (rig.tree.stats().cached_blocks > 0) {
                rig.tree.check_invariants();
                EXPECT_EQ(stored(rig, common), 6.0f) << first << " " << second;
                rig.tree.evict(1);
            }
            EXPECT_EQ(stored(rig, common), -1.0f);
            rig.tree.check_invariants();
        }
}

TEST(PrefixLogits, go_with_the_last_block_that_holds_their_last_token) {
    TestRig rig({});
    const uint64_t empty = rig.tree.n_bytes();
    rig.publish(kNs, count_from(1, 20));
    rig.publish(kNs, joined(count_from(1, 17), {800}));
    ASSERT_TRUE(store(rig, count_from(1, 20), 1));
    ASSERT_TRUE(store(rig, count_from(1, 17), 2));
    rig.tree.use(rig.tree.match(kNs, joined(count_from(1, 17), {800})));
    rig.tree.evict(1);
    rig.publish(kNs, count_from(1, 20));
    EXPECT_EQ(stored(rig, count_from(1, 20)), -1.0f);
    EXPECT_EQ(stored(rig, count_from(1, 17)), 2.0f);
    rig.tree.evict(100);
    EXPECT_EQ(rig.tree.n_bytes(), empty);
}

TEST(PrefixLogits, stay_within_their_budget_the_least_recently_used_making_room) {
    TestRig rig({.logits_bytes = 2 * (50 * 4 + 160)});
    for (const TokenId i : {1, 2, 3}) rig.publish(kNs, {i});
    ASSERT_TRUE(store(rig, {1}, 1));
    ASSERT_TRUE(store(rig, {2}, 2));
    rig.tree.use(rig.tree.match(kNs, Tokens{1}));
    ASSERT_TRUE(store(rig, {3}, 3));
    EXPECT_EQ(stored(rig, {1}), 1.0f);
    EXPECT_EQ(stored(rig, {2}), -1.0f);
    EXPECT_EQ(stored(rig, {3}), 3.0f);
    EXPECT_EQ(rig.tree.stats().logits_hits, 1u);
    rig.tree.check_invariants();
}

}  // namespace kvik
