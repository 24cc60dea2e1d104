// CacheBudget: how one number of bytes is spent on everything the cache holds: blocks, the pool's
// counts, the tree's nodes and token lists, and stored logits.
//
// Invariant  n_bytes(budget) <= the number asked for, also when it holds one block only.
// Errors     room for not even one block: memory, naming both numbers and the flag.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "cache/spec.h"

namespace kvik {

struct CacheBudget {
    uint32_t n_blocks = 0;      // for BlockPool and KvStorage
    uint64_t logits_bytes = 0;  // for PrefixCacheOptions::logits_bytes
    uint32_t n_offloaded = 0;   // for PrefixCacheOptions::n_offloaded
    uint64_t n_bytes = 0;       // all of it
};

Result<CacheBudget> plan_cache(const KvSpec& spec, uint64_t cache_bytes);

}  // namespace kvik
