// PrefixCache: (namespace, tokens) -> KV blocks that were computed before, proved token by token.
//
// Shape   one node per block index. Resident: it has a block of every full group and perhaps of
//         groups with a window; offloaded: its tokens alone are left (a ghost), or a record of a
//         tier below. Siblings that diverge inside a logical block have a node each; a partly
//         filled tail is a leaf.
//           root -- [the cat sat] -- [on the mat] -- [and]       all before a resident node is
//           resident
//                                 |- (on the sofa)
// Owner   its BlockRefs, stored logits; the tree outlives its Pins and stays where it is.
// Threads the engine thread.
// Cost    find, use, explain and insert are linear in the tokens; evict is O(log n) a block, plus
//         one skip for each leaf that a live sequence shares.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "base/types.h"
#include "cache/block_pool.h"
#include "cache/eviction.h"
#include "cache/group_blocks.h"
#include "cache/kv_groups.h"
#include "cache/logits_store.h"
#include "cache/namespace_key.h"
#include "cache/prefix/prefix_hit.h"
#include "cache/prefix/prefix_reports.h"
#include "cache/prefix/prefix_tier.h"
#include "cache/stats.h"

namespace kvik {

class PrefixCache;

// Guards a path from eviction while it lives.
class [[nodiscard]] Pin {
  public:
    Pin(Pin&& other) noexcept : tree_(std::exchange(other.tree_, nullptr)), node_(other.node_) {}
    Pin& operator=(Pin&& other) noexcept;
    ~Pin();

  private:
    friend class PrefixCache;
    Pin(PrefixCache& tree, uint32_t node) : tree_(&tree), node_(node) {}
    PrefixCache* tree_;  // null once moved from
    uint32_t node_;
};

struct InsertReport {
    uint32_t n_new = 0;         // blocks the tree took a share of, longer tails included
    uint32_t n_duplicates = 0;  // whole blocks whose tokens were cached in another block:
                                // BlockTable::remap frees them
};

enum class InsertKind : uint8_t {
    boundary,  // others will go on from here: its end is a resume point
    passing,   // published on the way
};

struct PrefixCacheOptions {
    uint32_t block_tokens = 32;
    uint32_t n_blocks = 0;                             // of the pool
    std::shared_ptr<const KvGroups> groups = nullptr;  // null: one group of all layers
    uint64_t logits_bytes = 0;
    EvictionPolicy policy = EvictionPolicy::lru;
    uint32_t n_offloaded = 0;      // the most nodes offloaded
    uint32_t pinned_percent = 50;  // of the blocks: the most that pins with a time may hold
    uint32_t resume_every = 1024;  // tokens from one resume point to the next on a path; 0: none
    // What n_tokens after `depth` others cost to compute; null: as many as they are. It may change.
    std::function<double(uint32_t depth, uint32_t n_tokens)> recompute_ms = nullptr;
};

// What the index of a tree is sized by.
struct IndexSize {
    uint32_t n_blocks = 0, n_offloaded = 0, block_tokens = 32, n_groups = 1;
};

class PrefixCache {
  public:
    explicit PrefixCache(const PrefixCacheOptions& options);
    ~PrefixCache();
    PrefixCache(const PrefixCache&) = delete;
    PrefixCache& operator=(const PrefixCache&) = delete;

    // The longest cached prefix of `tokens` from which a sequence can go on. Changes nothing, not
    // even the order of eviction: call use() when the hit is taken.
    PrefixHit find(const NamespaceKey& ns, std::span<const TokenId> tokens) const;
    PathReport explain(const NamespaceKey& ns, std::span<const TokenId> tokens) const;

    // The hit was used: its path is the most recent now, and is counted.
    void use(const PrefixHit& hit);

    // Publishes the KV of `tokens`, which lies in these blocks (BlockTable::group_blocks(); the
    // last one may be partly filled). Only tokens that can no longer be refused. First wins: tokens
    // cached already keep their blocks, but take one of a window that they lack. A longer fill of a
    // cached tail replaces the shorter. New blocks are shared, not taken, and therefore copied by
    // their owner before its next write into them.
    InsertReport insert(const NamespaceKey& ns, std::span<const TokenId> tokens,
                        std::span<const GroupBlocks> groups,
                        InsertKind kind = InsertKind::boundary);

