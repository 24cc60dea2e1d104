#include "cache/kv_spec.h"

#include <gtest/gtest.h>

#include <set>

namespace kvik {

TEST(KvGroups, a_model_without_windows_has_one_group_of_all_layers) {
    const auto groups = KvGroups::of(std::vector<uint32_t>(30, 0));
    ASSERT_EQ(groups->groups.size(), 1u);
    EXPECT_EQ(groups->group_layers, 30u);
    for (uint32_t i = 0; i < 30; ++i) EXPECT_EQ(groups->layers[i].slot, i);
}

TEST(KvGroups, are_of_one_window_and_equally_large_and_full_ones_come_first) {
    std::vector<uint32_t> windows;
    for (uint32_t i = 0; i < 18; ++i) windows.push_back(i % 6 == 5 ? 0 : 512);
    const auto groups = KvGroups::of(windows);
    EXPECT_EQ(groups->group_layers, 3u);
    ASSERT_EQ(groups->groups.size(), 6u);
    EXPECT_EQ(groups->groups[0].window, 0u);
    std::set<std::pair<uint32_t, uint32_t>> block_indices;
    for (uint32_t i = 0; i < 18; ++i) {
        const KvLayer at = groups->layers[i];
        EXPECT_EQ(groups->groups[at.group].window, windows[i]);
        EXPECT_LT(at.slot, 3u);
        block_indices.insert({at.group, at.slot});
    }
    EXPECT_EQ(block_indices.size(), 18u) << "no two layers share a block_index";
}

TEST(KvGroups, several_windows_have_groups_of_their_own) {
    const auto groups = KvGroups::of(std::vector<uint32_t>{64, 0, 128, 64, 0, 128});
    ASSERT_EQ(groups->groups.size(), 3u);
    EXPECT_EQ(groups->groups[0].window, 0u);
    EXPECT_EQ(groups->groups[1].window, 64u);
    EXPECT_EQ(groups->groups[2].window, 128u);
}

TEST(KvGroups, where_every_layer_has_a_window_the_widest_counts_as_none) {
    const auto same = KvGroups::of(std::vector<uint32_t>{40, 40});
    ASSERT_EQ(same->groups.size(), 1u);
    EXPECT_EQ(same->groups[0].window, 0u);
    const auto two = KvGroups::of(std::vector<uint32_t>{40, 90});
    ASSERT_EQ(two->groups.size(), 2u);
    EXPECT_EQ(two->groups[0].window, 0u);
    EXPECT_EQ(two->layers[1].group, 0u);
    EXPECT_EQ(two->groups[1].window, 40u);
}

TEST(KvGroups, a_row_needs_the_last_positions_of_its_window_its_own_included) {
    EXPECT_EQ(first_needed(0, 5000), 0u);
    EXPECT_EQ(first_needed(4, 3), 0u);
    EXPECT_EQ(first_needed(4, 4), 1u);
    EXPECT_EQ(first_needed(512, 3000), 2489u);
}

TEST(KvSpec, blocks_of_groups_are_as_many_times_smaller_as_there_are_more_of_them) {
    KvSpec spec{.n_layers = 18, .n_kv_heads = 1, .head_dim = 256};
    const uint64_t whole = spec.block_bytes(), of_a_token = spec.bytes_per_token();
    EXPECT_EQ(whole, of_a_token * spec.block_tokens);
    std::vector<uint32_t> windows(18, 512);
    windows[5] = windows[11] = windows[17] = 0;
    spec.groups = KvGroups::of(windows);
    EXPECT_EQ(spec.n_groups(), 6u);
    EXPECT_EQ(spec.block_bytes() * 6, whole);
    EXPECT_EQ(spec.bytes_per_token(), of_a_token);
}

}  // namespace kvik
