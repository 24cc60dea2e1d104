#include "cache/kv_storage.h"

#include <fmt/format.h>

#include <cstring>

#include "base/check.h"
#include "base/checked.h"

namespace kvik {

Result<KvStorage> KvStorage::open(const KvSpec& spec, uint32_t n_blocks) {
    if (n_blocks == 0) return fail(ErrorKind::usage, "KV cache has 0 blocks: it needs at least 1");
    if (spec.block_tokens == 0 || spec.block_tokens % kKTileTokens != 0)
        return fail(ErrorKind::usage,
                    fmt::format("KV block has {} tokens: it must be a multiple of {}",
                                spec.block_tokens, kKTileTokens));
    const std::optional<uint64_t> n_bytes = checked_mul(spec.block_bytes(), n_blocks);
    if (!n_bytes || *n_bytes == 0)
        return fail(ErrorKind::memory, fmt::format("KV cache of {} blocks of {} bytes is no size "
                                                   "this machine can address: use fewer blocks",
                                                   n_blocks, spec.block_bytes()));
    KVIK_TRY(Arena arena, Arena::reserve(*n_bytes, "KV cache", "lower --cache-ram"));
    return KvStorage(std::move(arena), spec, n_blocks);
}

// Copies whole tiles of 16 tokens, since one contiguous copy is faster than a strided one. Lanes of
// the last tile past n_tokens are copied too, whatever they hold: in the copy, as in the original,
// no reader looks past a sequence's tokens, and their owner writes them before it counts them in.
void KvStorage::copy_rows(const RowCopy& copy) {
    KVIK_CHECK(static_cast<uint32_t>(copy.from) < n_blocks_ &&
                   static_cast<uint32_t>(copy.to) < n_blocks_ && copy.from != copy.to,
               "rows are copied between two blocks of this storage");
    KVIK_CHECK(copy.n_tokens <= spec_.block_tokens, "a block has no more than its tokens");
    const uint64_t n_tiles = round_up(copy.n_tokens, kKTileTokens) / kKTileTokens;
    const uint64_t k_bytes = n_tiles * spec_.k_tile_bytes();
    const uint64_t v_bytes = n_tiles * spec_.v_tile_bytes();
    const std::byte* from = arena_.data() + static_cast<uint64_t>(copy.from) * spec_.block_bytes();
    std::byte* to = arena_.data() + static_cast<uint64_t>(copy.to) * spec_.block_bytes();
    const uint64_t n_heads = uint64_t{spec_.block_layers()} * spec_.n_kv_heads;
    for (uint64_t i = 0; i < n_heads; ++i) {
        const uint64_t k = i * spec_.head_bytes(), v = k + spec_.k_bytes();
        std::memcpy(to + k, from + k, k_bytes);
        std::memcpy(to + v, from + v, v_bytes);
    }
}

}  // namespace kvik
