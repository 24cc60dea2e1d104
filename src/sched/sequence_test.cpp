#include "sched/sequence.h"

#include <gtest/gtest.h>

#include <random>

namespace kvik {
namespace {

const KvSpec kSpec = {
    .n_layers = 1, .n_kv_heads = 1, .head_dim = 4, .block_tokens = 16, .type = KvType::f16};

struct Fixture {
    explicit Fixture(uint32_t n_blocks, const KvSpec& spec = kSpec)
        : storage(std::move(*KvStorage::open(spec, n_blocks))), pool(n_blocks) {}
    Sequence sequence(uint32_t n_prompt, uint32_t max_tokens) {
        return {BlockTable(pool, storage, max_tokens), std::vector<TokenId>(n_prompt, 1),
                max_tokens};
    }
    KvStorage storage;
    BlockPool pool;
};

TEST(Sequence, computed_catches_up_with_known_chunk_by_chunk) {
    Fixture f(4);
    Sequence s = f.sequence(20, 30);
    for (const uint32_t n : {7u, 12u, 1u}) {
        EXPECT_FALSE(s.has_caught_up());
        EXPECT_EQ(s.next(n).size(), n);
        ASSERT_TRUE(s.reserve(n));
        s.commit(n);
    }
    EXPECT_TRUE(s.has_caught_up());
    s.push(5);
    EXPECT_EQ(s.next(1)[0], 5);
    EXPECT_EQ(s.n_prompt(), 20u);
}

TEST(Sequence, gives_up_its_blocks_and_keeps_its_tokens) {
    Fixture f(4);
    Sequence s = f.sequence(20, 30);
    ASSERT_TRUE(s.reserve(20));
    s.commit(20);
    s.push(5);
    s.give_up();
    EXPECT_EQ(f.pool.n_free(), 4u);
    EXPECT_EQ(s.n_tokens(), 21u);
    EXPECT_EQ(s.n_computed(), 0u);
}

TEST(Sequence, forgets_picked_tokens_and_their_kv) {
    Fixture f(4);
    Sequence s = f.sequence(15, 30);
    for (TokenId token = 0; token < 5; ++token) s.push(token);
    ASSERT_TRUE(s.reserve(19));
    s.commit(19);
    s.truncate(16);
    EXPECT_EQ(s.n_tokens(), 16u);
    EXPECT_EQ(s.n_computed(), 16u);
    EXPECT_EQ(f.pool.n_free(), 3u);
    s.check_invariants();
}

// The scheduler counts blocks from a view; the table is the judge of what a reserve really takes.
TEST(Sequence, view_tells_the_scheduler_how_many_blocks_a_reserve_takes) {
    std::mt19937 generator(3);
    const auto below = [&](uint32_t n) { return static_cast<uint32_t>(generator()) % n; };
    KvSpec windowed = kSpec;
    windowed.n_layers = 3;
    windowed.groups = KvGroups::of(std::vector<uint32_t>{0, 20, 20});
    for (int round = 0; round < 500; ++round) {
        const KvSpec& spec = round % 2 ? windowed : kSpec;
        Fixture f(40, spec);
        Sequence s = f.sequence(100, 100);
        const uint32_t n_computed = below(60);
        ASSERT_TRUE(s.reserve(n_computed));
        s.commit(n_computed);
        std::optional<BlockTable> other;
        if (below(2)) other = s.table().fork();
        const uint32_t n_rows = below(40);
        const StepBudget budget = {.block_tokens = spec.block_tokens, .n_groups = spec.n_groups()};
        EXPECT_EQ(blocks_wanted(s.view(WantLogits::of_last_token), n_rows, budget),
                  s.table().n_blocks_needed(n_rows))
            << "seed 3, round " << round;
    }
}

TEST(Sequence, common_prefix_ends_at_the_first_difference_or_the_shorter_end) {
    const std::vector<TokenId> a = {1, 2, 3, 4}, b = {1, 2, 4}, c = {1, 2};
    EXPECT_EQ(common_prefix(a, b), 2u);
    EXPECT_EQ(common_prefix(a, c), 2u);
    EXPECT_EQ(common_prefix(a, a), 4u);
    EXPECT_EQ(common_prefix({}, a), 0u);
}

}  // namespace
}  // namespace kvik
