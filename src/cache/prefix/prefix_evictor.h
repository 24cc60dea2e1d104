// PrefixEvictor: takes blocks away from the prefix cache when room is needed.
//
// Order   first blocks that were loaded for nodes that did not become resident; then blocks of
//         windows that no resume point needs; then whole leaves in the order of EvictionOrder; at
//         last the blocks of windows of resume points. What is pinned, or owned by a live sequence
//         too, is passed over: its owners change without notice, so they are asked when its turn
//         comes.
// Owner   nothing; it changes the nodes it is given.
// Threads the engine thread.
// Cost    O(log n) amortised per block that is freed and per node that is passed over.
#pragma once

#include <cstdint>

#include "cache/prefix/prefix_nodes.h"

namespace kvik {

class PrefixEvictor {
  public:
    explicit PrefixEvictor(PrefixNodes& nodes) : nodes_(nodes) {}

    uint32_t evict(uint32_t n_blocks);           // see PrefixCache
    uint32_t release_shared(uint32_t n_leaves);  // see PrefixCache

  private:
    enum class Owners : uint8_t { cache_alone, others_too };

    uint32_t drop_partly_loaded();
    uint32_t evict_loose(uint32_t n_blocks);
    uint32_t evict_anchored(uint32_t n_blocks);
    uint32_t evict_leaves(uint32_t n_most, Owners owners);

    PrefixNodes& nodes_;
};

}  // namespace kvik
