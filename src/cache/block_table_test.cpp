#include "cache/block_table.h"

#include <gtest/gtest.h>

#include "cache/test_rig.h"

namespace kvik {

static const NamespaceKey kNs = namespace_key({"test"});

TEST(BlockTable, reserves_all_or_nothing) {
    TestRig rig({.n_blocks = 2});
    BlockTable table = rig.computed(count_from(1, 10));
    EXPECT_FALSE(table.reserve(23));
    EXPECT_EQ(table.n_blocks(), 1u);
    EXPECT_EQ(table.n_writable(), 10u);
    EXPECT_TRUE(table.reserve(22));
    table.check_invariants();
}

TEST(BlockTable, takes_exactly_the_blocks_it_says_it_needs) {
    for (const uint32_t block_tokens : {16u, 32u, 64u})
        for (const uint32_t n_past : {0u, 1u, block_tokens - 1, block_tokens, block_tokens + 1})
            for (const uint32_t n : {0u, 1u, block_tokens - 1, block_tokens, block_tokens + 1}) {
                TestRig rig({.n_blocks = 8, .block_tokens = block_tokens});
                BlockTable table = rig.computed(count_from(1, n_past));
                const BlockTable twin = table.fork();
                const uint32_t n_needed = table.n_blocks_needed(n);
                const uint32_t n_free = rig.pool.n_free();
                ASSERT_TRUE(table.reserve(n));
                EXPECT_EQ(n_free - rig.pool.n_free(), n_needed)
                    << block_tokens << " " << n_past << " " << n;
                table.check_invariants();
            }
}

TEST(BlockTable, copies_a_shared_tail_before_its_first_write) {
    TestRig rig({.n_blocks = 4});
    BlockTable table = rig.computed(count_from(1, 20));
    BlockTable twin = table.fork();
    ASSERT_TRUE(rig.extend(twin, {100}));
    ASSERT_TRUE(rig.extend(table, {200, 201}));

    EXPECT_EQ(rig.read(twin), joined(count_from(1, 20), {100}));
    EXPECT_EQ(rig.read(table), joined(count_from(1, 20), {200, 201}));
    EXPECT_EQ(twin.ids()[0], table.ids()[0]);
    EXPECT_EQ(rig.pool.n_used(), 3u) << "the whole block stays shared";
}

TEST(BlockTable, does_not_copy_a_tail_that_nobody_else_owns) {
    TestRig rig({.n_blocks = 1});
    BlockTable table = rig.computed(count_from(1, 10));
    { const BlockTable twin = table.fork(); }
    EXPECT_TRUE(rig.extend(table, count_from(11, 6)));
    EXPECT_EQ(rig.read(table), count_from(1, 16));
}

TEST(BlockTable, does_not_copy_a_full_tail) {
    TestRig rig({.n_blocks = 2});
    BlockTable table = rig.computed(count_from(1, 16));
    const BlockTable twin = table.fork();
    EXPECT_EQ(table.n_blocks_needed(16), 1u);
    EXPECT_TRUE(rig.extend(table, count_from(17, 16)));
}

TEST(BlockTable, fork_takes_no_block_and_shares_no_unused_reserve) {
    TestRig rig({.n_blocks = 4});
    BlockTable table = rig.computed(count_from(1, 16));
    ASSERT_TRUE(table.reserve(20));
    const uint32_t n_free = rig.pool.n_free();
    const BlockTable twin = table.fork();
    EXPECT_EQ(rig.pool.n_free(), n_free);
    EXPECT_EQ(twin.n_blocks(), 1u);
    twin.check_invariants();
}

TEST(BlockTable, truncate_gives_back_every_block_past_the_last_token) {
    TestRig rig({.n_blocks = 4});
    BlockTable table = rig.computed(count_from(1, 33));
    table.truncate(32);
    EXPECT_EQ(rig.pool.n_used(), 2u);
    ASSERT_TRUE(table.reserve(30));
    table.truncate(32);
    EXPECT_EQ(rig.pool.n_used(), 2u);
    table.truncate(0);
    EXPECT_EQ(rig.pool.n_used(), 0u);
    rig.pool.check_invariants();
}

TEST(BlockTable, truncate_into_a_shared_block_leaves_the_other_owner_its_rows) {
    TestRig rig({.n_blocks = 4});
    BlockTable table = rig.computed(count_from(1, 16));
    const BlockTable twin = table.fork();
    table.truncate(5);
    ASSERT_TRUE(rig.extend(table, {300}));
    EXPECT_EQ(rig.read(twin), count_from(1, 16));
    EXPECT_EQ(rig.read(table), joined(count_from(1, 5), {300}));
}

TEST(BlockTable, a_refused_reserve_leaves_a_shared_tail_shared) {
    TestRig rig({.n_blocks = 1});
    BlockTable table = rig.computed(count_from(1, 3));
    const BlockTable twin = table.fork();
    EXPECT_EQ(table.n_blocks_needed(1), 1u);
    EXPECT_FALSE(table.reserve(1));
    EXPECT_EQ(table.ids()[0], twin.ids()[0]);
    table.check_invariants();
}

TEST(BlockTable, adopt_takes_no_block_until_the_first_write_into_a_partly_matching_tail) {
    TestRig rig({.n_blocks = 4});
    rig.publish(kNs, count_from(1, 20));
    BlockTable table = rig.table();
    table.adopt(rig.tree.match(kNs, joined(count_from(1, 18), {500})));
    EXPECT_EQ(table.n_tokens(), 18u);
    EXPECT_EQ(rig.pool.n_used(), 2u);

    ASSERT_TRUE(rig.extend(table, {500}));
    EXPECT_EQ(rig.pool.n_used(), 3u);
    EXPECT_EQ(rig.read(table), joined(count_from(1, 18), {500}));
    EXPECT_EQ(rig.read(rig.tree.match(kNs, count_from(1, 20))), count_from(1, 20));
    table.check_invariants();
}

TEST(BlockTable, remap_frees_the_blocks_of_a_prefix_that_was_computed_twice) {
    TestRig rig({.n_blocks = 8});
    const Tokens tokens = count_from(1, 40);
    BlockTable first = rig.computed(tokens);
    BlockTable second = rig.computed(tokens);
    rig.tree.insert(kNs, tokens, first.group_blocks());
    EXPECT_EQ(rig.tree.insert(kNs, tokens, second.group_blocks()).n_duplicates, 2u);
    EXPECT_EQ(rig.pool.n_used(), 6u);

    second.remap(rig.tree.match(kNs, tokens));
    EXPECT_EQ(rig.pool.n_used(), 4u) << "two whole blocks are shared, each has its own tail";
    EXPECT_EQ(rig.read(second), tokens);
    ASSERT_TRUE(rig.extend(second, {700}));
    EXPECT_EQ(rig.read(first), tokens);
    second.check_invariants();
}

TEST(BlockTableDeath, stops_a_write_that_was_not_reserved) {
    TestRig rig({.n_blocks = 2});
    BlockTable table = rig.computed(count_from(1, 3));
    EXPECT_DEATH(table.append(1), "only reserved positions are written");
}

TEST(BlockTableDeath, stops_a_write_that_was_reserved_before_a_truncate) {
    TestRig rig({.n_blocks = 2});
    BlockTable table = rig.computed(count_from(1, 3));
    ASSERT_TRUE(table.reserve(5));
    table.truncate(2);
    EXPECT_DEATH(table.append(1), "only reserved positions are written");
}

TEST(BlockTableDeath, stops_a_write_into_a_block_that_was_shared_after_the_reserve) {
    TestRig rig({.n_blocks = 2});
    BlockTable table = rig.computed(count_from(1, 3));
    ASSERT_TRUE(table.reserve(1));
    const BlockTable twin = table.fork();
    EXPECT_DEATH(table.append(1), "a block that is written has one owner");
}

}  // namespace kvik
