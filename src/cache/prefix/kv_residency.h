// KvResidency: what the nodes of the prefix cache hold of one plane of KV: per node and layer group
// a block in RAM, and per node at most one record on the tier below.
//
// Plane   one model's KV: its block pool, its layer groups and their windows. Today there is one
//         plane. KV of a second model (a drafter) is a second KvResidency over the same node
//         numbers, with windows, blocks and records of its own.
// Shape   a block counts for its first n_rows tokens. Full groups (without a window) come first.
// Owner   its BlockRefs. It knows nodes by number and learns from its callers how many tokens a
//         node has and whether it is resident.
// Threads the engine thread.
// Cost    O(groups) per call; usable_tokens is O(nodes of the path x groups); forget_block is
//         O(partly loaded nodes); only check_invariants scans all nodes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cache/block_pool.h"
#include "cache/kv_spec.h"
#include "cache/prefix/prefix_index.h"
#include "cache/prefix/prefix_types.h"

namespace kvik {

inline constexpr uint32_t kMaxKvGroups = 32;  // a group is a bit of a mask

// Which KV counts as there.
enum class KvState : uint8_t { in_ram, with_tier };

class KvResidency {
  public:
    struct NodeBlock {
        std::optional<BlockRef> ref;
        uint32_t n_rows = 0;  // the first rows that count
    };

    // groups may be null: one group of all layers.
    KvResidency(const KvGroups* groups, uint32_t block_tokens, uint64_t max_nodes);

    // ---- the plane ----

    uint32_t n_groups() const { return static_cast<uint32_t>(windows_.size()); }
    uint32_t n_full() const { return n_full_; }                        // groups without a window
    uint32_t window(uint32_t group) const { return windows_[group]; }  // 0: none
    uint32_t widest_window() const { return widest_; }                 // 0: no group has one
    // The first block index that a group of this window needs to compute the token after n_tokens.
    uint32_t first_block(uint32_t window, uint32_t n_tokens) const {
        return first_needed(window, n_tokens) / block_tokens_;
    }

    // ---- blocks ----

    const NodeBlock& block(uint32_t node, uint32_t group) const { return blocks_[at(node, group)]; }
    void set_block(uint32_t node, uint32_t group, const BlockRef& ref, uint32_t n_rows);
    void clear_block(uint32_t node, uint32_t group);
    uint32_t n_blocks() const { return n_blocks_; }  // of all nodes
    uint32_t n_blocks_of(uint32_t node) const;
    uint32_t n_unshared_of(uint32_t node) const;  // blocks without another owner
    bool has_window_block(uint32_t node) const;
    bool shares_window_block(uint32_t node) const;  // one of them has another owner too
    // Bit g: group g has all n_tokens of the node.
    uint32_t group_mask(uint32_t node, uint32_t n_tokens) const;

    // Offloaded nodes of which some blocks have been read from the tier, in the order of reading.
    const std::vector<uint32_t>& partly_loaded() const { return partly_loaded_; }
    void note_partly_loaded(uint32_t node);
    void forget_partly_loaded(uint32_t node);

    // ---- records on the tier ----

    const TierRecord& record(uint32_t node) const { return records_[node]; }
    void set_record(uint32_t node, const TierRecord& record);
    bool has_record(uint32_t node) const { return records_[node].ref != kNoTier; }
    // Its record holds all full groups, so that its tokens can be loaded back.
    bool is_on_tier(uint32_t node) const;

    // ---- paths ----

    // Rows of a node that its block or, with the tier, its record has. Blocks of a node that is not
    // resident do not count.
    uint32_t n_rows(uint32_t node, uint32_t group, KvState state, bool is_resident) const;
    // The most tokens of a path after which a sequence can go on: every group has all blocks that
    // the next token needs, and all rows of those before the last.
    uint32_t usable_tokens(const PrefixPath& path, KvState state) const;

    // ---- accounts ----

    void add_slots(uint32_t n_slots);  // node numbers below n_slots may be used
    static uint64_t bytes_of(uint64_t max_nodes, uint64_t n_nodes, uint32_t n_groups);
    void check_invariants() const;  // O(nodes)

  private:
    size_t at(uint32_t node, uint32_t group) const { return size_t{node} * n_groups() + group; }

    uint32_t block_tokens_;
    std::vector<uint32_t> windows_;  // [n_groups] full ones first
    uint32_t n_full_ = 1;
    uint32_t widest_ = 0;
    std::vector<NodeBlock> blocks_;    // [n_slots, n_groups]
    std::vector<TierRecord> records_;  // [n_slots]
    std::vector<uint32_t> partly_loaded_;
    uint32_t n_blocks_ = 0;
};

}  // namespace kvik
