// EvictionOrder: which node of the prefix cache is evicted next. A policy gives each node a rank
// when a path through it is used; of the nodes that may be evicted the one with the lowest rank
// goes first.
//
// Use     add() a node when it becomes evictable and remove() it when it no longer is (it got a
//         child or a pin); touch() every node of a path that is used; next_victim() takes the node
//         to evict. Offloaded nodes without children have an order of their own.
// Time    a counter of uses, so that the same requests evict the same blocks.
// cost    the default policy, GreedyDual-Size-Frequency: sqrt(uses) x time to recompute / blocks,
//         added to a clock that rises to the rank of what was evicted last, so that old merits age.
//         With plain uses instead of their square root the prefix of a conversation that has ended
//         would stay too long, since every turn has used it.
// Source  L. Cherkasova, "Improving WWW Proxies Performance with Greedy-Dual-Size-Frequency Caching
//         Policy", HP Labs 1998.
// Policy  a new one is an enumerator, its name and a case in eviction_rank. One whose ranks change
//         with time alone can rank again in next_victim(): nobody else reads the order.
// Owner   the use of every node, by node number; it knows no tokens and no blocks.
// Threads the engine thread.
// Cost    O(log n) or less per call; touch() is O(1) for a node that is in no order.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace kvik {

enum class EvictionPolicy : uint8_t { lru, fifo, lfu, cost };

std::string_view eviction_name(EvictionPolicy policy);
std::optional<EvictionPolicy> parse_eviction(std::string_view name);  // nothing: no such policy

// What becomes of KV that a client says is of no more use.
enum class ForgetKind : uint8_t {
    now,    // removed from the cache, with its records on the tier below
    stale,  // still found, but the first to be evicted
};

// What a policy may know of a leaf.
struct LeafFacts {
    uint64_t last_use = 0;    // tick of the last use of a path through it
    uint64_t inserted = 0;    // tick when it was published
    uint64_t n_uses = 1;      // hits of a path through it, and its publication
    double recompute_ms = 0;  // time to compute its tokens again, at their depth
    uint32_t n_blocks = 1;    // blocks that it holds
    double clock = 0;         // EvictionOrder's clock when this leaf was used last
};

// The lowest rank is evicted first.
struct EvictionRank {
    bool is_fresh = true;  // false: marked stale, evicted before all others
    double value = 0;
    uint64_t last_use = 0;  // among equal values the least recently used is evicted first
    auto operator<=>(const EvictionRank&) const = default;
};

EvictionRank eviction_rank(EvictionPolicy policy, const LeafFacts& leaf);

// How a path is used.
enum class PathUse : uint8_t { published, hit };

// Time to compute n_tokens that follow `depth` others.
using RecomputeCost = std::function<double(uint32_t depth, uint32_t n_tokens)>;

struct NodeUse {
    uint64_t last_use = 0;  // tick
    uint64_t inserted = 0;  // tick
    uint64_t n_uses = 1;
    EvictionRank rank;        // as of the last use
    double evicted_ms = 0;    // when it was offloaded
    bool is_queued = false;   // it may be evicted
    bool is_waiting = false;  // it is offloaded and may be removed
};

class EvictionOrder {
  public:
    // recompute_ms may be null: a token then costs 1.
    EvictionOrder(EvictionPolicy policy, RecomputeCost recompute_ms, uint64_t max_nodes);

    const NodeUse& of(uint32_t node) const { return nodes_[node]; }
    void start(uint32_t node);  // the node is published by the next tick
    void erase(uint32_t node);  // the node is freed and is in no order any more
    // The history of `from` is added to that of `to`.
    void merge(uint32_t to, uint32_t from);
    void count_use(uint32_t node) { ++nodes_[node].n_uses; }
    void set_evicted(uint32_t node, double now_ms) { nodes_[node].evicted_ms = now_ms; }

    // ---- uses ----

    void tick() { ++tick_; }  // a path is used: touch() its nodes next
    void touch(uint32_t node, PathUse use, uint32_t depth, uint32_t n_tokens);
    void set_fresh(uint32_t node, bool is_fresh);

    // ---- what may be evicted ----

    void add(uint32_t node);
    void remove(uint32_t node);
    // Takes the node with the lowest rank out of the order. A caller that does not evict it adds it
    // again.
    std::optional<uint32_t> next_victim();
    void note_evicted(uint32_t node);  // the clock rises to its rank
    size_t n_evictable() const { return by_rank_.size(); }

    // ---- what is offloaded ----

    // Offloaded nodes without a record go first, and of each kind the least recently used.
    void add_offloaded(uint32_t node, bool has_record);
    void remove_offloaded(uint32_t node, bool has_record);
    std::optional<uint32_t> first_offloaded() const;
    size_t n_removable() const { return offloaded_.size(); }

    void add_slots(uint32_t n_slots);  // node numbers below n_slots may be used
    static uint64_t bytes_of(uint64_t max_nodes, uint64_t n_nodes);

  private:
    using Offloaded = std::tuple<bool, uint64_t, uint32_t>;  // has a record, last use, node

    EvictionPolicy policy_;
    RecomputeCost recompute_ms_;
    std::vector<NodeUse> nodes_;
    std::set<std::pair<EvictionRank, uint32_t>> by_rank_;
    std::set<Offloaded> offloaded_;
    uint64_t tick_ = 0;
    double clock_ = 0;  // the highest rank that was evicted
};

}  // namespace kvik
