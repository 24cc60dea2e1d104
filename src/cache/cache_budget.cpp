#include "cache/cache_budget.h"

#include <fmt/format.h>

#include <algorithm>

#include "cache/prefix_tree.h"

namespace kvik {

static constexpr uint64_t kPoolBytes = sizeof(uint32_t) + sizeof(BlockId);  // count, free list
static constexpr uint64_t kMostBlocks = 1u << 30;

// One sixteenth for logits: a row is about a block of a small model, and one row serves one prompt.
// When that would leave room for no block, blocks come first.
Result<CacheBudget> plan_cache(const KvSpec& spec, uint64_t cache_bytes) {
    const uint64_t per_block =
        spec.block_bytes() + kPoolBytes + PrefixTree::index_bytes(1, spec.block_tokens);
    uint64_t logits_bytes = cache_bytes / 16;
    uint64_t n_blocks = (cache_bytes - logits_bytes) / per_block;
    if (n_blocks == 0) {
        logits_bytes = 0;
        n_blocks = cache_bytes / per_block;
    }
    if (n_blocks == 0)
        return fail(ErrorKind::memory,
                    fmt::format("KV cache has {} bytes, one block of {} tokens takes {}: raise "
                                "--cache-ram",
                                cache_bytes, spec.block_tokens, per_block));
    n_blocks = std::min(n_blocks, kMostBlocks);
    return CacheBudget{.n_blocks = static_cast<uint32_t>(n_blocks),
                       .logits_bytes = logits_bytes,
                       .n_bytes = n_blocks * per_block + logits_bytes};
}

}  // namespace kvik
