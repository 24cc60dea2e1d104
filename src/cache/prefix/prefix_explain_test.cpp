// Laws of the reports: why a prompt was found as far as it was.
#include <gtest/gtest.h>

#include "cache/test_rig.h"

namespace kvik {

static const NamespaceKey kNs = namespace_key({"test"});

TEST(PrefixExplain, names_the_first_difference_and_what_stood_there) {
    TestRig rig({.n_blocks = 16});
    rig.publish(kNs, count_from(1, 40));
    for (const uint32_t at : {0u, 5u, 15u, 16u, 20u, 31u, 32u, 39u}) {
        Tokens asked = count_from(1, 40);
        asked[at] = 900;
        const PathReport report = rig.tree.explain(kNs, asked);
        EXPECT_EQ(report.n_known, at);
        ASSERT_TRUE(report.difference.has_value()) << at;
        EXPECT_EQ(report.difference->at, at);
        ASSERT_FALSE(report.difference->old_tokens.empty());
        EXPECT_LE(report.difference->old_tokens.size(), 8u);
        EXPECT_EQ(report.difference->old_tokens[0], static_cast<TokenId>(at + 1));
    }
}

TEST(PrefixExplain, sees_no_difference_where_nothing_else_is_known) {
    TestRig rig({});
    rig.publish(kNs, count_from(1, 20));
    EXPECT_FALSE(rig.tree.explain(kNs, count_from(1, 40)).difference.has_value());
    EXPECT_FALSE(rig.tree.explain(kNs, count_from(1, 20)).difference.has_value());
    EXPECT_FALSE(rig.tree.explain(namespace_key({"other"}), Tokens{1}).difference.has_value());
    EXPECT_EQ(rig.tree.explain(kNs, count_from(1, 40)).n_usable, 20u);
}

TEST(PrefixExplain, of_several_continuations_names_the_most_recent) {
    TestRig rig({.n_blocks = 16});
    for (const TokenId next : {500, 700, 600}) rig.publish(kNs, joined(count_from(1, 16), {next}));
    rig.tree.use(rig.tree.match(kNs, joined(count_from(1, 16), {700})));
    const PathReport report = rig.tree.explain(kNs, joined(count_from(1, 16), {650}));
    ASSERT_TRUE(report.difference.has_value());
    EXPECT_EQ(report.difference->old_tokens, Tokens{700});
}

// ---- drawing ----

TEST(PrefixDraw, a_chain_is_one_line_and_branches_stand_below_it) {
    TestRig rig({.n_blocks = 16, .n_offloaded = 8});
    rig.publish(kNs, joined(count_from(1, 40), {500}));
    rig.publish(kNs, joined(count_from(1, 32), {700, 701}));
    const std::vector<TreeLine> lines = rig.tree.draw(100);
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_EQ(lines[0].depth, 0u);
    EXPECT_EQ(lines[0].n_tokens, 32u);
    EXPECT_EQ(lines[0].n_blocks, 2u);
    EXPECT_EQ(lines[0].tokens, count_from(1, 32));
    EXPECT_EQ(lines[1].depth, 1u);
    EXPECT_EQ(lines[1].first_token_at, 32u);
    EXPECT_EQ(lines[1].tokens, joined(count_from(33, 8), {500}));
    EXPECT_EQ(lines[2].tokens, (Tokens{700, 701}));
    EXPECT_EQ(rig.tree.draw(2).size(), 2u);
}

TEST(PrefixDraw, tells_ram_from_tier_from_ghost_and_what_is_held) {
    TestRig rig({.n_blocks = 16, .n_offloaded = 8});
    rig.publish(kNs, count_from(1, 60));
    const std::vector<SaveItem> items = rig.tree.unsaved(kNs, count_from(1, 60));
    rig.tree.note_saved(items[2].node, {1, 1, 16});
    rig.tree.release_shared(2);  // the items hold shares
    const PrefixHit hit = rig.tree.match(kNs, count_from(1, 32));
    ASSERT_TRUE(rig.tree.pin_until(hit, 5));
    const std::vector<TreeLine> lines = rig.tree.draw(100);
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0].n_tokens, 60u);
    EXPECT_EQ(lines[0].ram_tokens, 32u);
    EXPECT_EQ(lines[0].tier_tokens, 16u);
    EXPECT_EQ(lines[0].ghost_tokens, 12u);
    EXPECT_EQ(lines[0].n_blocks, 2u);
    EXPECT_EQ(lines[0].n_shared, 2u);
    EXPECT_TRUE(lines[0].is_pinned);
}

TEST(PrefixDraw, numbers_its_namespaces) {
    TestRig rig({});
    rig.publish(kNs, {1});
    rig.publish(namespace_key({"other"}), {2});
    const std::vector<TreeLine> lines = rig.tree.draw(10);
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_NE(lines[0].ns_index, lines[1].ns_index);
}

TEST(PrefixCacheAccounts, say_what_sharing_is_worth_and_what_whole_blocks_waste) {
    TestRig rig({.n_blocks = 16, .block_tokens = 16});
    EXPECT_EQ(rig.tree.accounts().sharing(), 1);
    const NamespaceKey ns = namespace_key({"m"});
    const Tokens prompt = count_from(1, 32);
    rig.publish(ns, joined(prompt, count_from(100, 8)));
    rig.publish(ns, joined(prompt, count_from(200, 16)));
    const TreeAccounts all = rig.tree.accounts();
    EXPECT_EQ(all.cached_tokens, 32u + 8 + 16);
    EXPECT_EQ(all.slot_tokens, 4 * 16u);
    EXPECT_EQ(all.path_tokens, 40u + 48);
    EXPECT_EQ(all.waste_percent(), 12.5);
    EXPECT_NEAR(all.sharing(), 88.0 / 56, 1e-12);
}

}  // namespace kvik
