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
    rig.tree.use(rig.tree.find(kNs, joined(count_from(1, 16), {700})));
    const PathReport report = rig.tree.explain(kNs, joined(count_from(1, 16), {650}));
    ASSERT_TRUE(report.difference.has_value());
    EXPECT_EQ(report.difference->old_tokens, Tokens{700});
}

}  // namespace kvik
