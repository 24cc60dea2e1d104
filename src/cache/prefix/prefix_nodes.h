// PrefixNodes: the parts that make up the prefix cache, and the changes of a node that concern
// several of them at once.
//
// Parts   index (tokens), residency (blocks, records), order (eviction), points (resume points),
//         pins, logits. Each owns its state and can be read directly; what changes more than one of
//         them goes through a function here, so that they agree again when it returns.
// States  a node is resident or offloaded, as the two lists of children in prefix_index.h. All
//         nodes before a resident node are resident. An offloaded node has a record on the tier, or
//         is a ghost entry: its tokens alone are known.
// Use     PrefixCache owns one; PrefixReader, PrefixWriter and PrefixEvictor work on it.
// Threads the engine thread.
// Cost    linking and unlinking are O(siblings); a block or record change is O(groups + log n);
//         touch is O(nodes of the path); trim_offloaded is O(log n) per node that it removes.
//         check_invariants is O(nodes).
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "cache/eviction.h"
#include "cache/logits_store.h"
#include "cache/prefix/kv_residency.h"
#include "cache/prefix/pin_table.h"
#include "cache/prefix/prefix_index.h"
#include "cache/prefix/prefix_reports.h"
#include "cache/prefix/resume_points.h"

namespace kvik {

struct PrefixCacheOptions {
    uint32_t block_tokens = 32;
    uint32_t n_blocks = 0;                             // of the pool
    std::shared_ptr<const KvGroups> groups = nullptr;  // null: one group of all layers
    uint64_t logits_bytes = 0;
    EvictionPolicy policy = EvictionPolicy::lru;
    uint32_t n_offloaded = 0;      // the most offloaded nodes; 0: evicted nodes are forgotten
    uint32_t pinned_percent = 50;  // of the blocks: the most that pins with a time may hold
    uint32_t resume_every = 1024;  // tokens from one resume point to the next on a path; 0: none
    // Time to compute tokens again; null: as many ms as they are. It may change.
    RecomputeCost recompute_ms = nullptr;
};

// What the index of a prefix cache is sized by.
struct IndexSize {
    uint32_t n_blocks = 0, n_offloaded = 0, block_tokens = 32, n_groups = 1;
};

class PrefixNodes {
  public:
    explicit PrefixNodes(const PrefixCacheOptions& wanted);
    PrefixNodes(const PrefixNodes&) = delete;
    PrefixNodes& operator=(const PrefixNodes&) = delete;

    // ---- parts ----

    const PrefixCacheOptions options;
    PrefixIndex index;
    KvResidency residency;
    EvictionOrder order;
    ResumePoints points;
    PinTable pins;
    LogitsStore logits;
    PrefixStats counters;  // those of PrefixStats that only grow
    double now_ms = 0;

    // ---- nodes ----

    bool is_resident(const NodeHandle& handle) const;
    uint32_t root_of(const NamespaceKey& ns);                             // makes it if need be
    uint32_t add_node(uint32_t parent, std::span<const TokenId> tokens);  // not linked yet
    void remove(uint32_t node);                                           // it has no children
    void free_unlinked(uint32_t node);
    // The path to the node is used now; its nodes are ranked again.
    void touch_path(uint32_t node, PathUse use);

    // ---- resident and offloaded ----

    void link_resident(uint32_t node);
    // Its blocks, resume points and logits go.
    void unlink_resident(uint32_t node);
    void link_offloaded(uint32_t node);
    // Its blocks, if some were loaded, go.
    void unlink_offloaded(uint32_t node);
    // A resident node without resident children keeps its tokens and record only. If offloaded
    // nodes are not kept, it is removed.
    void offload(uint32_t leaf);
    // The tokens of one node begin those of the other. The record, history and offloaded children
    // of `other`, which is in no list, go to `node`.
    void merge(uint32_t node, uint32_t other);
    void trim_offloaded();  // removes offloaded nodes until no more are left than may be

    // ---- blocks and records ----

    void set_block(uint32_t node, uint32_t group, const BlockRef& ref, uint32_t n_rows);
    void clear_blocks(uint32_t node, uint32_t first_group);
    void clear_block(uint32_t node, uint32_t group);
    void set_record(uint32_t node, const TierRecord& record);
    void drop_loaded(uint32_t offloaded);  // the blocks that were loaded for an offloaded node

    // Brings the order of eviction up to date after a node's children or pins changed.
    void update_order(uint32_t node);

    // ---- accounts ----

    uint64_t n_bytes() const;
    static uint64_t index_bytes(const IndexSize& size);  // see PrefixCache
    void check_invariants() const;

  private:
    void add_slots();
    void add_to_offloaded_order(uint32_t node);
    void remove_from_offloaded_order(uint32_t node);
    void after_loss_of_child(uint32_t parent);
    IndexSize size() const;
    void check_node(uint32_t node) const;
};

}  // namespace kvik
