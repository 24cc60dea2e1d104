// RecordIndex: what a scan found, in the order in which a tree can take it: parents first, one
// record for each block.
//
// Cost    linear, with a hash map.
// Invariant  a record without its parent is left out: nothing says which tokens came before it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/types.h"
#include "cache/block_hash.h"
#include "cache/namespace_key.h"
#include "cache/tier_ref.h"
#include "tier/record_layout.h"

namespace kvik {

struct DiskRecord {
    TierRef ref = kNoTier;
    RecordKind kind = RecordKind::kv;
    NamespaceKey ns;
    BlockHash id = {};  // logits: that of the block after whose last token they are
    BlockHash parent = {};
    std::vector<TokenId> tokens = {};
    uint32_t group_mask = 0;
};

struct OrderedRecords {
    std::vector<DiskRecord> records;
    uint64_t n_duplicates = 0;  // of two of a block, the one with more groups stays, else the later
    uint64_t n_orphans = 0;
};

OrderedRecords parents_first(std::vector<DiskRecord> found);

}  // namespace kvik
