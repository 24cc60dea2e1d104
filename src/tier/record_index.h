// DiskRecord, parents_first: puts the records that a scan found into the order in which the prefix
// cache can add them: parents first, one record per block.
//
// Owner   plain values.
// Threads any; there is no state.
// Cost    linear in the records, with a hash map.
// Invariant a record without its parent is left out: nothing says which tokens came before it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/types.h"
#include "cache/kv_keys.h"
#include "tier/record_layout.h"

namespace kvik {

struct DiskRecord {
    TierRef ref = kNoTier;
    RecordKind kind = RecordKind::kv;
    NamespaceKey ns;
    BlockHash hash = {};  // logits: that of the block after whose last token they are
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
