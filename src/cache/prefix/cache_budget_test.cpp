#include <gtest/gtest.h>

#include "cache/prefix/prefix_cache.h"
#include "cache/test_rig.h"

namespace kvik {

static const KvSpec kSpec{.n_layers = 30, .n_kv_heads = 3, .head_dim = 64};

static uint64_t index_bytes(const CacheBudget& budget) {
    return PrefixCache::index_bytes(
        {.n_blocks = budget.n_blocks, .n_offloaded = budget.n_offloaded, .block_tokens = 32});
}

TEST(CacheBudget, spends_nearly_all_of_the_bytes_and_never_more) {
    for (const uint64_t bytes : {1ull << 20, 3ull << 20, 1ull << 30, 1ull << 36}) {
        const auto budget = plan_cache(kSpec, bytes);
        ASSERT_TRUE(budget.has_value());
        EXPECT_LE(budget->n_bytes, bytes);
        EXPECT_LE(bytes - budget->n_bytes, 2 * kSpec.block_bytes());
        EXPECT_GE(budget->n_bytes, budget->n_blocks * kSpec.block_bytes() + index_bytes(*budget) +
                                       budget->logits_bytes);
    }
}

TEST(CacheBudget, holds_for_one_block_and_refuses_less_naming_both_numbers) {
    const uint64_t one = kSpec.block_bytes() + index_bytes({.n_blocks = 1}) + 8;
    const auto budget = plan_cache(kSpec, one);
    ASSERT_TRUE(budget.has_value());
    EXPECT_EQ(budget->n_blocks, 1u);

    const auto refused = plan_cache(kSpec, one - 1);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().kind, ErrorKind::memory);
    EXPECT_NE(refused.error().message.find(std::to_string(one - 1)), std::string::npos);
    EXPECT_NE(refused.error().message.find(std::to_string(one)), std::string::npos);
}

// Method: fill every block of the tree with one-token sequences, each in a namespace of its own
// (the most index that a block can come with), and store more logits than fit.
TEST(CacheBudget, bounds_what_the_tree_really_counts) {
    const TestRigOptions options{.n_blocks = 64, .logits_bytes = 5000};
    TestRig rig(options);
    for (uint32_t i = 0; i < options.n_blocks; ++i) {
        const NamespaceKey ns = namespace_key({std::to_string(i)});
        rig.publish(ns, {7});
        EXPECT_TRUE(rig.tree.store_logits(ns, Tokens{7}, std::vector<float>(101)));
        rig.tree.check_invariants();
    }
    EXPECT_EQ(rig.pool.n_free(), 0u);
    EXPECT_LE(rig.tree.n_bytes(), PrefixCache::index_bytes({.n_blocks = 64, .block_tokens = 16}) +
                                      options.logits_bytes);
}

}  // namespace kvik
