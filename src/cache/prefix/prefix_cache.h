// PrefixCache: finds the KV of a prompt's longest prefix that was computed before. Per namespace it
// is a tree of token blocks; every hit is proved token by token.
//
// Use     match() before a prompt is computed, use() when the hit is taken, insert() what was
//         computed. When the pool runs short: evict(), then release_shared(). With a tier below:
//         plan_load() and load_back() before match(), unsaved() and note_saved() after insert().
// Shape   one node per block index; it is resident, with KV in RAM, or offloaded, with a record on
//         the tier or as a ghost entry of which the tokens alone are known (prefix_nodes.h). A
//         sequence of a model with windows can go on at resume points only (resume_points.h).
// Parts   index, residency, eviction order, resume points, pins (a header each). This class adds no
//         state to them.
// Owner   its shares of blocks and the stored logits. It outlives its Pins and does not move.
// Threads the engine thread.
// Cost    match, use, explain, insert, plan_load, unsaved and forget are linear in the tokens, with
//         one search among siblings per block. evict and release_shared are O(log n) amortised per
//         block that is freed and per leaf that is passed over because a sequence owns it too.
//         accounts, drop_tier and check_invariants scan all nodes; stats and n_bytes are O(1).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/types.h"
#include "cache/block_pool.h"
#include "cache/kv_spec.h"
#include "cache/prefix/prefix_nodes.h"
#include "cache/prefix/prefix_writer.h"

namespace kvik {

class PrefixCache;

// Guards a path from eviction while it lives.
class [[nodiscard]] Pin {
  public:
    Pin(Pin&& other) noexcept : cache_(std::exchange(other.cache_, nullptr)), node_(other.node_) {}
    Pin& operator=(Pin&& other) noexcept;
    ~Pin();

  private:
    friend class PrefixCache;
    Pin(PrefixCache& cache, uint32_t node) : cache_(&cache), node_(node) {}
    PrefixCache* cache_;  // null once moved from
    uint32_t node_;
};

class PrefixCache {
  public:
    explicit PrefixCache(const PrefixCacheOptions& options) : nodes_(options) {}
    ~PrefixCache();
    PrefixCache(const PrefixCache&) = delete;
    PrefixCache& operator=(const PrefixCache&) = delete;

    // Returns the longest cached prefix of `tokens` from which a sequence can go on. Changes
    // nothing, not even the order of eviction: call use() when the hit is taken.
    PrefixHit match(const NamespaceKey& ns, std::span<const TokenId> tokens) const;
    // Says why match() finds as much as it does.
    PathReport explain(const NamespaceKey& ns, std::span<const TokenId> tokens) const;

    // The hit was used: its path is the most recent now, and is counted.
    void use(const PrefixHit& hit);

    // Publishes the KV of `tokens`, which lies in these blocks (BlockTable::group_blocks(); the
    // last one may be partly filled). Give only tokens that can no longer be refused. Tokens that
    // are cached already keep their blocks, but take one of a window that they lack. A longer fill
    // of a cached tail replaces the shorter. New blocks are shared, not taken, and therefore copied
    // by their owner before its next write into them.
    InsertReport insert(const NamespaceKey& ns, std::span<const TokenId> tokens,
                        std::span<const GroupBlocks> groups,
                        InsertKind kind = InsertKind::boundary);

    // Stores the logits after the last of `tokens`, whose KV is cached to its end. False: it is
    // not, or the logits alone exceed the budget. The least recently used logits make room.
    bool store_logits(const NamespaceKey& ns, std::span<const TokenId> tokens,
                      std::span<const float> logits);

    // ---- keeping and releasing ----

    // Guards the hit's path. Nothing if the hit is empty or its node is gone.
    std::optional<Pin> pin(const PrefixHit& hit);

    // Guards the hit's path until set_clock passes until_ms. False: its node is gone, or all that
    // is so guarded would exceed pinned_percent of the blocks.
    bool pin_until(const PrefixHit& hit, double until_ms);
    void set_clock(double now_ms);  // never goes back; ends the pins whose time has come

    // The path of `tokens` is of no more use from its first `from` tokens on: concerns the nodes
    // that begin there or later, are wholly matched and unpinned, and that no other path needs.
    void forget(const NamespaceKey& ns, std::span<const TokenId> tokens, uint32_t from,
                ForgetKind kind);

    // Frees n_blocks blocks or as many as it can, and returns how many; a few more may go, as all
    // groups of a node go together. prefix_evictor.h has the order.
    uint32_t evict(uint32_t n_blocks);

    // The last resort before preemption: releases up to n_leaves unpinned leaves that live
    // sequences own too; returns how many. It frees no block by itself, but their owners need no
    // copy of such a tail any more, and their parents become evictable.
    uint32_t release_shared(uint32_t n_leaves);

    // ---- the tier below ----

    // Says which blocks are worth reading for `tokens`.
    LoadPlan plan_load(const NamespaceKey& ns, std::span<const TokenId> tokens) const;
    // The item's block was read. False: the node is gone or has it already.
    bool load_back(const LoadItem& item, const BlockRef& block);
    void lose(const LoadItem& item);  // its record is bad: the node forgets it

    // Returns what of the path of `tokens` is in RAM and not on the tier, parents first.
    std::vector<SaveItem> unsaved(const NamespaceKey& ns, std::span<const TokenId> tokens);
    void note_saved(const NodeHandle& node, const TierRecord& record);
    // The hash of the last block of `tokens`, and of the block before it. Nodes keep their hashes,
    // so that only tokens that are not cached are hashed.
    EndHashes end_hashes(const NamespaceKey& ns, std::span<const TokenId> tokens);

    // Adds a record that the tier has already, at the end of its parent (nothing: of the
    // namespace). Of two records of one node the longer is kept. The record is of all `tokens`. An
    // invalid handle: the parent is gone, or there is no room.
    NodeHandle add_offloaded(const NamespaceKey& ns, const std::optional<NodeHandle>& parent,
                             std::span<const TokenId> tokens, TierRef ref, uint32_t group_mask);
    void drop_tier(const std::function<bool(TierRef)>& is_gone);  // forgets these records

    // ---- accounts ----

    std::vector<TreeLine> draw(uint32_t most_lines) const;
    TreeAccounts accounts() const;
    PrefixStats stats() const;
    uint64_t n_bytes() const { return nodes_.n_bytes(); }  // without the blocks themselves
    void check_invariants() const { nodes_.check_invariants(); }

    // Bytes of the index, stored logits apart: what a cache of this size can come to.
    static uint64_t index_bytes(const IndexSize& size) { return PrefixNodes::index_bytes(size); }

  private:
    friend class Pin;
    void unpin(uint32_t node);

    PrefixNodes nodes_;
};

// One number of bytes, divided among everything that the cache holds: blocks, the pool's counts,
// the nodes of the prefix cache and stored logits. n_bytes <= cache_bytes, also for one block only.
struct CacheBudget {
    uint32_t n_blocks = 0;      // for BlockPool and KvStorage
    uint64_t logits_bytes = 0;  // for PrefixCacheOptions::logits_bytes
    uint32_t n_offloaded = 0;   // for PrefixCacheOptions::n_offloaded
    uint64_t n_bytes = 0;       // all of it
};

// O(1). Errors: there is no room for one block (memory), with both numbers and the flag.
Result<CacheBudget> plan_cache(const KvSpec& spec, uint64_t cache_bytes);

}  // namespace kvik
