// PrefixStats: what the prefix tree did so far and what it holds. Counters only ever grow.
#pragma once

#include <cstdint>

namespace kvik {

struct PrefixStats {
    // counters
    uint64_t n_hits = 0;            // uses of a non-empty hit (PrefixTree::use)
    uint64_t hit_tokens = 0;        // tokens of these hits
    uint64_t inserted_blocks = 0;   // blocks the tree took a share of
    uint64_t replaced_blocks = 0;   // of these, longer fills of a cached tail
    uint64_t duplicate_blocks = 0;  // blocks offered that were cached already
    uint64_t evicted_blocks = 0;
    uint64_t forgotten_blocks = 0;  // let go because a client said so
    uint64_t logits_hits = 0;       // uses of a hit that carried stored logits
    // what is there now
    uint64_t cached_tokens = 0;  // tokens whose KV can be found
    uint32_t cached_blocks = 0;  // blocks the tree owns a share of
    uint64_t n_bytes = 0;        // index, token lists and logits, without the blocks themselves
};

}  // namespace kvik
