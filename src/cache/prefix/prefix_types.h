// PrefixHit, LoadPlan, SaveItem, TierRecord: what passes between the prefix cache, its users and a
// tier below. Plain values.
//
// Owner     a hit owns shares of its blocks, so that nothing of it is evicted while it lives; so
//           does a SaveItem. A NodeHandle owns nothing: it tells whether its node is still there.
// Invariant full groups of a hit have all blocks up to the last; a group with a window has those
//           that the token after n_tokens needs. A record holds one node: its first n_tokens tokens
//           and their KV of some groups.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/types.h"
#include "cache/block_pool.h"
#include "cache/kv_keys.h"

namespace kvik {

// Returns how many tokens two lists have in common at their beginning.
inline uint32_t common_prefix(std::span<const TokenId> a, std::span<const TokenId> b) {
    const size_t n = std::min(a.size(), b.size());
    return static_cast<uint32_t>(std::mismatch(a.begin(), a.begin() + n, b.begin()).first -
                                 a.begin());
}

// Names a node of the prefix cache for as long as it exists; the handle of a freed node is
// recognised.
struct NodeHandle {
    uint32_t index = UINT32_MAX;
    uint32_t generation = 0;
    bool operator==(const NodeHandle&) const = default;
};

struct PrefixHit {
    std::vector<GroupRefs> groups;  // [n_groups] whole blocks, then the tail's if tail_rows > 0
    uint32_t n_tokens = 0;          // usable: from here a sequence can go on
    // Rows of the last block that match; 0: all blocks are whole.
    uint32_t tail_rows = 0;
    // Tokens of which all full groups have KV in RAM. Those beyond n_tokens cannot be used: no
    // resume point of the groups with a window stands there.
    uint32_t n_resident = 0;
    uint32_t n_known = 0;  // tokens matched at all: in RAM, on a tier below, or evicted
    NodeHandle node;       // the deepest node of the usable part, matched wholly or in part
    // Logits after the last token, [vocab_size], if n_tokens are all tokens asked for and they were
    // stored; else empty. Valid until the cache changes.
    std::span<const float> logits;
};

// ---- the tier below ----

// One block to be read from a record.
struct LoadItem {
    NodeHandle node;
    uint32_t block_index = 0;
    uint32_t group = 0;
    TierRef ref = kNoTier;
    std::vector<TokenId> tokens;  // of the record: what it must prove to hold
};

// The blocks to read so that the first n_tokens become usable, which are more than now. They are in
// the order of block index, and within a node the full groups come last. Empty: nothing can be
// gained.
struct LoadPlan {
    uint32_t n_tokens = 0;
    std::vector<LoadItem> items;
};

// A node of which the tier lacks something that is in RAM.
struct SaveItem {
    NodeHandle node;
    BlockHash parent_hash = kRootHash;  // of the block before it
    BlockHash hash = {};
    uint32_t block_index = 0;
    std::vector<TokenId> tokens;
    std::vector<std::pair<uint32_t, BlockRef>> blocks;  // group, a share
};

// The hash of a sequence's last block, and of the block before it.
struct EndHashes {
    BlockHash parent = kRootHash, hash = {};
};

// A record that a tier holds.
struct TierRecord {
    TierRef ref = kNoTier;
    uint32_t group_mask = 0;  // bit g: it holds group g
    uint32_t n_tokens = 0;    // of the node, from its first on
};

}  // namespace kvik