    // Remembers the logits after the last of `tokens`, whose KV is cached to its end. False: it is
    // not, or the logits alone exceed the budget. The least recently used logits make room.
    bool store_logits(const NamespaceKey& ns, std::span<const TokenId> tokens,
                      std::span<const float> logits);

    // ---- keeping and releasing ----

    // Nothing if the hit is empty or its node is gone.
    std::optional<Pin> pin(const PrefixHit& hit);

    // Guards a path until set_clock passes until_ms. False: the hit's node is gone, or all that is
    // so guarded would exceed pinned_percent of the blocks.
    bool pin_until(const PrefixHit& hit, double until_ms);
    void set_clock(double now_ms);  // never goes back; releases the pins whose time has come

    // The path of `tokens` is of no more use from its first `from` tokens on: the nodes that begin
    // there or later, are wholly matched and unpinned, and that no other path needs.
    void forget(const NamespaceKey& ns, std::span<const TokenId> tokens, uint32_t from,
                ForgetKind kind);

    // Frees n_blocks blocks or as many as it can, and returns how many; a few more may go, as all
    // groups of a node go together. First the blocks of windows that no resume point needs, the
    // least recently used first; then leaves in the policy's order, which are offloaded; at last
    // the windows of resume points. What is pinned or owned by somebody else too is passed over.
    uint32_t evict(uint32_t n_blocks);

    // The last resort before preemption: releases up to n_leaves unpinned leaves that live
    // sequences own too; returns how many. It frees no block by itself, but their owners need no
    // copy of such a tail any more, and their parents become evictable.
    uint32_t release_shared(uint32_t n_leaves);

    // ---- the tier below ----

    LoadPlan plan_load(const NamespaceKey& ns, std::span<const TokenId> tokens) const;
    // The item's block was read. False: the node is gone or has it already.
    bool load_back(const LoadItem& item, const BlockRef& block);
    void lose(const LoadItem& item);  // its record is bad: the node forgets it

    // What of the path of `tokens` is in RAM and not on the tier, parents first.
    std::vector<SaveItem> unsaved(const NamespaceKey& ns, std::span<const TokenId> tokens) const;
    void note_saved(const NodeHandle& node, TierRef ref, uint32_t group_mask, uint32_t n_tokens);

    // A record that the tier has already, at the end of its parent (nothing: of the namespace). Of
    // two records of one node the longer wins. An invalid handle: the parent is gone, or no room.
    NodeHandle add_offloaded(const NamespaceKey& ns, const std::optional<NodeHandle>& parent,
                             std::span<const TokenId> tokens, TierRef ref, uint32_t group_mask);
    void drop_tier(const std::function<bool(TierRef)>& is_gone);  // O(nodes)

    // ---- accounts ----

    std::vector<TreeLine> draw(uint32_t most_lines) const;
    TreeAccounts accounts() const;  // O(nodes)
    PrefixStats stats() const;
    uint64_t n_bytes() const;  // index, token lists and logits, without the blocks themselves
    void check_invariants() const;

    // Bytes of the index, stored logits apart: what a tree of this size can come to.
    static uint64_t index_bytes(const IndexSize& size);

  private:
    friend class Pin;
    static constexpr uint32_t kNone = UINT32_MAX;
    static constexpr uint32_t kMostGroups = 32;  // a group is a bit of a mask

