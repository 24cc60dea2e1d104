// PrefixStats: what the prefix tree did so far and what it holds. Counters only ever grow.
#pragma once

#include <cstdint>

namespace kvik {

struct PrefixStats {
    // counters
    uint64_t n_hits = 0;            // uses of a non-empty hit (PrefixCache::use)
    uint64_t hit_tokens = 0;        // tokens of these hits
    uint64_t inserted_blocks = 0;   // blocks the tree took a share of
    uint64_t replaced_blocks = 0;   // of these, longer fills of a cached tail
    uint64_t duplicate_blocks = 0;  // blocks offered that were cached already
    uint64_t loaded_blocks = 0;     // blocks that came back from the tier below
    uint64_t logits_hits = 0;       // uses of a hit that carried stored logits
    // blocks released, by reason
    uint64_t evicted_blocks = 0;         // freed to make room
    uint64_t evicted_window_blocks = 0;  // of these, of a window and needed by no resume point
    uint64_t released_leaves = 0;        // nodes that live sequences owned too
    uint64_t forgotten_blocks = 0;       // a client said so
    // what is there now
    uint64_t cached_tokens = 0;  // tokens whose KV can be found
    uint32_t cached_blocks = 0;  // blocks the tree owns a share of, of all groups
    uint32_t n_offloaded = 0;    // nodes without KV in RAM: ghosts and records of a tier
    uint32_t pinned_blocks = 0;  // held by pins with a time, at most
    uint64_t n_bytes = 0;        // index, token lists and logits, without the blocks themselves
};

}  // namespace kvik
