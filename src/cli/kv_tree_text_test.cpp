#include "cli/kv_tree_text.h"

#include <gtest/gtest.h>

namespace kvik::cli {
namespace {

TEST(KvTreeText, draws_a_line_for_every_stretch_under_the_one_it_follows) {
    KvTree tree;
    TreeLine stem;
    stem.n_tokens = stem.ram_tokens = 2;
    stem.n_uses = 3;
    stem.tokens = {7, 8};
    TreeLine branch;
    branch.depth = 1;
    branch.n_tokens = 20;
    branch.tier_tokens = 16;
    branch.ghost_tokens = 4;
    branch.is_pinned = true;
    branch.tokens.assign(20, 9);
    tree.lines = {stem, branch};
    const std::vector<std::string> lines = draw_lines(tree, nullptr);
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines[0], "+- 2 tokens, used 3 times  7 8");
    EXPECT_EQ(lines[1],
              "|  +- 20 tokens, 16 on disk, 4 evicted, pinned  9 9 9 9 9 9 9 9 9 9 9 9...");
}

TEST(KvTreeText, is_empty_for_an_empty_tree) {
    EXPECT_TRUE(draw_lines({}, nullptr).empty());
}

}  // namespace
}  // namespace kvik::cli