    struct Node {
        uint32_t parent = kNone;      // kNone: a root, or free
        uint32_t generation = 0;      // grows whenever a node dies here
        uint32_t begin = 0;           // tokens before it
        bool is_resident = false;     // every full group has a block; so have all nodes before it
        std::vector<TokenId> tokens;  // [1 .. block_tokens]; fewer than that: a leaf
        std::vector<uint32_t> resident, offloaded;  // children, each sorted by tokens
        const NamespaceKey* ns = nullptr;           // roots only; lives in roots_
        // history
        uint64_t last_use = 0;  // never above the parent's
        uint64_t inserted = 0;
        uint64_t n_uses = 1;
        EvictionRank rank;      // as of the last use
        double evicted_ms = 0;  // offloaded: since when
        // pins
        uint32_t n_pins = 0;
        uint32_t n_timed = 0;     // pins with a time at or below it
        double pinned_until = 0;  // 0: no pin with a time
        // resume points
        uint32_t resume_rows = 0;  // the first that stands in it is after so many rows; 0: none
        uint32_t n_anchors = 0;    // nodes whose resume points need its blocks of a window
        uint64_t loose_since = 0;  // its key in loose_; 0: not there
        TierRecord tier;
    };
    struct NodeBlock {
        std::optional<BlockRef> ref;
        uint32_t n_rows = 0;  // the first rows that count
    };
    // How far the tokens after a node go on in its best child of a list.
    struct Match {
        uint32_t child = kNone;  // kNone: none has a token in common
        uint32_t n_tokens = 0;
        size_t slot = 0;  // where in the list these tokens stand or would stand
    };
    // Nodes of consecutive logical blocks, each wholly matched but for the last.
    struct Path {
        std::vector<uint32_t> nodes;
        uint32_t n_tokens = 0;  // matched
        uint32_t root = kNone;  // kNone: nothing of this namespace
        uint32_t end() const { return nodes.empty() ? root : nodes.back(); }
    };
    enum class State : uint8_t { in_ram, with_tier };
    enum class Owners : uint8_t { tree_alone, others_too };
    enum class Touch : uint8_t { published, hit };
    using Offer = std::span<const BlockRef* const>;              // [n_groups] null: none
    using Ranked = std::pair<EvictionRank, uint32_t>;            // rank, node
    using Loose = std::tuple<uint64_t, uint32_t, uint32_t>;      // since, begin, node
    using OffloadedRank = std::tuple<bool, uint64_t, uint32_t>;  // has a record, last use, node

    // finding
    Match match(const std::vector<uint32_t>& list, std::span<const TokenId> rest) const;
    Path walk_resident(const NamespaceKey& ns, std::span<const TokenId> tokens) const;
    Path walk_on_offloaded(const Path& resident, std::span<const TokenId> tokens) const;
    uint32_t n_rows(uint32_t node, uint32_t group, State state) const;
    uint32_t usable_tokens(const Path& path, State state) const;
    std::optional<Path> beside(const Path& path, std::span<const TokenId> tokens) const;
    uint32_t first_block(uint32_t window, uint32_t n_tokens) const;
    uint32_t block_index_of(uint32_t node) const {
        return nodes_[node].begin / options_.block_tokens;
    }
    LogitsKey logits_key(const PrefixHit& hit) const;
    bool is_alive(const NodeHandle& handle) const;
    bool is_resident(const NodeHandle& handle) const;
    NodeHandle handle_of(uint32_t node) const { return {node, nodes_[node].generation}; }
    void touch_path(uint32_t node, Touch touch);
    EvictionRank rank_of(const Node& node) const;
    std::optional<Difference> difference(uint32_t node, uint32_t n_known,
                                         std::span<const TokenId> rest) const;
    bool is_on_tier(uint32_t node) const;
    TreeLine line_of(uint32_t first, uint32_t* last) const;

    // nodes
    uint32_t new_node(uint32_t parent, std::span<const TokenId> tokens);
    uint32_t new_slot();
    void free_node(uint32_t node);
    uint32_t root_of(const NamespaceKey& ns);
    void add_to(std::vector<uint32_t>& list, uint32_t node);
    void take_from(std::vector<uint32_t>& list, uint32_t node);
    void join_resident(uint32_t node);
    void leave_resident(uint32_t node);
    void join_offloaded(uint32_t node);
    void leave_offloaded(uint32_t node);
    void offload(uint32_t leaf);
    void remove(uint32_t node);  // it has no children
    void after_loss_of_child(uint32_t parent);
    void absorb(uint32_t node, uint32_t offloaded);
    void trim_offloaded();
    void enter_offloaded_leaves(uint32_t node);
    void leave_offloaded_leaves(uint32_t node);

