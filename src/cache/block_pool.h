// BlockPool hands out fixed-size KV blocks and takes each back when its last owner releases it.
//
// Shape      a block is a number, not memory: KvStorage (kv_storage.h) gives it bytes.
// Owner      one BlockRef is one count; the pool stays where it is and outlives every BlockRef.
// Threads    the engine thread only, so counts are plain integers.
// Cost       take, share and release are O(1) and never allocate; n_handles and check_invariants
//            are O(n_blocks).
// Invariant  n_free() + n_used() == n_blocks(); a block is free iff its count is 0.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cache/kv_spec.h"

namespace kvik {

class BlockPool;

// One counted share of one block. It can be moved, and copied only by share().
class [[nodiscard]] BlockRef {
  public:
    BlockRef(BlockRef&& other) noexcept
        : pool_(std::exchange(other.pool_, nullptr)), id_(other.id_) {}
    BlockRef& operator=(BlockRef&& other) noexcept;
    ~BlockRef();

    BlockId id() const { return id_; }
    BlockRef share() const;  // a second owner of the same block
    bool is_shared() const;  // true: copy the block before writing to it

  private:
    friend class BlockPool;
    BlockRef(BlockPool& pool, BlockId id) : pool_(&pool), id_(id) {}

    BlockPool* pool_;  // null once moved from
    BlockId id_;
};

class BlockPool {
  public:
    explicit BlockPool(uint32_t n_blocks);
    ~BlockPool();  // aborts if a block is still owned
    BlockPool(const BlockPool&) = delete;
    BlockPool& operator=(const BlockPool&) = delete;

    // The most recently freed block (still warm), or nothing when every block is owned.
    // Running out is not an error: the scheduler answers by evicting or preempting.
    std::optional<BlockRef> take();

    uint32_t n_blocks() const { return static_cast<uint32_t>(counts_.size()); }
    uint32_t n_free() const { return static_cast<uint32_t>(free_.size()); }
    uint32_t n_used() const { return n_blocks() - n_free(); }
    uint64_t n_handles() const;     // O(n_blocks): BlockRefs alive
    void check_invariants() const;  // O(n_blocks): aborts naming the broken equation

  private:
    friend class BlockRef;
    void release(BlockId id) noexcept;

    std::vector<uint32_t> counts_;  // [n_blocks] owners of each block
    std::vector<BlockId> free_;     // a stack; its capacity is n_blocks from the start
};

// The blocks of one layer group of a sequence, one per block index: borrowed from a table, or
// counted shares. Blocks before `first` lie behind the group's window and are gone.
struct GroupBlocks {
    uint32_t first = 0;  // the logical block of refs[0]
    std::span<const BlockRef> refs;
};

struct GroupRefs {
    uint32_t first = 0;  // the logical block of blocks[0]
    std::vector<BlockRef> blocks;
};

}  // namespace kvik
