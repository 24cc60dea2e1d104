// PrefixTree: (namespace, tokens) -> KV blocks that were computed before, proved token by token.
//
// Shape   one node a block. Sequences that diverge inside a block have sibling nodes, each with its
//         own block; a partly filled tail is a leaf. Siblings are sorted and none begins another.
//           root -- [the cat sat] -- [on the mat] -- [and]
//                                 |- [on the sofa]
// Owner   one BlockRef per node, stored logits; the tree outlives its Pins and stays where it is.
// Threads the engine thread.
// Cost    find, use and insert are linear in the tokens matched; evict is O(log n) a block, plus
//         one skip for each leaf that a live sequence shares.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/types.h"
#include "cache/block_pool.h"
#include "cache/eviction.h"
#include "cache/group_blocks.h"
#include "cache/logits_store.h"
#include "cache/namespace_key.h"
#include "cache/stats.h"

namespace kvik {

class PrefixTree;

// Names a node for as long as it exists; a dead node's handle is recognised.
struct NodeHandle {
    uint32_t index = UINT32_MAX;
    uint32_t generation = 0;
};

// What find proved. It owns shares of its blocks, so nothing of it is evicted while it lives.
struct PrefixHit {
    std::vector<GroupRefs> groups;  // whole blocks, then the tail block if tail_rows > 0
    uint32_t n_tokens = 0;          // tokens matched, tail_rows included
    uint32_t tail_rows = 0;         // rows of the last block that match; 0: all blocks are whole
    NodeHandle node;                // the deepest node matched, wholly or in part
    // Logits after the last token, [vocab_size], if the hit covers all tokens asked for and they
    // were stored; else empty. Valid until the tree changes.
    std::span<const float> logits;
};

// Guards a path from eviction while it lives.
class [[nodiscard]] Pin {
  public:
    Pin(Pin&& other) noexcept : tree_(std::exchange(other.tree_, nullptr)), node_(other.node_) {}
    Pin& operator=(Pin&& other) noexcept;
    ~Pin();

  private:
    friend class PrefixTree;
    Pin(PrefixTree& tree, uint32_t node) : tree_(&tree), node_(node) {}
    PrefixTree* tree_;  // null once moved from
    uint32_t node_;
};

struct InsertReport {
    uint32_t n_new = 0;         // blocks the tree took a share of, longer tails included
    uint32_t n_duplicates = 0;  // whole blocks whose tokens were cached in another block:
                                // BlockTable::remap frees them
};

struct PrefixTreeOptions {
    uint32_t block_tokens = 32;
    uint32_t n_blocks = 0;  // of the pool: the tree never has more nodes with a block
    uint64_t logits_bytes = 0;
    EvictionPolicy policy = EvictionPolicy::lru;
    uint32_t pinned_percent = 50;  // of the blocks: the most that pins with a time may hold
    // What n_tokens after `depth` others cost to compute; null: as many as they are. It may change.
    std::function<double(uint32_t depth, uint32_t n_tokens)> recompute_ms = nullptr;
};

// The place from which the tokens asked for differ from all that is known there.
struct Difference {
    uint32_t at = 0;
    std::vector<TokenId> old_tokens;  // [<= 8] how a known path goes on instead
};

// Why so much of a prompt, and no more, is found.
struct PathReport {
    uint32_t n_usable = 0;    // tokens that a hit gives now
    uint32_t n_resident = 0;  // tokens whose KV of all that went before is in RAM
    uint32_t n_known = 0;     // tokens matched at all
    uint32_t n_on_tier = 0;   // of n_known: not in RAM but on the tier below
    uint32_t n_evicted = 0;   // of n_known: evicted, only their ids are left
    double evicted_ms = 0;    // when the first of these was evicted
    std::optional<Difference> difference =
        std::nullopt;  // nothing: no other path is known from n_known on
};

enum class ForgetKind : uint8_t {
    now,    // out of the tree
    stale,  // still found, but the first to be evicted
};

class PrefixTree {
  public:
    explicit PrefixTree(const PrefixTreeOptions& options);
    ~PrefixTree();
    PrefixTree(const PrefixTree&) = delete;
    PrefixTree& operator=(const PrefixTree&) = delete;

    // The longest cached prefix of `tokens`. Changes nothing, not even the order of eviction: call
    // use() when the hit is taken.
    PrefixHit find(const NamespaceKey& ns, std::span<const TokenId> tokens) const;

    // The hit was used: its path is the most recent now, and is counted.
    void use(const PrefixHit& hit);

    // Publishes the KV of `tokens`, which lies in these blocks (BlockTable::group_blocks(); the last
    // one may be partly filled). Only tokens that can no longer be refused. First wins: tokens cached
    // already keep their block. A longer fill of a cached tail replaces the shorter. New blocks are
    // shared, not taken, and therefore copied by their owner before its next write into them.
    InsertReport insert(const NamespaceKey& ns, std::span<const TokenId> tokens,
                        std::span<const GroupBlocks> groups);

    // Remembers the logits after the last of `tokens`, whose KV is cached to its end. False: it is
    // not, or the logits alone exceed the budget. The least recently used logits make room.
    bool store_logits(const NamespaceKey& ns, std::span<const TokenId> tokens,
                      std::span<const float> logits);

