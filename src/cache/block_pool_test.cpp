#include "cache/block_pool.h"

#include <gtest/gtest.h>

#include <set>

namespace kvik {

TEST(BlockPool, takes_a_block_back_only_when_its_last_owner_releases) {
    BlockPool pool(1);
    std::optional<BlockRef> first = pool.take();
    std::optional<BlockRef> second = first->share();

    first.reset();
    EXPECT_FALSE(pool.take().has_value());
    second.reset();
    EXPECT_TRUE(pool.take().has_value());
    pool.check_invariants();
}

TEST(BlockPool, hands_out_every_block_once_and_then_nothing) {
    BlockPool pool(5);
    std::vector<BlockRef> owned;
    std::set<BlockId> ids;
    while (std::optional<BlockRef> block = pool.take()) {
        ids.insert(block->id());
        owned.push_back(std::move(*block));
        EXPECT_EQ(pool.n_free() + pool.n_used(), pool.n_blocks());
    }
    EXPECT_EQ(ids.size(), 5u);
    EXPECT_EQ(pool.n_used(), 5u);
}

TEST(BlockPool, hands_out_the_most_recently_freed_block_first) {
    BlockPool pool(3);
    std::optional<BlockRef> a = pool.take();
    std::optional<BlockRef> b = pool.take();
    const BlockId id = a->id();
    b.reset();
    a.reset();
    EXPECT_EQ(pool.take()->id(), id);
}

TEST(BlockPool, counts_handles_not_moves) {
    BlockPool pool(2);
    BlockRef a = *pool.take();
    BlockRef b = a.share();
    EXPECT_TRUE(a.is_shared());
    EXPECT_EQ(pool.n_handles(), 2u);

    BlockRef c = std::move(b);
    EXPECT_EQ(pool.n_handles(), 2u);
    c = *pool.take();
    EXPECT_FALSE(a.is_shared());
    EXPECT_EQ(pool.n_handles(), 2u);
    pool.check_invariants();
}

TEST(BlockPoolDeath, stops_when_an_owner_outlives_the_pool) {
    EXPECT_DEATH(
        {
            auto pool = std::make_unique<BlockPool>(1);
            const BlockRef kept = *pool->take();
            pool.reset();
        },
        "outlives every owner");
}

}  // namespace kvik
