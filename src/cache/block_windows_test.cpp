// Tables of models with windows: what a window has passed by is released, the rest is as without.
#include <gtest/gtest.h>

#include <algorithm>

#include "cache/block_table.h"
#include "cache/test_rig.h"

namespace kvik {
namespace {

const NamespaceKey kNs = namespace_key({"test"});
constexpr uint32_t kWindow = 40;

// Layer 0 sees all, layer 1 the last 40 positions: two groups of a layer each.
TestRigOptions windows(uint32_t n_blocks, uint32_t block_tokens = 16) {
    return {.n_blocks = n_blocks, .block_tokens = block_tokens, .windows = {0, kWindow}};
}

TEST(BlockWindows, a_place_has_a_block_of_each_group) {
    TestRig rig(windows(8));
    BlockTable table = rig.computed(count_from(1, 20));
    EXPECT_EQ(table.n_groups(), 2u);
    EXPECT_EQ(table.n_logical_blocks(), 2u);
    EXPECT_EQ(table.n_blocks(), 4u);
    EXPECT_EQ(rig.pool.n_used(), 4u);
    EXPECT_EQ(rig.read(table), count_from(1, 20));
    EXPECT_FALSE(table.reserve(16 * 3)) << "4 blocks are left, two block_indices";
    EXPECT_TRUE(table.reserve(12 + 16 * 2));
    table.check_invariants();
}

TEST(BlockWindows, blocks_behind_the_window_and_what_may_be_rewound_are_released) {
    for (const uint32_t block : {16u, 32u, 64u}) {
        TestRig rig(windows(200, block));
        BlockTable table = rig.table();
        for (uint32_t n = 1; n <= 400; ++n) {
            ASSERT_TRUE(rig.extend(table, {static_cast<TokenId>(n)}));
            table.release_behind_windows();
            EXPECT_EQ(table.group_blocks(0).first, 0u);
            const uint32_t back = n - std::min(n, kRewindTokens);
            EXPECT_EQ(table.group_blocks(1).first, first_needed(kWindow, back) / block);
            EXPECT_EQ(rig.pool.n_used(), table.n_blocks());
            table.check_invariants();
        }
        EXPECT_EQ(rig.read(table), count_from(1, 400));
        EXPECT_LE(table.group_blocks(1).refs.size(), (kWindow + kRewindTokens) / block + 2);
    }
}

TEST(BlockWindows, a_long_chunk_holds_its_blocks_until_the_next_reserve) {
    TestRig rig(windows(64));
    BlockTable table = rig.computed(count_from(1, 320));
    EXPECT_EQ(rig.pool.n_used(), 40u);
    EXPECT_EQ(table.group_blocks(1).first, 0u) << "all of it can still be published";
    ASSERT_TRUE(table.reserve(1));
    EXPECT_EQ(rig.pool.n_used(), 21u + 8u);
    EXPECT_EQ(rig.read(table), count_from(1, 320));
}

TEST(BlockWindows, takes_exactly_the_blocks_it_says_it_needs) {
    for (const uint32_t n_past : {0u, 1u, 15u, 16u, 17u, 130u, 160u})
        for (const uint32_t n : {0u, 1u, 15u, 16u, 17u}) {
            TestRig rig(windows(40));
            BlockTable table = rig.computed(count_from(1, n_past));
            table.release_behind_windows();
            const BlockTable twin = table.fork();
            const uint32_t n_needed = table.n_blocks_needed(n);
            const uint32_t n_free = rig.pool.n_free();
            ASSERT_TRUE(table.reserve(n));
            EXPECT_EQ(n_free - rig.pool.n_free(), n_needed) << n_past << " " << n;
            table.check_invariants();
            twin.check_invariants();
        }
}

TEST(BlockWindows, a_shared_tail_is_copied_in_the_groups_that_share_it) {
    TestRig rig(windows(32));
    BlockTable table = rig.computed(count_from(1, 150));
    BlockTable twin = table.fork();
    EXPECT_EQ(twin.n_shared_tails(), 2u);
    ASSERT_TRUE(rig.extend(twin, {700}));
    EXPECT_EQ(table.n_shared_tails(), 0u);
    ASSERT_TRUE(rig.extend(table, {800}));
    EXPECT_EQ(rig.read(twin), joined(count_from(1, 150), {700}));
    EXPECT_EQ(rig.read(table), joined(count_from(1, 150), {800}));
}

TEST(BlockWindows, go_back_as_far_as_every_group_has_its_window) {
    TestRig rig(windows(64));
    for (uint32_t n = 1; n <= 300; n += 23) {
        BlockTable table = rig.computed(count_from(1, n));
        table.release_behind_windows();
        EXPECT_TRUE(table.can_truncate(0));
        EXPECT_FALSE(table.can_truncate(n + 1));
        for (uint32_t back = 1; back <= std::min(n, kRewindTokens); ++back)
            EXPECT_TRUE(table.can_truncate(n - back)) << n << " " << back;
        const uint32_t target = n - std::min(n, kRewindTokens);
        table.truncate(target);
        table.check_invariants();
        EXPECT_EQ(rig.pool.n_used(), table.n_blocks());
        ASSERT_TRUE(rig.extend(table, count_from(500, 70)));
        EXPECT_EQ(rig.read(table), joined(count_from(1, target), count_from(500, 70)));
    }
}

TEST(BlockWindows, start_anew_from_nothing_after_any_length) {
    TestRig rig(windows(40));
    BlockTable table = rig.computed(count_from(1, 200));
    table.release_behind_windows();
    EXPECT_FALSE(table.can_truncate(60));
    table.truncate(0);
    EXPECT_EQ(rig.pool.n_used(), 0u);
    ASSERT_TRUE(rig.extend(table, count_from(300, 30)));
    EXPECT_EQ(rig.read(table), count_from(300, 30));
    table.check_invariants();
}

TEST(BlockWindows, adopt_takes_up_a_hit_that_has_only_the_window_of_some_groups) {
    TestRig rig(windows(64));
    rig.publish(kNs, count_from(1, 300));
    PrefixHit hit = rig.tree.match(kNs, count_from(1, 300));
    ASSERT_EQ(hit.n_tokens, 300u);
    ASSERT_GT(hit.groups[1].first, 0u);
    BlockTable table = rig.table();
    table.adopt(std::move(hit));
    table.check_invariants();
    ASSERT_TRUE(rig.extend(table, count_from(600, 100)));
    EXPECT_EQ(rig.read(table), joined(count_from(1, 300), count_from(600, 100)));
    table.check_invariants();
}

TEST(BlockWindows, remap_frees_what_a_hit_names_in_each_group) {
    TestRig rig(windows(128));
    const Tokens tokens = count_from(1, 250);
    BlockTable first = rig.computed(tokens);
    BlockTable second = rig.computed(tokens);
    rig.tree.insert(kNs, tokens, first.group_blocks());
    const uint32_t n_before = rig.pool.n_used();
    second.remap(rig.tree.match(kNs, tokens));
    EXPECT_EQ(n_before - rig.pool.n_used(), 15u + 2u)
        << "block_indices 0 to 14, and 13 to 14 in the window";
    EXPECT_EQ(rig.read(second), tokens);
    second.check_invariants();
}

TEST(BlockWindowsDeath, stop_a_way_back_into_what_was_released) {
    TestRig rig(windows(64));
    BlockTable table = rig.computed(count_from(1, 300));
    table.release_behind_windows();
    EXPECT_DEATH(table.truncate(100), "to where its windows still are");
}

}  // namespace
}  // namespace kvik