    // blocks
    NodeBlock& block(uint32_t node, uint32_t group) { return blocks_[at(node, group)]; }
    const NodeBlock& block(uint32_t node, uint32_t group) const { return blocks_[at(node, group)]; }
    size_t at(uint32_t node, uint32_t group) const { return size_t{node} * n_groups() + group; }
    uint32_t n_groups() const { return static_cast<uint32_t>(windows_.size()); }
    void set_block(uint32_t node, uint32_t group, const BlockRef& ref, uint32_t n_rows);
    void clear_block(uint32_t node, uint32_t group);
    void clear_blocks(uint32_t node, uint32_t first_group);
    uint32_t group_mask(uint32_t node) const;
    uint32_t put(uint32_t parent, std::span<const TokenId> tokens, Offer offer,
                 InsertReport& report);
    void extend(uint32_t node, std::span<const TokenId> tokens, Offer offer, InsertReport& report);
    uint32_t add_resident(uint32_t parent, std::span<const TokenId> tokens, Offer offer,
                          InsertReport& report);
    void offer_windows(uint32_t node, Offer offer, InsertReport& report);

    // resume points
    void add_resume_point(uint32_t node, uint32_t rows);
    uint32_t first_anchored(const Node& node, uint32_t rows) const;
    void drop_resume_points(uint32_t node);
    void mark_branch(uint32_t parent, const Match& nearest, uint32_t node);
    void mark_distance(uint32_t node);
    void enter_loose(uint32_t node);
    void leave_loose(uint32_t node);

    // evicting
    void enter_order(uint32_t node);  // if it is a leaf that may be evicted
    void leave_order(uint32_t node);  // before anything that its rank depends on changes
    uint32_t n_unshared(uint32_t node) const;
    uint32_t drop_half_loaded();
    uint32_t evict_loose(uint32_t n_blocks);
    uint32_t evict_anchored(uint32_t n_blocks);
    uint32_t remove_leaves(uint32_t n_most, Owners owners);
    void unpin(uint32_t node);
    void end_timed_pin(uint32_t node);
    uint32_t timed_windows(uint32_t node) const;
    std::vector<uint32_t> path_end(const NamespaceKey& ns, std::span<const TokenId> tokens,
                                   uint32_t from) const;
    // the tier below
    void set_tier(uint32_t node, const TierRecord& record);
    void drop_read(uint32_t offloaded);
    void make_resident(uint32_t node);
    bool is_saved(uint32_t node) const;

    // checking
    void check_node(uint32_t node) const;
    void check_resident(uint32_t node) const;
    void check_offloaded(uint32_t node) const;
    void check_siblings(uint32_t node, const std::vector<uint32_t>& list) const;
    void check_blocks() const;
    void check_pins() const;
    void check_anchors() const;

    PrefixCacheOptions options_;
    std::vector<uint32_t> windows_;  // [n_groups] full ones first
    uint32_t n_full_ = 1;            // groups without a window
    uint32_t most_window_ = 0;
    std::vector<Node> nodes_;        // its capacity is the most there can be, from the start
    std::vector<NodeBlock> blocks_;  // [nodes_, n_groups]
    std::vector<uint32_t> free_;     // dead entries of nodes_
    std::map<NamespaceKey, uint32_t> roots_;
    std::set<Ranked> by_rank_;  // unpinned leaves, the next to go first
    std::set<Loose> loose_;     // nodes with blocks of a window that no resume point needs
    std::set<OffloadedRank> offloaded_leaves_;  // offloaded and childless, the next to go first
    std::vector<uint32_t> half_loaded_;         // offloaded, with some blocks read
    std::set<std::pair<double, uint32_t>> timed_pins_;  // (until_ms, node)
    LogitsStore logits_;
    uint64_t tick_ = 0;
    double now_ms_ = 0;
    double clock_ = 0;             // the rank of what was evicted last
    uint32_t n_offloaded_ = 0;     // nodes
    uint32_t n_pinned_ = 0;        // Pins alive
    uint32_t n_timed_blocks_ = 0;  // blocks on paths of pins with a time
    PrefixStats stats_;
};

}  // namespace kvik