    // Nothing if the hit is empty or its node is gone.
    std::optional<Pin> pin(const PrefixHit& hit);

    // Guards a path until set_clock passes until_ms. False: the hit's node is gone, or all that is so
    // guarded would exceed pinned_percent of the blocks.
    bool pin_until(const PrefixHit& hit, double until_ms);
    void set_clock(double now_ms);  // never goes back; lets go of the pins whose time has come

    // The path of `tokens` is of no more use from its first `from` tokens on: the nodes that begin
    // there or later, are wholly matched and unpinned, and that no other path needs.
    void forget(const NamespaceKey& ns, std::span<const TokenId> tokens, uint32_t from,
                ForgetKind kind);

    PathReport explain(const NamespaceKey& ns, std::span<const TokenId> tokens) const;

    // Frees up to n_blocks blocks, leaves first, in the policy's order; returns how many. Pinned
    // leaves and blocks that somebody else owns too are passed over.
    uint32_t evict(uint32_t n_blocks);

    // The last resort before preemption: lets go of up to n_leaves unpinned leaves that live
    // sequences own too; returns how many. It frees no block by itself, but their owners need no
    // copy of such a tail any more, and their parents become evictable.
    uint32_t let_go_shared(uint32_t n_leaves);

    PrefixStats stats() const;
    uint64_t n_bytes() const;  // index, token lists and logits, without the blocks themselves
    void check_invariants() const;

    // Bytes of index per block and stored logits apart: what a tree over n_blocks can come to.
    static uint64_t index_bytes(uint32_t n_blocks, uint32_t block_tokens);

  private:
    friend class Pin;

    struct Node {
        uint32_t parent = UINT32_MAX;  // UINT32_MAX: a root, or free
        uint32_t generation = 0;       // grows whenever a node dies here
        uint32_t begin = 0;            // tokens before it
        uint32_t n_pins = 0;
        double pinned_until = 0;  // 0: no pin with a time
        uint32_t n_timed = 0;     // pins with a time at or below it
        uint64_t last_use = 0;    // never above the parent's
        uint64_t inserted = 0;
        uint64_t n_uses = 1;
        EvictionRank rank;                 // as of the last use
        std::optional<BlockRef> block;     // none: a root, or free
        std::vector<TokenId> tokens;       // [1 .. block_tokens]; fewer than that: a leaf
        std::vector<uint32_t> children;    // sorted by tokens
        const NamespaceKey* ns = nullptr;  // roots only; lives in roots_
    };
    // How far the tokens after a node go on in its best child.
    struct Match {
        uint32_t child = UINT32_MAX;  // UINT32_MAX: none has a token in common
        uint32_t n_tokens = 0;
        size_t slot = 0;  // where among the children these tokens stand or would stand
    };
    struct Slot {
        uint32_t parent = 0;
        size_t index = 0;
    };
    enum class Owners : uint8_t { tree_alone, others_too };
    enum class Touch : uint8_t { published, hit };
    using Ranked = std::pair<EvictionRank, uint32_t>;  // rank, node

    Match match_child(uint32_t parent, std::span<const TokenId> rest) const;
    LogitsPlace place_of(const PrefixHit& hit) const;
    bool is_alive(const NodeHandle& handle) const;
    void touch_path(uint32_t node, Touch touch);
    EvictionRank rank_of(const Node& node) const;

    uint32_t new_node();
    void free_node(uint32_t node);
    uint32_t root_of(const NamespaceKey& ns);
    uint32_t add_child(const Slot& slot, std::span<const TokenId> tokens, const BlockRef& block);
    void refill(uint32_t node, std::span<const TokenId> tokens, const BlockRef& block);
    void remove_leaf(uint32_t leaf);

    void enter_order(uint32_t node);  // if it is a leaf that may be evicted
    void leave_order(uint32_t node);  // before anything that its rank depends on changes
    uint32_t remove_leaves(uint32_t n_leaves, Owners owners);
    void unpin(uint32_t node);
    void end_timed_pin(uint32_t node);
    std::vector<uint32_t> path_end(const NamespaceKey& ns, std::span<const TokenId> tokens,
                                   uint32_t from) const;
    std::optional<Difference> difference(uint32_t node, uint32_t n_known,
                                         std::span<const TokenId> rest) const;
    void check_node(uint32_t node) const;
    void check_pins() const;

    PrefixTreeOptions options_;
    std::vector<Node> nodes_;     // capacity 2 * n_blocks from the start
    std::vector<uint32_t> free_;  // dead entries of nodes_
    std::map<NamespaceKey, uint32_t> roots_;
    std::set<Ranked> by_rank_;  // unpinned leaves, the next to go first
    LogitsStore logits_;
    std::set<std::pair<double, uint32_t>> timed_pins_;  // (until_ms, node)
    uint64_t tick_ = 0;
    double now_ms_ = 0;
    double clock_ = 0;             // the rank of what was evicted last
    uint32_t n_pinned_ = 0;        // Pins alive
    uint32_t n_timed_blocks_ = 0;  // blocks on paths of pins with a time
    PrefixStats stats_;
};

}  // namespace kvik
