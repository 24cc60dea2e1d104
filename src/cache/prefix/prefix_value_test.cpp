// What the value of a block decides: short calls on the side (titles, summaries) pass through a
// full cache, and the long conversation that was idle meanwhile is still there.
#include <gtest/gtest.h>

#include "cache/test_rig.h"

namespace kvik {
namespace {

constexpr uint32_t kBlocks = 50, kBlock = 16, kLong = 24, kSideCalls = 40;

// Tokens of the conversation that can be found after the side calls.
uint32_t left_after_side_calls(EvictionPolicy policy) {
    TestRig rig({.n_blocks = kBlocks,
                 .block_tokens = kBlock,
                 .policy = policy,
                 // as a model's: what is deep costs more
                 .recompute_ms = [](uint32_t depth, uint32_t n_tokens) {
                     return n_tokens * (1 + depth / 100.0);
                 }});
    const NamespaceKey ns = namespace_key({"m"});
    const Tokens conversation = count_from(1, kLong * kBlock);
    for (uint32_t turn = 1; turn <= 4; ++turn) {
        const Tokens so_far = first_of(conversation, turn * kLong * kBlock / 4);
        rig.tree.use(rig.tree.match(ns, so_far));
        rig.publish(ns, so_far);
    }
    for (uint32_t i = 0; i < kSideCalls; ++i) {
        while (rig.pool.n_free() < 2) EXPECT_GT(rig.tree.evict(1), 0u);
        rig.publish(ns, joined({static_cast<TokenId>(500 + i)}, count_from(600, 2 * kBlock - 1)));
    }
    return rig.tree.match(ns, conversation).n_tokens;
}

TEST(EvictionByValue, keeps_the_long_conversation_when_side_calls_pass_by) {
    EXPECT_EQ(left_after_side_calls(EvictionPolicy::cost), kLong * kBlock);
}

TEST(EvictionByValue, is_what_recency_does_not_do) {
    EXPECT_LT(left_after_side_calls(EvictionPolicy::lru), kLong * kBlock / 2);
}

}  // namespace
}  // namespace kvik
