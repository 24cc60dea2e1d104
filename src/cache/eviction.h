// Eviction: which cached blocks go first. A policy gives each evictable leaf a rank when a path
// through it is used; the lowest goes. Time is the tree's own counter of uses, so that the same
// requests evict the same blocks.
//
// cost    GreedyDual-Size-Frequency: root of uses x time to recompute / blocks, above a clock that
//         rises to the rank of what went last, so that old merits age. Of uses the root: the prefix
//         of a conversation that is over has been used at every turn, and would outstay its time.
// Source  L. Cherkasova, "Improving WWW Proxies Performance with Greedy-Dual-Size-Frequency Caching
//         Policy", HP Labs 1998.
// Adding a policy is an enumerator, its name and a case in eviction_rank.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kvik {

enum class EvictionPolicy : uint8_t { lru, fifo, lfu, cost };

std::string_view eviction_name(EvictionPolicy policy);
std::optional<EvictionPolicy> parse_eviction(std::string_view name);  // nothing: no such policy

// What becomes of KV that a client says is of no more use.
enum class ForgetKind : uint8_t {
    now,    // out of the tree, with its records on the tier below
    stale,  // still found, but the first to be evicted
};

// What a policy may know of a leaf.
struct LeafFacts {
    uint64_t last_use = 0;    // tick of the last use of a path through it
    uint64_t inserted = 0;    // tick when it was published
    uint64_t n_uses = 1;      // hits of a path through it, and its publication
    double recompute_ms = 0;  // what its tokens cost again, at their depth
    uint32_t n_blocks = 1;    // what it takes
    double clock = 0;         // rank of the leaf evicted last, when this one was used last
};

// In order of eviction.
struct EvictionRank {
    bool is_fresh = true;  // false: marked stale, goes before all others
    double value = 0;
    uint64_t last_use = 0;  // among equals the least recently used goes
    auto operator<=>(const EvictionRank&) const = default;
};

EvictionRank eviction_rank(EvictionPolicy policy, const LeafFacts& leaf);

}  // namespace kvik
