#include "cache/cache_budget.h"

#include <fmt/format.h>

#include <algorithm>

#include "cache/prefix/prefix_cache.h"

namespace kvik {

static constexpr uint64_t kPoolBytes = sizeof(uint32_t) + sizeof(BlockId);  // count, free list
static constexpr uint64_t kMostBlocks = 1u << 30;

static uint64_t index_bytes(const KvSpec& spec, uint64_t n_blocks, uint64_t n_offloaded) {
    return PrefixCache::index_bytes({.n_blocks = static_cast<uint32_t>(n_blocks),
                                     .n_offloaded = static_cast<uint32_t>(n_offloaded),
                                     .block_tokens = spec.block_tokens,
                                     .n_groups = spec.n_groups()});
}

// One sixteenth for logits: a row is about a block of a small model, and one row serves one prompt.
// A fourth of that for nodes without KV: what was evicted or offloaded to a tier below. When
// that would leave room for no block, blocks come first.
Result<CacheBudget> plan_cache(const KvSpec& spec, uint64_t cache_bytes) {
    const uint64_t empty = index_bytes(spec, 0, 0);
    const uint64_t per_node = index_bytes(spec, 1, 0) - empty;
    const uint64_t per_block = spec.block_bytes() + kPoolBytes + per_node;
    uint64_t logits_bytes = cache_bytes / 16;
    uint64_t n_offloaded = std::min(cache_bytes / 64 / per_node, kMostBlocks);
    const auto blocks_for = [&](uint64_t other_bytes) {
        return other_bytes < cache_bytes ? (cache_bytes - other_bytes) / per_block : 0;
    };
    uint64_t n_blocks = blocks_for(logits_bytes + empty + n_offloaded * per_node);
    if (n_blocks == 0) {
        logits_bytes = n_offloaded = 0;
        n_blocks = blocks_for(empty);
    }
    if (n_blocks == 0)
        return fail(ErrorKind::memory,
                    fmt::format("KV cache has {} bytes, one block of {} tokens takes {}: raise "
                                "--cache-ram",
                                cache_bytes, spec.block_tokens, per_block + empty));
    n_blocks = std::min(n_blocks, kMostBlocks);
    return CacheBudget{
        .n_blocks = static_cast<uint32_t>(n_blocks),
        .logits_bytes = logits_bytes,
        .n_offloaded = static_cast<uint32_t>(n_offloaded),
        .n_bytes = empty + n_blocks * per_block + n_offloaded * per_node + logits_bytes};
}

}  // namespace kvik
