// Eviction: which cached block goes first. A policy gives each evictable leaf a rank; the lowest
// goes. Time is the tree's own counter of uses, so that the same requests evict the same blocks.
//
// Adding a policy is an enumerator and a case in eviction_rank.
#pragma once

#include <cstdint>

namespace kvik {

enum class EvictionPolicy : uint8_t { lru };

// What a policy may know of a leaf.
struct LeafFacts {
    uint64_t last_use = 0;  // tick of the last use of a path through it
};

double eviction_rank(EvictionPolicy policy, const LeafFacts& leaf);

}  // namespace kvik
