// What passes between the prefix tree and a tier below: nodes to be saved, and records to be read.
//
// Shape  a record holds one node: its first n_tokens tokens and their KV of some groups.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/types.h"
#include "cache/block_pool.h"
#include "cache/prefix/prefix_hit.h"
#include "cache/tier_ref.h"

namespace kvik {

// One block to be read from a record.
struct LoadItem {
    NodeHandle node;
    uint32_t block_index = 0;
    uint32_t group = 0;
    TierRef ref = kNoTier;
    std::vector<TokenId> tokens;  // of the record: what it must prove to hold
};

// Reading all items makes the first n_tokens usable: more than now, and no item more than that
// takes. In order of logical block, and within a node the full groups last. Empty: nothing to gain.
struct LoadPlan {
    uint32_t n_tokens = 0;
    std::vector<LoadItem> items;
};

// A node whose state in RAM is not wholly on the tier.
struct SaveItem {
    NodeHandle node;
    std::optional<NodeHandle> parent;  // nothing: the first of its sequence
    uint32_t block_index = 0;
    std::vector<TokenId> tokens;
    std::vector<std::pair<uint32_t, BlockRef>> blocks;  // group, a share
};

// A record that a tier holds.
struct TierRecord {
    TierRef ref = kNoTier;
    uint32_t group_mask = 0;  // bit g: it holds group g
    uint32_t n_tokens = 0;    // of the node, from its first on
};

}  // namespace kvik
