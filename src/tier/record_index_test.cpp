#include "tier/record_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tier/tier_rig.h"

namespace kvik {
namespace {

DiskRecord record_of(const RigBlock& block, TierRef ref, uint32_t group_mask = 0b111) {
    return {.ref = ref,
            .ns = block.ns,
            .hash = block.hash,
            .parent = block.parent,
            .tokens = block.tokens,
            .group_mask = group_mask};
}

TEST(record_index, parents_come_before_children_in_whatever_order_they_were_found) {
    std::vector<DiskRecord> found;
    TierRef ref = 0;
    for (uint32_t sequence = 0; sequence < 4; ++sequence)
        for (const RigBlock& block : rig_path(sequence, 6))
            found.push_back(record_of(block, ++ref));
    for (uint32_t turn = 0; turn < 20; ++turn) {
        std::vector<DiskRecord> shuffled = found;
        for (size_t i = shuffled.size() - 1; i > 0; --i)
            std::swap(shuffled[i],
                      shuffled[philox4x32({static_cast<uint32_t>(i), turn}, {})[0] % (i + 1)]);
        const OrderedRecords ordered = parents_first(std::move(shuffled));
        EXPECT_EQ(ordered.records.size(), found.size());
        EXPECT_EQ(ordered.n_orphans, 0u);
        std::set<BlockHash> seen = {kRootHash};
        for (const DiskRecord& record : ordered.records) {
            EXPECT_TRUE(seen.contains(record.parent)) << "turn " << turn;
            seen.insert(record.hash);
        }
    }
}

TEST(record_index, a_record_whose_parent_is_not_there_is_left_out_with_all_that_follow_it) {
    std::vector<DiskRecord> found;
    const auto path = rig_path(1, 6);
    for (size_t i = 0; i < path.size(); ++i)
        if (i != 2) found.push_back(record_of(path[i], i + 1));
    const OrderedRecords ordered = parents_first(std::move(found));
    EXPECT_EQ(ordered.records.size(), 2u);
    EXPECT_EQ(ordered.n_orphans, 3u);
}

TEST(record_index, of_two_records_of_a_block_the_one_with_more_groups_stays) {
    const RigBlock block = rig_path(1, 1)[0];
    for (const bool reversed : {false, true}) {
        std::vector<DiskRecord> found = {record_of(block, 1, 0b001), record_of(block, 2, 0b111)};
        if (reversed) std::ranges::reverse(found);
        const OrderedRecords ordered = parents_first(std::move(found));
        ASSERT_EQ(ordered.records.size(), 1u);
        EXPECT_EQ(ordered.records[0].ref, 2u);
        EXPECT_EQ(ordered.n_duplicates, 1u);
    }
}

TEST(record_index, logits_stand_beside_the_kv_of_the_same_tokens) {
    const RigBlock block = rig_path(1, 1)[0];
    DiskRecord logits = record_of(block, 2, 1);
    logits.kind = RecordKind::logits;
    const OrderedRecords ordered = parents_first({logits, record_of(block, 1)});
    ASSERT_EQ(ordered.records.size(), 2u);
    EXPECT_EQ(ordered.records[0].kind, RecordKind::kv);
    EXPECT_EQ(ordered.records[1].kind, RecordKind::logits);
}

}  // namespace
}  // namespace kvik
