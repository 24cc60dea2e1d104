#include "cache/prefix/prefix_cache.h"

#include <gtest/gtest.h>

#include "cache/test_rig.h"

namespace kvik {

static const NamespaceKey kNs = namespace_key({"test"});

static uint32_t matched(const TestRig& rig, const Tokens& tokens) {
    return rig.tree.match(kNs, tokens).n_tokens;
}

// ---- matching ----

TEST(PrefixCache, finds_nothing_in_another_namespace) {
    TestRig rig({});
    rig.publish(kNs, count_from(1, 40));
    EXPECT_EQ(rig.tree.match(namespace_key({"other"}), count_from(1, 40)).n_tokens, 0u);
}

TEST(PrefixCache, keeps_the_same_tokens_of_two_namespaces_apart) {
    TestRig rig({});
    const NamespaceKey other = namespace_key({"other"});
    rig.publish(kNs, count_from(1, 20));
    rig.publish(other, count_from(1, 20));
    EXPECT_EQ(rig.pool.n_used(), 4u);
    EXPECT_NE(rig.tree.match(kNs, count_from(1, 20)).groups[0].blocks[0].id(),
              rig.tree.match(other, count_from(1, 20)).groups[0].blocks[0].id());
}

TEST(PrefixCache, an_empty_prompt_finds_and_publishes_nothing) {
    TestRig rig({});
    EXPECT_EQ(rig.tree.insert(kNs, {}, {}).n_new, 0u);
    EXPECT_EQ(matched(rig, {}), 0u);
    rig.publish(kNs, {5});
    const PrefixHit hit = rig.tree.match(kNs, {});
    EXPECT_EQ(hit.n_tokens, 0u);
    EXPECT_TRUE(hit.groups[0].blocks.empty());
    EXPECT_FALSE(rig.tree.pin(hit).has_value());
    rig.tree.check_invariants();
}

TEST(PrefixCache, a_prompt_of_one_token_is_found_whole) {
    TestRig rig({});
    rig.publish(kNs, {5});
    EXPECT_EQ(matched(rig, {5}), 1u);
    EXPECT_EQ(matched(rig, {6}), 0u);
    EXPECT_EQ(matched(rig, {5, 6}), 1u);
}

class PrefixLengths : public testing::TestWithParam<uint32_t> {};

// Sweep of the published length around the block size, and of the first differing token over all
// logical blocks: what is found is exactly what is common, and its rows are those tokens' rows.
TEST_P(PrefixLengths, match_up_to_the_first_differing_token_wherever_it_is) {
    const uint32_t block = GetParam();
    for (const uint32_t n :
         {1u, block - 1, block, block + 1, 2 * block - 1, 2 * block, 2 * block + 1}) {
        TestRig rig({.n_blocks = 8, .block_tokens = block});
        const Tokens tokens = count_from(1, n);
        rig.publish(kNs, tokens);
        for (uint32_t at = 0; at < n; ++at) {
            Tokens asked = joined(tokens, {900});
            asked[at] = 999;
            const PrefixHit hit = rig.tree.match(kNs, asked);
            EXPECT_EQ(hit.n_tokens, at);
            EXPECT_EQ(hit.tail_rows, at % block);
            EXPECT_EQ(hit.groups[0].blocks.size(), (at + block - 1) / block);
            EXPECT_EQ(rig.read(hit), first_of(tokens, at));
        }
        EXPECT_EQ(matched(rig, tokens), n) << "a prompt equal to a whole cached path";
        EXPECT_EQ(matched(rig, joined(tokens, {900})), n);
        for (uint32_t shorter = 0; shorter < n; ++shorter)
            EXPECT_EQ(matched(rig, first_of(tokens, shorter)), shorter);
    }
}
INSTANTIATE_TEST_SUITE_P(PrefixCache, PrefixLengths, testing::Values(16, 32, 64));

TEST(PrefixCache, never_descends_past_a_partly_matching_edge) {
    TestRig rig({});
    rig.publish(kNs, joined(count_from(1, 16), count_from(100, 16)));
    Tokens asked = joined(count_from(1, 16), count_from(100, 16));
    asked[15] = 500;  // what follows matches the child of the edge again, at another position's KV
    EXPECT_EQ(matched(rig, asked), 15u);
    Tokens shorter = joined(count_from(1, 10), count_from(100, 16));
    EXPECT_EQ(matched(rig, shorter), 10u);
}

TEST(PrefixCache, sequences_that_diverge_inside_a_block_each_have_a_block_and_the_best_one_is_hit) {
    TestRig rig({});
    const Tokens common = count_from(1, 20);
    rig.publish(kNs, joined(common, {50, 51, 52}));
    rig.publish(kNs, joined(common, {50, 61, 62}));
    rig.publish(kNs, joined(common, {40}));
    EXPECT_EQ(rig.pool.n_used(), 4u) << "the whole block is shared, the tails are not";
    for (const Tokens& tail : {Tokens{50, 51, 52}, Tokens{50, 61, 62}, Tokens{40}, Tokens{50, 61},
                               Tokens{50}, Tokens{}}) {
        const PrefixHit hit = rig.tree.match(kNs, joined(joined(common, tail), {777}));
        EXPECT_EQ(rig.read(hit), joined(common, tail));
    }
    rig.tree.check_invariants();
}

TEST(PrefixCache, find_changes_nothing) {
    TestRig rig({.n_blocks = 2});
    rig.publish(kNs, {1});
    rig.publish(kNs, {2});
    for (int i = 0; i < 3; ++i) EXPECT_EQ(matched(rig, {1}), 1u);
    rig.tree.evict(1);
    EXPECT_EQ(matched(rig, {1}), 0u) << "looking does not make recent";
    EXPECT_EQ(matched(rig, {2}), 1u);
}

// ---- publishing ----

TEST(PrefixCache, the_first_insert_wins_and_duplicates_stay_the_callers) {
    TestRig rig({});
    const Tokens tokens = count_from(1, 20);
    const BlockTable first = rig.computed(tokens);
    EXPECT_EQ(rig.tree.insert(kNs, tokens, first.group_blocks()).n_new, 2u);
    {
        const BlockTable second = rig.computed(tokens);
        const InsertReport report = rig.tree.insert(kNs, tokens, second.group_blocks());
        EXPECT_EQ(report.n_new, 0u);
        EXPECT_EQ(report.n_duplicates, 1u);
        EXPECT_EQ(rig.tree.match(kNs, tokens).groups[0].blocks[0].id(), first.ids()[0]);
        EXPECT_EQ(rig.read(second), tokens);
    }
    EXPECT_EQ(rig.pool.n_used(), 2u);
}

TEST(PrefixCache, inserting_what_was_adopted_is_no_duplicate) {
    TestRig rig({});
    rig.publish(kNs, count_from(1, 20));
    BlockTable table = rig.table();
    table.adopt(rig.tree.match(kNs, count_from(1, 20)));
    EXPECT_EQ(rig.tree.insert(kNs, count_from(1, 20), table.group_blocks()).n_duplicates, 0u);
}

TEST(PrefixCache, a_longer_fill_of_a_tail_replaces_the_shorter) {
    TestRig rig({});
    BlockTable table = rig.computed(count_from(1, 18));
    rig.tree.insert(kNs, count_from(1, 18), table.group_blocks());
    ASSERT_TRUE(rig.extend(table, count_from(19, 5)));
    EXPECT_EQ(rig.pool.n_used(), 3u);
    EXPECT_EQ(rig.tree.insert(kNs, count_from(1, 23), table.group_blocks()).n_new, 1u);
    EXPECT_EQ(rig.pool.n_used(), 2u) << "the shorter tail is freed";
    EXPECT_EQ(rig.read(rig.tree.match(kNs, count_from(1, 30))), count_from(1, 23));
    EXPECT_EQ(rig.tree.stats().cached_tokens, 23u);
    rig.tree.check_invariants();
}

TEST(PrefixCache, a_shorter_fill_of_a_tail_changes_nothing) {
    TestRig rig({});
    rig.publish(kNs, count_from(1, 23));
    const BlockId tail = rig.tree.match(kNs, count_from(1, 23)).groups[0].blocks[1].id();
    rig.publish(kNs, count_from(1, 18));
    EXPECT_EQ(rig.tree.match(kNs, count_from(1, 18)).groups[0].blocks[1].id(), tail);
    EXPECT_EQ(rig.tree.stats().cached_tokens, 23u);
}

TEST(PrefixCache, a_published_block_is_never_written_by_its_former_owner) {
    TestRig rig({.n_blocks = 16});
    BlockTable table = rig.computed(count_from(1, 18));
    rig.tree.insert(kNs, count_from(1, 18), table.group_blocks());
    const PrefixHit published = rig.tree.match(kNs, count_from(1, 18));
    ASSERT_TRUE(rig.extend(table, {500}));  // on in the tail
    EXPECT_NE(table.ids()[1], published.groups[0].blocks[1].id());
    table.truncate(5);  // and back into the whole block
    ASSERT_TRUE(rig.extend(table, {600}));
    EXPECT_NE(table.ids()[0], published.groups[0].blocks[0].id());
    EXPECT_EQ(rig.read(published), count_from(1, 18));
}

TEST(PrefixCache, publishes_only_the_tokens_it_is_given) {
    TestRig rig({});
    BlockTable table = rig.computed(joined(count_from(1, 18), {700, 701}));  // two draft tokens
    rig.tree.insert(kNs, count_from(1, 18), table.group_blocks());
    EXPECT_EQ(matched(rig, joined(count_from(1, 18), {700, 701})), 18u);
    table.truncate(18);
    ASSERT_TRUE(rig.extend(table, {800}));
    EXPECT_EQ(rig.read(rig.tree.match(kNs, count_from(1, 18))), count_from(1, 18));
}

// ---- evicting ----

TEST(PrefixCache, evicts_the_least_recently_used_path_from_its_end) {
    TestRig rig({.n_blocks = 16});
    const Tokens old = count_from(1, 48), recent = count_from(200, 48);
    rig.publish(kNs, recent);
    rig.publish(kNs, old);
    rig.tree.use(rig.tree.match(kNs, recent));
    for (const uint32_t left : {32u, 16u, 0u}) {
        EXPECT_EQ(rig.tree.evict(1), 1u);
        EXPECT_EQ(matched(rig, old), left);
        EXPECT_EQ(matched(rig, recent), 48u);
        rig.tree.check_invariants();
    }
    EXPECT_EQ(rig.tree.evict(1), 1u);
    EXPECT_EQ(matched(rig, recent), 32u);
}

TEST(PrefixCache, a_path_that_went_on_is_evicted_from_its_new_end) {
    TestRig rig({.n_blocks = 16});
    rig.publish(kNs, count_from(1, 16));
    rig.publish(kNs, count_from(1, 32));
    rig.tree.check_invariants();
    EXPECT_EQ(rig.tree.evict(1), 1u);
    EXPECT_EQ(matched(rig, count_from(1, 32)), 16u);
}

TEST(PrefixCache, evicts_all_when_asked_for_more_than_there_is_and_keeps_no_bytes) {
    TestRig rig({.n_blocks = 16});
    const uint64_t empty = rig.tree.n_bytes();
    rig.publish(kNs, count_from(1, 50));
    rig.publish(namespace_key({"other"}), count_from(1, 20));
    rig.tree.store_logits(kNs, count_from(1, 50), std::vector<float>(10));
    EXPECT_EQ(rig.tree.evict(100), 6u);
    EXPECT_EQ(rig.pool.n_used(), 0u);
    EXPECT_EQ(rig.tree.n_bytes(), empty);
    EXPECT_EQ(rig.tree.stats().evicted_blocks, 6u);
    rig.tree.check_invariants();
}

TEST(PrefixCache, passes_over_what_a_live_sequence_or_a_hit_shares) {
    TestRig rig({});
    rig.publish(kNs, count_from(1, 20));
    rig.publish(kNs, count_from(300, 20));
    BlockTable table = rig.table();
    table.adopt(rig.tree.match(kNs, count_from(1, 20)));
    EXPECT_EQ(rig.tree.evict(100), 2u);
    EXPECT_EQ(matched(rig, count_from(1, 20)), 20u);
    table.truncate(0);
    EXPECT_EQ(rig.tree.evict(100), 2u);
    rig.tree.check_invariants();
}

TEST(PrefixCache, a_pin_guards_its_path_and_nothing_else) {
    TestRig rig({.n_blocks = 16});
    const Tokens guarded = count_from(1, 32);
    rig.publish(kNs, joined(guarded, count_from(100, 20)));
    rig.publish(kNs, count_from(300, 20));
    {
        const std::optional<Pin> pin = rig.tree.pin(rig.tree.match(kNs, guarded));
        ASSERT_TRUE(pin.has_value());
        EXPECT_EQ(rig.tree.evict(100), 4u);
        EXPECT_EQ(matched(rig, joined(guarded, {100})), 32u);
        rig.tree.check_invariants();
    }
    EXPECT_EQ(rig.tree.evict(100), 2u);
}

TEST(PrefixCache, a_path_stays_until_its_last_pin_goes) {
    TestRig rig({});
    rig.publish(kNs, {1, 2});
    std::optional<Pin> first = rig.tree.pin(rig.tree.match(kNs, Tokens{1, 2}));
    std::optional<Pin> second = rig.tree.pin(rig.tree.match(kNs, Tokens{1, 2}));
    Pin moved = std::move(*first);
    first.reset();
    second.reset();
    EXPECT_EQ(rig.tree.evict(1), 0u);
    rig.publish(kNs, {7});
    moved = *rig.tree.pin(rig.tree.match(kNs, Tokens{7}));
    EXPECT_EQ(rig.tree.evict(2), 1u);
    EXPECT_EQ(matched(rig, {7}), 1u);
}

TEST(PrefixCache, letting_go_of_shared_leaves_saves_their_owner_a_copy) {
    TestRig rig({.n_blocks = 2});
    BlockTable table = rig.computed(count_from(1, 20));
    rig.tree.insert(kNs, count_from(1, 20), table.group_blocks());
    EXPECT_FALSE(table.reserve(1)) << "the tail is shared and there is no block for its copy";
    EXPECT_EQ(rig.tree.evict(1), 0u);
    EXPECT_EQ(rig.tree.release_shared(1), 1u);
    EXPECT_EQ(table.n_blocks_needed(1), 0u);
    EXPECT_TRUE(rig.extend(table, {21}));
    EXPECT_EQ(matched(rig, count_from(1, 20)), 16u);
    rig.tree.check_invariants();
}

TEST(PrefixCache, recognises_a_hit_whose_node_is_gone) {
    TestRig rig({});
    rig.publish(kNs, {1, 2});
    PrefixHit hit = rig.tree.match(kNs, Tokens{1, 2});
    rig.tree.release_shared(1);
    rig.publish(kNs, {8, 9});  // another node in the same logical block
    EXPECT_FALSE(rig.tree.pin(hit).has_value());
    rig.tree.use(hit);
    EXPECT_EQ(rig.read(hit), (Tokens{1, 2})) << "its blocks are its own";
    rig.tree.check_invariants();
}

TEST(PrefixCacheDeath, stops_when_a_pin_outlives_the_tree) {
    EXPECT_DEATH(
        {
            auto rig = std::make_unique<TestRig>(TestRigOptions{});
            rig->publish(kNs, {1});
            const std::optional<Pin> pin = rig->tree.pin(rig->tree.match(kNs, Tokens{1}));
            rig.reset();
        },
        "outlives its pins");
}

// ---- sizes ----

TEST(PrefixCache, holds_a_conversation_of_many_thousand_blocks) {
    constexpr uint32_t kBlocks = 20'000;
    TestRig rig({.n_blocks = kBlocks});
    Tokens tokens(kBlocks * 16);
    for (size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<TokenId>(i % 7);
    rig.publish(kNs, tokens);
    EXPECT_EQ(matched(rig, tokens), tokens.size());
    rig.tree.check_invariants();
    EXPECT_EQ(rig.tree.evict(kBlocks), kBlocks);
}

TEST(PrefixCache, holds_many_thousand_sequences_side_by_side) {
    constexpr TokenId kSequences = 900;
    TestRig rig({.n_blocks = 2 * kSequences});
    for (TokenId i = 0; i < kSequences; ++i)
        rig.publish(kNs, {(i * 7) % kSequences, i, 3});  // every first token once, in no order
    for (TokenId i = 0; i < kSequences; ++i)
        EXPECT_EQ(matched(rig, {(i * 7) % kSequences, i, 4}), 2u);
    rig.tree.check_invariants();
    EXPECT_EQ(rig.tree.evict(kSequences - 1), static_cast<uint32_t>(kSequences - 1));
    rig.tree.check_invariants();
    EXPECT_EQ(matched(rig, {(7 * (kSequences - 1)) % kSequences, kSequences - 1, 3}), 3u);
}

TEST(PrefixCache, counts_what_it_did) {
    TestRig rig({});
    rig.publish(kNs, count_from(1, 20));
    rig.publish(kNs, count_from(1, 22));
    rig.tree.use(rig.tree.match(kNs, count_from(1, 21)));
    rig.tree.use(rig.tree.match(kNs, Tokens{999}));
    const PrefixStats stats = rig.tree.stats();
    EXPECT_EQ(stats.n_hits, 1u);
    EXPECT_EQ(stats.hit_tokens, 21u);
    EXPECT_EQ(stats.inserted_blocks, 3u);
    EXPECT_EQ(stats.replaced_blocks, 1u);
    EXPECT_EQ(stats.duplicate_blocks, 1u);
    EXPECT_EQ(stats.cached_tokens, 22u);
    EXPECT_EQ(stats.cached_blocks, 2u);
}

}  // namespace kvik
