// KvStorage: the memory of all KV blocks, one arena taken at open.
//
// Shape   [n_blocks] blocks of spec.block_bytes(); inside a block the layout of kv_spec.h.
// Owner   the arena; it outlives every KvView and BlockTable made over it.
// Threads copies on the engine thread, between forwards; a forward goes through view().
// Cost    open reserves address space; the system adds a page when it is touched. A row copy moves
//         n_tokens rows of every layer and head of the block and does not allocate.
// Errors  no blocks, or block_tokens not a multiple of 16: usage. No memory: memory.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "base/arena.h"
#include "base/result.h"
#include "cache/kv_spec.h"

namespace kvik {

struct RowCopy {
    BlockId from, to;
    uint32_t n_tokens = 0;  // positions 0 .. n_tokens - 1 of the block
};

class KvStorage {
  public:
    static Result<KvStorage> open(const KvSpec& spec, uint32_t n_blocks);

    KvView view() const { return {arena_.data(), spec_}; }
    const KvSpec& spec() const { return spec_; }
    uint32_t n_blocks() const { return n_blocks_; }
    uint64_t n_bytes() const { return arena_.n_bytes(); }
    std::span<std::byte> bytes(BlockId block) const {  // all of it, for a tier below
        const uint64_t n = spec_.block_bytes();
        return {arena_.data() + static_cast<uint64_t>(block) * n, n};
    }

    // Rows of `to` at or past n_tokens are undefined afterwards: their owner writes them before
    // anybody reads them.
    void copy_rows(const RowCopy& copy);

  private:
    KvStorage(Arena arena, const KvSpec& spec, uint32_t n_blocks)
        : arena_(std::move(arena)), spec_(spec), n_blocks_(n_blocks) {}

    Arena arena_;
    KvSpec spec_;
    uint32_t n_blocks_;
};

}  // namespace kvik
