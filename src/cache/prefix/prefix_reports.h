// PrefixStats, PathReport, TreeAccounts, TreeLine: what the prefix cache tells about itself: what
// it did and holds, why a prompt was found as far as it was, and its drawing. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/types.h"

namespace kvik {

// What the prefix cache did so far and what it holds. Counters only ever grow.
struct PrefixStats {
    // counters
    uint64_t n_hits = 0;            // uses of a non-empty hit (PrefixCache::use)
    uint64_t hit_tokens = 0;        // tokens of these hits
    uint64_t inserted_blocks = 0;   // blocks the cache took a share of
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
    uint32_t cached_blocks = 0;  // blocks the cache owns a share of, of all groups
    uint32_t n_offloaded = 0;    // nodes without KV in RAM: ghost entries and records of a tier
    uint32_t pinned_blocks = 0;  // held by pins with a time, at most
    uint64_t n_bytes = 0;        // index, token lists and logits, without the blocks themselves
};

// The position from which a prompt differs from every known path that begins like it.
struct Difference {
    uint32_t at = 0;
    std::vector<TokenId> old_tokens;  // [<= 8] how a known path goes on instead
};

// Says why so much of a prompt, and no more, is found. n_known = n_resident + n_on_tier +
// n_evicted.
struct PathReport {
    uint32_t n_usable = 0;                      // tokens that a hit gives now
    uint32_t n_resident = 0;                    // tokens whose full KV is in RAM
    uint32_t n_known = 0;                       // tokens matched at all
    uint32_t n_on_tier = 0;                     // of n_known: not in RAM but on the tier below
    uint32_t n_evicted = 0;                     // of n_known: evicted, only their ids are left
    double evicted_ms = 0;                      // when the first of these was evicted
    std::optional<Difference> difference = {};  // nothing: no other path goes on from n_known
};

// Counts what sharing saves and what partly filled blocks waste (internal fragmentation as
// PagedAttention counts it: Kwon et al. 2023, arXiv 2309.06180, section 3).
struct TreeAccounts {
    uint64_t cached_tokens = 0;  // in RAM, each once
    uint64_t slot_tokens = 0;    // that their blocks have room for
    uint64_t path_tokens = 0;    // of all paths from the root to a leaf: what copies would hold

    double waste_percent() const {
        if (slot_tokens == 0) return 0;
        return 100 * static_cast<double>(slot_tokens - cached_tokens) /
               static_cast<double>(slot_tokens);
    }
    double sharing() const {  // 1: nothing is shared
        if (cached_tokens == 0) return 1;
        return static_cast<double>(path_tokens) / static_cast<double>(cached_tokens);
    }
};

// One line of the drawn tree: a node, or a chain of whole nodes with one child each.
struct TreeLine {
    uint32_t depth = 0;  // lines above it on its path
    uint32_t ns_index = 0;
    uint32_t first_token_at = 0, n_tokens = 0;
    uint32_t ram_tokens = 0, tier_tokens = 0, ghost_tokens = 0;  // n_tokens together
    uint32_t n_blocks = 0;                                       // in RAM, of all groups
    uint32_t n_shared = 0;  // of these, that a live sequence owns too
    bool is_pinned = false;
    bool is_resume_point = false;  // it has one
    uint64_t n_uses = 0;           // of its first node
    std::vector<TokenId> tokens = {};
};

}  // namespace kvik
