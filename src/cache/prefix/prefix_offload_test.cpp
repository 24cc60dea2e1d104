// Laws of the prefix cache's offloaded nodes: what was evicted is known by name, and comes back
// from a tier.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "cache/test_rig.h"

namespace kvik {
namespace {

const NamespaceKey kNs = namespace_key({"test"});

// A tier in memory, by hand.
struct Shelf {
    TestRig& rig;
    std::map<std::pair<TierRef, uint32_t>, std::vector<std::byte>> blocks = {};  // by ref and group
    TierRef last = 0;

    // Saves what is not saved yet; returns how many nodes.
    size_t save(const Tokens& tokens) {
        const std::vector<SaveItem> items = rig.tree.unsaved(kNs, tokens);
        for (const SaveItem& item : items) {
            uint32_t mask = 0;
            ++last;
            for (const auto& [group, block] : item.blocks) {
                const std::span<std::byte> bytes = rig.storage.bytes(block.id());
                blocks[{last, group}] = {bytes.begin(), bytes.end()};
                mask |= 1u << group;
            }
            rig.tree.note_saved(item.node, {last, mask, static_cast<uint32_t>(item.tokens.size())});
        }
        return items.size();
    }
    bool read(const LoadItem& item) {
        const std::optional<BlockRef> block = rig.pool.take();
        std::ranges::copy(blocks.at({item.ref, item.group}),
                          rig.storage.bytes(block->id()).begin());
        return rig.tree.load_back(item, *block);
    }
    // Reads all that is worth it; returns how many blocks.
    size_t load_back(const Tokens& tokens) {
        const LoadPlan plan = rig.tree.plan_load(kNs, tokens);
        for (const LoadItem& item : plan.items) EXPECT_TRUE(read(item));
        EXPECT_GE(rig.tree.match(kNs, tokens).n_tokens, plan.n_tokens);
        rig.tree.check_invariants();
        return plan.items.size();
    }
};

TestRigOptions keeping_offloaded(uint32_t n_offloaded) {
    return {.n_blocks = 16, .n_offloaded = n_offloaded};
}

// ---- ghosts ----

TEST(PrefixOffload, what_was_evicted_is_still_known_and_since_when) {
    TestRig rig(keeping_offloaded(8));
    rig.publish(kNs, count_from(1, 40));
    rig.tree.set_clock(70);
    rig.tree.evict(2);
    const PathReport report = rig.tree.explain(kNs, count_from(1, 50));
    EXPECT_EQ(report.n_usable, 16u);
    EXPECT_EQ(report.n_known, 40u);
    EXPECT_EQ(report.n_evicted, 24u);
    EXPECT_EQ(report.n_on_tier, 0u);
    EXPECT_EQ(report.evicted_ms, 70.0);
    EXPECT_EQ(rig.tree.match(kNs, count_from(1, 50)).n_known, 40u);
    EXPECT_EQ(rig.tree.stats().n_offloaded, 2u);
    rig.tree.check_invariants();
}

TEST(PrefixOffload, a_ghost_that_is_published_again_has_its_history) {
    TestRig rig({.n_blocks = 4, .policy = EvictionPolicy::lfu, .n_offloaded = 4});
    rig.publish(kNs, {1});
    for (int i = 0; i < 3; ++i) rig.tree.use(rig.tree.match(kNs, Tokens{1}));
    rig.tree.evict(1);
    EXPECT_EQ(rig.tree.match(kNs, Tokens{1}).n_tokens, 0u);
    rig.publish(kNs, {1});
    rig.publish(kNs, {2});
    for (int i = 0; i < 2; ++i) rig.tree.use(rig.tree.match(kNs, Tokens{2}));
    rig.tree.evict(1);
    EXPECT_EQ(rig.tree.match(kNs, Tokens{1}).n_tokens, 1u);
}

TEST(PrefixOffload, keeps_no_more_offloaded_nodes_than_it_may_the_least_recent_go) {
    TestRig rig(keeping_offloaded(3));
    for (TokenId i = 1; i <= 6; ++i) rig.publish(kNs, {i});
    rig.tree.evict(6);
    rig.tree.check_invariants();
    for (TokenId i = 1; i <= 6; ++i)
        EXPECT_EQ(rig.tree.match(kNs, Tokens{i}).n_known, i > 3 ? 1u : 0u) << i;
}

TEST(PrefixOffload, ghosts_go_before_records) {
    TestRig rig(keeping_offloaded(2));
    Shelf shelf{rig};
    for (TokenId i = 1; i <= 3; ++i) rig.publish(kNs, {i});
    EXPECT_EQ(shelf.save({1}), 1u);
    rig.tree.evict(3);
    EXPECT_EQ(rig.tree.match(kNs, Tokens{1}).n_known, 1u) << "the oldest, but it can come back";
    EXPECT_EQ(rig.tree.match(kNs, Tokens{2}).n_known, 0u);
    EXPECT_EQ(rig.tree.match(kNs, Tokens{3}).n_known, 1u);
}

TEST(PrefixOffload, tails_of_one_sequence_are_one_ghost) {
    TestRig rig(keeping_offloaded(8));
    for (const size_t n : {18u, 25u, 20u, 32u}) {
        rig.publish(kNs, count_from(1, n));
        rig.tree.evict(1);
        rig.tree.check_invariants();
    }
    EXPECT_EQ(rig.tree.stats().n_offloaded, 1u);
    EXPECT_EQ(rig.tree.match(kNs, count_from(1, 40)).n_known, 32u);
}

TEST(PrefixOffload, a_ghost_never_hides_what_is_in_ram) {
    TestRig rig(keeping_offloaded(8));
    rig.publish(kNs, joined(count_from(1, 10), {500, 501, 502}));
    rig.tree.evict(1);
    rig.publish(kNs, joined(count_from(1, 10), {900}));
    const PrefixHit hit = rig.tree.match(kNs, joined(count_from(1, 10), {500, 501}));
    EXPECT_EQ(hit.n_tokens, 10u);
    EXPECT_EQ(hit.n_known, 12u);
    EXPECT_EQ(rig.read(hit), count_from(1, 10));
}

// ---- the tier below ----

TEST(PrefixOffload, what_was_saved_comes_back_token_for_token) {
    for (const size_t n : {1u, 15u, 16u, 17u, 40u, 48u}) {
        TestRig rig(keeping_offloaded(8));
        Shelf shelf{rig};
        const Tokens tokens = count_from(1, n);
        rig.publish(kNs, tokens);
        EXPECT_EQ(shelf.save(tokens), (n + 15) / 16);
        rig.tree.evict(10);
        EXPECT_EQ(rig.tree.match(kNs, tokens).n_tokens, 0u);
        EXPECT_EQ(rig.tree.explain(kNs, tokens).n_on_tier, n);
        EXPECT_EQ(shelf.load_back(tokens), (n + 15) / 16);
        EXPECT_EQ(rig.read(rig.tree.match(kNs, tokens)), tokens);
        EXPECT_TRUE(rig.tree.plan_load(kNs, tokens).items.empty());
        EXPECT_EQ(shelf.save(tokens), 0u) << "it is still on the tier";
    }
}

TEST(PrefixOffload, never_reads_more_than_it_uses) {
    TestRig rig(keeping_offloaded(8));
    Shelf shelf{rig};
    rig.publish(kNs, count_from(1, 64));
    shelf.save(count_from(1, 64));
    rig.tree.evict(10);
    EXPECT_EQ(shelf.load_back(joined(count_from(1, 20), {900})), 2u);
    EXPECT_EQ(rig.pool.n_used(), 2u);
    EXPECT_EQ(shelf.load_back(count_from(1, 33)), 1u) << "what is in RAM is not read again";
}

TEST(PrefixOffload, is_loaded_no_further_than_the_first_gap) {
    TestRig rig(keeping_offloaded(8));
    Shelf shelf{rig};
    rig.publish(kNs, count_from(1, 64));
    shelf.save(count_from(1, 64));
    rig.tree.evict(10);
    const LoadPlan plan = rig.tree.plan_load(kNs, count_from(1, 64));
    ASSERT_EQ(plan.items.size(), 4u);
    rig.tree.lose(plan.items[2]);
    EXPECT_EQ(rig.tree.plan_load(kNs, count_from(1, 64)).n_tokens, 32u);
    EXPECT_EQ(shelf.load_back(count_from(1, 64)), 2u);
    const PathReport report = rig.tree.explain(kNs, count_from(1, 64));
    EXPECT_EQ(report.n_evicted, 16u);
    EXPECT_EQ(report.n_on_tier, 16u);
}

TEST(PrefixOffload, a_saved_tail_that_grew_is_saved_again_and_the_longer_record_wins) {
    TestRig rig(keeping_offloaded(8));
    Shelf shelf{rig};
    rig.publish(kNs, count_from(1, 20));
    EXPECT_EQ(shelf.save(count_from(1, 20)), 2u);
    rig.publish(kNs, count_from(1, 25));
    EXPECT_EQ(shelf.save(count_from(1, 25)), 1u);
    rig.tree.evict(10);
    shelf.load_back(count_from(1, 30));
    EXPECT_EQ(rig.read(rig.tree.match(kNs, count_from(1, 30))), count_from(1, 25));
}

TEST(PrefixOffload, a_record_shorter_than_its_node_gives_what_it_holds) {
    TestRig rig(keeping_offloaded(8));
    Shelf shelf{rig};
    rig.publish(kNs, count_from(1, 20));
    shelf.save(count_from(1, 20));
    rig.publish(kNs, count_from(1, 32));
    rig.publish(kNs, count_from(1, 40));  // a child below the node
    rig.tree.evict(10);
    shelf.load_back(count_from(1, 40));
    const PrefixHit hit = rig.tree.match(kNs, count_from(1, 40));
    EXPECT_EQ(rig.read(hit), count_from(1, 20));
    EXPECT_EQ(hit.n_known, 40u);
    rig.publish(kNs, count_from(1, 32));
    rig.tree.check_invariants();
    EXPECT_EQ(rig.tree.match(kNs, count_from(1, 40)).n_known, 40u) << "the child is still below it";
}

TEST(PrefixOffload, saves_parents_before_children_and_says_whose_they_are) {
    TestRig rig(keeping_offloaded(8));
    rig.publish(kNs, count_from(1, 40));
    const std::vector<SaveItem> items = rig.tree.unsaved(kNs, count_from(1, 40));
    ASSERT_EQ(items.size(), 3u);
    for (uint32_t i = 0; i < 3; ++i) {
        EXPECT_EQ(items[i].block_index, i);
        EXPECT_EQ(items[i].tokens,
                  first_of(count_from(1 + 16 * static_cast<TokenId>(i), 16), i == 2 ? 8 : 16));
        EXPECT_EQ(items[i].parent_hash, i == 0 ? kRootHash : items[i - 1].hash);
        EXPECT_EQ(items[i].hash, block_hash(kNs, items[i].parent_hash, items[i].tokens));
    }
}

TEST(PrefixOffload, knows_the_hashes_of_a_path_that_is_cached_wholly_in_part_or_not_at_all) {
    const auto chain = [](const Tokens& tokens) {
        EndHashes ends;
        for (size_t at = 0; at < tokens.size(); at += 16) {
            ends.parent = ends.hash == BlockHash{} ? kRootHash : ends.hash;
            const size_t n = std::min<size_t>(16, tokens.size() - at);
            ends.hash = block_hash(kNs, ends.parent, std::span(tokens).subspan(at, n));
        }
        return ends;
    };
    TestRig rig(keeping_offloaded(8));
    const Tokens other = joined(count_from(1, 32), count_from(500, 20));
    for (const size_t n_cached : {0, 8, 20, 40}) {
        if (n_cached > 0) rig.publish(kNs, count_from(1, n_cached));
        rig.tree.unsaved(kNs, count_from(1, n_cached));  // its nodes have their hashes now
        for (const Tokens& tokens : {count_from(1, 5), count_from(1, 16), count_from(1, 17),
                                     count_from(1, 40), count_from(1, 64), other}) {
            const EndHashes ends = rig.tree.end_hashes(kNs, tokens);
            EXPECT_EQ(ends.parent, chain(tokens).parent) << tokens.size();
            EXPECT_EQ(ends.hash, chain(tokens).hash) << tokens.size();
        }
        rig.tree.check_invariants();
    }
}

TEST(PrefixOffload, a_read_that_comes_too_late_changes_nothing) {
    TestRig rig(keeping_offloaded(8));
    Shelf shelf{rig};
    rig.publish(kNs, count_from(1, 20));
    shelf.save(count_from(1, 20));
    rig.tree.evict(10);
    const LoadPlan plan = rig.tree.plan_load(kNs, count_from(1, 20));
    rig.publish(kNs, count_from(1, 20));
    for (const LoadItem& item : plan.items) EXPECT_FALSE(shelf.read(item)) << "computed meanwhile";
    rig.tree.forget(kNs, count_from(1, 20), 0, ForgetKind::now);
    for (const LoadItem& item : plan.items) EXPECT_FALSE(shelf.read(item)) << "forgotten meanwhile";
    EXPECT_EQ(rig.pool.n_used(), 0u);
    rig.tree.check_invariants();
}

TEST(PrefixOffload, a_child_is_not_loaded_before_its_parent) {
    TestRig rig(keeping_offloaded(8));
    Shelf shelf{rig};
    rig.publish(kNs, count_from(1, 32));
    shelf.save(count_from(1, 32));
    rig.tree.evict(10);
    const LoadPlan plan = rig.tree.plan_load(kNs, count_from(1, 32));
    EXPECT_FALSE(shelf.read(plan.items[1]));
    EXPECT_TRUE(shelf.read(plan.items[0]));
    EXPECT_TRUE(shelf.read(plan.items[1]));
    rig.tree.check_invariants();
}

TEST(PrefixOffload, what_was_read_in_part_is_the_first_to_go) {
    TestRig rig({.n_blocks = 16, .windows = {0, 20}, .n_offloaded = 8});
    Shelf shelf{rig};
    rig.publish(kNs, count_from(1, 16));
    shelf.save(count_from(1, 16));
    rig.tree.evict(10);
    rig.publish(kNs, {700});
    const LoadPlan plan = rig.tree.plan_load(kNs, count_from(1, 16));
    ASSERT_EQ(plan.items.size(), 2u);
    EXPECT_TRUE(shelf.read(plan.items[0]));
    rig.tree.check_invariants();
    EXPECT_EQ(rig.tree.evict(1), 1u);
    EXPECT_EQ(rig.tree.match(kNs, Tokens{700}).n_tokens, 1u);
    EXPECT_TRUE(shelf.read(plan.items[1]));
    EXPECT_EQ(rig.tree.match(kNs, count_from(1, 16)).n_tokens, 0u) << "the window is missing";
    EXPECT_EQ(shelf.load_back(count_from(1, 16)), 1u);
}

TEST(PrefixOffload, making_room_takes_nothing_from_whoever_is_reading) {
    TestRig rig({.n_blocks = 16, .windows = {0, 20}, .n_offloaded = 8});
    Shelf shelf{rig};
    rig.publish(kNs, count_from(1, 16));
    shelf.save(count_from(1, 16));
    rig.tree.evict(10);
    const LoadPlan plan = rig.tree.plan_load(kNs, count_from(1, 16));
    ASSERT_EQ(plan.items.size(), 2u);
    std::vector<BlockRef> held;
    for (const LoadItem& item : plan.items) {
        held.push_back(*rig.pool.take());
        std::ranges::copy(shelf.blocks.at({item.ref, item.group}),
                          rig.storage.bytes(held.back().id()).begin());
        EXPECT_TRUE(rig.tree.load_back(item, held.back()));
        EXPECT_EQ(rig.tree.evict(16), 0u);
        rig.tree.check_invariants();
    }
    EXPECT_EQ(rig.read(rig.tree.match(kNs, count_from(1, 16))), count_from(1, 16));
}

TEST(PrefixOffload, when_a_segment_goes_its_nodes_are_ghosts) {
    TestRig rig(keeping_offloaded(8));
    Shelf shelf{rig};
    rig.publish(kNs, count_from(1, 48));
    shelf.save(count_from(1, 48));
    rig.tree.evict(10);
    rig.tree.drop_tier([](TierRef ref) { return ref >= 2; });
    EXPECT_EQ(rig.tree.plan_load(kNs, count_from(1, 48)).n_tokens, 16u);
    EXPECT_EQ(rig.tree.explain(kNs, count_from(1, 48)).n_evicted, 32u);
    rig.tree.check_invariants();
}

// ---- at the start ----

TEST(PrefixOffload, an_index_that_the_tier_has_already_is_as_if_saved_before) {
    TestRig rig(keeping_offloaded(8));
    const Tokens tokens = count_from(1, 40);
    std::optional<NodeHandle> parent;
    for (size_t i = 0; i < 3; ++i) {
        const auto node = std::span(tokens).subspan(i * 16, i == 2 ? 8 : 16);
        parent = rig.tree.add_offloaded(kNs, parent, node, 10 + i, 1);
        ASSERT_NE(parent->index, NodeHandle{}.index);
    }
    rig.tree.check_invariants();
    const LoadPlan plan = rig.tree.plan_load(kNs, tokens);
    EXPECT_EQ(plan.n_tokens, 40u);
    ASSERT_EQ(plan.items.size(), 3u);
    EXPECT_EQ(plan.items[2].ref, 12u);
    EXPECT_EQ(plan.items[2].tokens, count_from(33, 8));
}

TEST(PrefixOffload, of_two_records_of_a_node_the_longer_wins_whatever_their_order) {
    for (const bool longer_first : {false, true}) {
        TestRig rig(keeping_offloaded(8));
        const Tokens shorter = count_from(1, 5), longer = count_from(1, 9);
        rig.tree.add_offloaded(kNs, {}, longer_first ? longer : shorter, longer_first ? 2 : 1, 1);
        rig.tree.add_offloaded(kNs, {}, longer_first ? shorter : longer, longer_first ? 1 : 2, 1);
        const LoadPlan plan = rig.tree.plan_load(kNs, count_from(1, 20));
        ASSERT_EQ(plan.items.size(), 1u);
        EXPECT_EQ(plan.items[0].ref, 2u);
        EXPECT_EQ(rig.tree.stats().n_offloaded, 1u);
    }
}

TEST(PrefixOffload, an_index_without_room_or_parent_is_refused) {
    TestRig resident_only(keeping_offloaded(0));
    EXPECT_EQ(resident_only.tree.add_offloaded(kNs, {}, Tokens{1}, 1, 1).index, NodeHandle{}.index);
    resident_only.tree.check_invariants();
    TestRig rig(keeping_offloaded(1));
    const NodeHandle parent = rig.tree.add_offloaded(kNs, {}, count_from(1, 16), 1, 1);
    EXPECT_EQ(rig.tree.add_offloaded(kNs, parent, Tokens{7}, 2, 1).index, NodeHandle{}.index);
    EXPECT_EQ(rig.tree.add_offloaded(kNs, NodeHandle{77, 0}, Tokens{7}, 2, 1).index,
              NodeHandle{}.index);
    rig.tree.check_invariants();
}

TEST(PrefixOffload, forgetting_takes_ghosts_and_records_too) {
    TestRig rig(keeping_offloaded(8));
    Shelf shelf{rig};
    rig.publish(kNs, count_from(1, 64));
    shelf.save(count_from(1, 32));
    rig.tree.evict(3);
    rig.tree.forget(kNs, count_from(1, 64), 16, ForgetKind::now);
    const PathReport report = rig.tree.explain(kNs, count_from(1, 64));
    EXPECT_EQ(report.n_known, 16u);
    EXPECT_EQ(rig.tree.stats().n_offloaded, 0u);
    rig.tree.check_invariants();
}

}  // namespace
}  // namespace kvik
