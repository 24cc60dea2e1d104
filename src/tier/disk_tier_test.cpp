#include "tier/disk_tier.h"

#include <gtest/gtest.h>

#include "testing/scratch_folder.h"
#include "tier/tier_rig.h"

namespace kvik {
namespace {

TEST(disk_tier, gives_back_what_was_saved_in_this_life_and_in_the_next) {
    const ScratchFolder folder;
    const auto path = rig_path(1, 5);
    {
        const auto tier = open_rig(rig_options(folder.path()));
        const auto saved = save_path(*tier, path);
        ASSERT_EQ(saved.size(), path.size());
        for (size_t i = 0; i < path.size(); ++i) {
            EXPECT_EQ(saved[i].id, path[i].id);
            for (uint32_t group = 0; group < kRigGroups; ++group)
                EXPECT_EQ(read_rig(*tier, saved[i].ref, path[i].id, group, path[i].tokens),
                          Read::right);
        }
    }
    const auto tier = open_rig(rig_options(folder.path()));
    const auto index = tier->take_index();
    ASSERT_EQ(index.size(), path.size());
    for (size_t i = 0; i < path.size(); ++i) {
        EXPECT_EQ(index[i].id, path[i].id);
        EXPECT_EQ(index[i].parent, path[i].parent);
        EXPECT_EQ(index[i].tokens, path[i].tokens);
        EXPECT_EQ(index[i].group_mask, 0b111u);
        EXPECT_EQ(read_rig(*tier, index[i].ref, path[i].id, 2, path[i].tokens), Read::right);
    }
}

}  // namespace
}  // namespace kvik
