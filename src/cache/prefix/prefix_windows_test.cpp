// Laws of groups with a window in the prefix cache: where a sequence can go on, and what is kept
// for it.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "cache/test_rig.h"

namespace kvik {
namespace {

const NamespaceKey kNs = namespace_key({"test"});
constexpr uint32_t kWindow = 40;

TestRigOptions windows(uint32_t resume_every = 0) {
    return {.n_blocks = 200, .windows = {0, kWindow}, .resume_every = resume_every};
}

// As an engine does: computes chunk after chunk; where `points` say, it publishes on the way.
void publish_on_the_way(TestRig& rig, const Tokens& tokens, const std::vector<uint32_t>& points,
                        InsertKind kind) {
    BlockTable table = rig.table();
    PrefixHit hit = rig.tree.match(kNs, tokens);
    table.adopt(std::move(hit));
    for (uint32_t at = table.n_tokens(); at < tokens.size(); ++at) {
        ASSERT_TRUE(rig.extend(table, {tokens[at]}));
        table.release_behind_windows();
        for (const uint32_t point : points)
            if (table.n_tokens() == point)
                rig.tree.insert(kNs, first_of(tokens, point), table.group_blocks(), kind);
    }
    rig.tree.insert(kNs, tokens, table.group_blocks());
    rig.tree.check_invariants();
}

TEST(PrefixWindows, a_hit_holds_what_the_next_token_needs_and_no_more) {
    for (const size_t n : {1u, 16u, 39u, 40u, 41u, 100u, 160u}) {
        TestRig rig(windows());
        rig.publish(kNs, count_from(1, n));
        const PrefixHit hit = rig.tree.match(kNs, count_from(1, n));
        EXPECT_EQ(hit.n_tokens, n);
        EXPECT_EQ(hit.groups[0].first, 0u);
        EXPECT_EQ(hit.groups[1].first, n < kWindow ? 0 : (n + 1 - kWindow) / 16);
        EXPECT_EQ(rig.read(hit), count_from(1, n));
    }
}

TEST(PrefixWindows, where_a_window_is_missing_the_distance_to_the_resume_point_is_told) {
    TestRig rig(windows());
    publish_on_the_way(rig, count_from(1, 320), {}, InsertKind::passing);
    const PrefixHit hit = rig.tree.match(kNs, joined(count_from(1, 150), {900}));
    EXPECT_EQ(hit.n_resident, 150u);
    EXPECT_EQ(hit.n_tokens, 0u) << "its windows were released when the end was reached";
    EXPECT_TRUE(hit.groups[0].blocks.empty());
    EXPECT_EQ(rig.tree.match(kNs, count_from(1, 320)).n_tokens, 320u);
    const PathReport report = rig.tree.explain(kNs, joined(count_from(1, 150), {900}));
    EXPECT_EQ(report.n_usable, 0u);
    EXPECT_EQ(report.n_resident, 150u);
}

TEST(PrefixWindows, the_same_prompt_without_its_last_token_is_usable) {
    TestRig rig(windows());
    publish_on_the_way(rig, count_from(1, 159), {}, InsertKind::passing);
    rig.tree.evict(2);
    rig.tree.check_invariants();
    EXPECT_EQ(rig.tree.match(kNs, count_from(1, 159)).n_tokens, 159u);
    EXPECT_EQ(rig.tree.match(kNs, count_from(1, 158)).n_tokens, 158u);
}

TEST(PrefixWindows, blocks_that_no_resume_point_needs_go_first_and_full_ones_stay) {
    TestRig rig(windows());
    rig.publish(kNs, count_from(1, 160));
    EXPECT_EQ(rig.pool.n_used(), 20u);
    const uint32_t n_anchored =
        4;  // logical blocks 7 to 9 for 160 and 159 tokens, and a spare row of 7
    EXPECT_EQ(rig.tree.evict(20 - 10 - n_anchored + 1), 20u - 10 - n_anchored + 1);
    EXPECT_EQ(rig.tree.stats().evicted_window_blocks, 7u);
    rig.tree.check_invariants();
    EXPECT_EQ(rig.tree.match(kNs, count_from(1, 160)).n_tokens, 160u);
    EXPECT_EQ(rig.tree.match(kNs, count_from(1, 160)).n_resident, 160u);
    EXPECT_EQ(rig.tree.match(kNs, joined(count_from(1, 64), {900})).n_tokens, 0u);
}

TEST(PrefixWindows, boundaries_stay_usable_under_pressure) {
    TestRig rig(windows());
    publish_on_the_way(rig, count_from(1, 320), {100, 200}, InsertKind::boundary);
    while (rig.tree.stats().evicted_window_blocks < 3 && rig.tree.evict(1) > 0) {
    }
    rig.tree.check_invariants();
    for (const uint32_t n : {100u, 200u, 320u})
        EXPECT_EQ(rig.tree.match(kNs, count_from(1, n)).n_tokens, n);
    EXPECT_EQ(rig.tree.match(kNs, joined(count_from(1, 225), {900})).n_tokens, 200u);
}

TEST(PrefixWindows, what_is_published_on_the_way_is_loose) {
    TestRig rig(windows());
    publish_on_the_way(rig, count_from(1, 320), {100}, InsertKind::passing);
    EXPECT_EQ(rig.tree.match(kNs, count_from(1, 100)).n_tokens, 100u);
    rig.tree.evict(4);
    EXPECT_EQ(rig.tree.match(kNs, count_from(1, 100)).n_tokens, 0u);
    EXPECT_EQ(rig.tree.match(kNs, count_from(1, 320)).n_tokens, 320u);
}

TEST(PrefixWindows, every_so_many_tokens_a_resume_point_stands) {
    TestRig rig(windows(96));
    publish_on_the_way(rig, count_from(1, 320), {96, 192, 288}, InsertKind::passing);
    rig.tree.evict(3);
    rig.tree.check_invariants();
    for (const uint32_t n : {96u, 192u, 288u})
        EXPECT_EQ(rig.tree.match(kNs, joined(count_from(1, n), {900})).n_tokens, n);
}

// A prompt of 1500 tokens and one that shares its first 700: the second cannot know, the third can.
TEST(PrefixWindows, where_paths_part_a_resume_point_stands_for_the_third) {
    TestRig rig({.n_blocks = 400, .windows = {0, kWindow}});
    publish_on_the_way(rig, count_from(1, 900), {}, InsertKind::passing);
    const Tokens common = count_from(1, 430);
    const Tokens second = joined(common, count_from(900, 90));
    EXPECT_EQ(rig.tree.match(kNs, second).n_resident, 430u);
    EXPECT_EQ(rig.tree.match(kNs, second).n_tokens, 0u);
    publish_on_the_way(rig, second, {430}, InsertKind::boundary);  // as its hit said
    for (const bool is_scarce : {false, true}) {
        while (is_scarce && rig.tree.stats().evicted_window_blocks < 2 && rig.tree.evict(1) > 0) {
        }
        // Wherever it goes on: the first prompt's node is next to some, and has no window.
        for (const TokenId next : {0, 500, 999})
            EXPECT_EQ(rig.tree.match(kNs, joined(common, {next})).n_tokens, 430u) << next;
    }
}

TEST(PrefixWindows, a_branch_anchors_what_lies_before_it) {
    TestRig rig(windows());
    rig.publish(kNs, joined(count_from(1, 96), count_from(500, 100)));
    rig.publish(kNs, joined(count_from(1, 96), count_from(700, 100)));
    rig.tree.evict(6);
    rig.tree.check_invariants();
    EXPECT_EQ(rig.tree.match(kNs, joined(count_from(1, 96), {900})).n_tokens, 96u);
    EXPECT_EQ(rig.tree.match(kNs, joined(count_from(1, 64), {900})).n_tokens, 0u);
}

TEST(PrefixWindows, a_node_without_its_window_takes_the_one_offered) {
    TestRig rig(windows());
    publish_on_the_way(rig, count_from(1, 320), {}, InsertKind::passing);
    EXPECT_EQ(rig.tree.match(kNs, count_from(1, 96)).n_tokens, 0u);
    const BlockTable again = rig.computed(count_from(1, 96));
    const InsertReport report = rig.tree.insert(kNs, count_from(1, 96), again.group_blocks());
    EXPECT_GT(report.n_new, 0u);
    const PrefixHit hit = rig.tree.match(kNs, count_from(1, 96));
    EXPECT_EQ(rig.read(hit), count_from(1, 96));
    rig.tree.check_invariants();
}

// Two users of one window: neither takes the other's blocks because a window has passed them by.
TEST(PrefixWindows, follow_the_policy_of_the_cache_and_not_their_window) {
    TestRig rig(windows());
    for (const TokenId user : {100, 300, 500})
        publish_on_the_way(rig, count_from(user, 200), {}, InsertKind::boundary);
    for (const TokenId user : {100, 300, 500})
        EXPECT_EQ(rig.tree.match(kNs, count_from(user, 200)).n_tokens, 200u);
}

TEST(PrefixWindows, pins_keep_their_windows) {
    TestRig rig(windows());
    rig.publish(kNs, count_from(1, 160));
    const std::optional<Pin> pin = rig.tree.pin(rig.tree.match(kNs, count_from(1, 80)));
    ASSERT_TRUE(rig.tree.pin_until(rig.tree.match(kNs, count_from(1, 120)), 100));
    EXPECT_EQ(rig.tree.stats().pinned_blocks, 8u + 4u);
    rig.tree.evict(100);
    rig.tree.check_invariants();
    EXPECT_EQ(rig.tree.match(kNs, count_from(1, 80)).n_tokens, 80u);
    EXPECT_EQ(rig.tree.match(kNs, count_from(1, 120)).n_tokens, 120u);
    rig.tree.set_clock(100);
    rig.tree.evict(100);
    EXPECT_EQ(rig.tree.match(kNs, count_from(1, 120)).n_tokens, 80u);
}

TEST(PrefixWindows, of_a_path_that_is_in_use_old_resume_points_go_before_its_end) {
    TestRig rig(windows());
    publish_on_the_way(rig, count_from(1, 320), {100, 200}, InsertKind::boundary);
    BlockTable table = rig.table();
    table.adopt(rig.tree.match(kNs, count_from(1, 320)));
    const uint32_t n_before = rig.pool.n_used();
    rig.tree.evict(rig.tree.stats().cached_blocks);
    rig.tree.check_invariants();
    EXPECT_LT(rig.pool.n_used(), n_before);
    EXPECT_EQ(rig.pool.n_used(), table.n_blocks());
    EXPECT_EQ(rig.tree.match(kNs, count_from(1, 320)).n_tokens, 320u);
    EXPECT_EQ(rig.tree.match(kNs, count_from(1, 200)).n_tokens, 0u);
}

TEST(PrefixWindows, of_a_path_in_ram_only_the_missing_windows_are_read) {
    TestRig rig({.n_blocks = 200, .windows = {0, kWindow}, .n_offloaded = 50});
    rig.publish(kNs, count_from(1, 160));
    TierRef ref = 0;
    std::map<TierRef, std::vector<std::byte>> shelf;
    for (const SaveItem& item : rig.tree.unsaved(kNs, count_from(1, 160))) {
        ASSERT_EQ(item.blocks.size(), 2u);
        const std::span<std::byte> bytes = rig.storage.bytes(item.blocks[1].second.id());
        shelf[++ref] = {bytes.begin(), bytes.end()};
        rig.tree.note_saved(item.node, {ref, 3, 16});
    }
    rig.tree.evict(6);
    const Tokens asked = joined(count_from(1, 80), {900});
    EXPECT_EQ(rig.tree.match(kNs, asked).n_tokens, 0u);
    const LoadPlan plan = rig.tree.plan_load(kNs, asked);
    EXPECT_EQ(plan.n_tokens, 80u);
    ASSERT_EQ(plan.items.size(), 3u);
    for (const LoadItem& item : plan.items) {
        EXPECT_EQ(item.group, 1u);
        const std::optional<BlockRef> block = rig.pool.take();
        std::ranges::copy(shelf.at(item.ref), rig.storage.bytes(block->id()).begin());
        EXPECT_TRUE(rig.tree.load_back(item, *block));
    }
    EXPECT_EQ(rig.read(rig.tree.match(kNs, asked)), count_from(1, 80));
    rig.tree.check_invariants();
}

}  // namespace
}  // namespace kvik
