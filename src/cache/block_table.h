// BlockTable: one sequence's blocks in order, and how many tokens of KV they hold.
//
// Use     reserve(n), run the forward over ids(), append(n); truncate(n) goes back. Share with
// fork()
//         or by giving blocks() to PrefixTree::insert; start from what is cached with adopt().
// Owner   its BlockRefs; pool and storage outlive it. Movable.
// Threads the engine thread.
// Cost    reserve: O(new blocks), and one block copied if the tail is shared. Only fork and the
//         constructor allocate.
// Invariant only positions in [n_tokens, n_writable) are ever written, and their blocks have this
//         table as their one owner: nothing may share a block between reserve and append.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cache/block_pool.h"
#include "cache/kv_storage.h"

namespace kvik {

struct PrefixHit;

class BlockTable {
  public:
    // max_tokens: the longest this sequence may get (sizes the lists of blocks once).
    BlockTable(BlockPool& pool, KvStorage& storage, uint32_t max_tokens);
    BlockTable(BlockTable&&) = default;
    BlockTable& operator=(BlockTable&&) = default;

    // How many free blocks reserve(n_tokens) would take now, the copy of a shared tail included.
    uint32_t n_blocks_needed(uint32_t n_tokens) const;

    // Makes the next n_tokens positions writable. All or nothing: false means that the pool has
    // fewer than n_blocks_needed(n_tokens) free blocks and that nothing changed.
    [[nodiscard]] bool reserve(uint32_t n_tokens);

    // The forward has written the next n_tokens positions, which were reserved.
    void append(uint32_t n_tokens);

    // Forgets all positions from n_tokens on and gives back every block past the last kept token,
    // reserved ones too. truncate(n_tokens()) gives back the unused reserve.
    void truncate(uint32_t n_tokens);

    // A second sequence with the same KV. All blocks are shared; whoever writes into the tail first
    // copies it.
    BlockTable fork() const;

    // Starts this empty table from a prefix hit, sharing its blocks. Takes no block from the pool:
    // a partly matching tail is copied by the reserve that precedes the first write.
    void adopt(PrefixHit&& hit);

    // Replaces whole blocks by the tree's blocks of the same tokens (bit-equal by the determinism
    // of the model), so that duplicates of a prefix that was computed twice are freed. The hit is
    // what find returned for this sequence's own tokens.
    void remap(const PrefixHit& hit);

    uint32_t n_tokens() const { return n_tokens_; }
    uint32_t n_writable() const { return n_writable_; }  // positions below it may be written
    uint32_t n_blocks() const { return static_cast<uint32_t>(refs_.size()); }
    std::span<const BlockId> ids() const { return ids_; }       // for the model's view
    std::span<const BlockRef> blocks() const { return refs_; }  // for PrefixTree::insert
    void check_invariants() const;

  private:
    uint32_t blocks_for(uint32_t n_tokens) const;
    bool tail_needs_copy() const;

    BlockPool* pool_;
    KvStorage* storage_;
    uint32_t block_tokens_, max_tokens_;
    uint32_t n_tokens_ = 0;
    uint32_t n_writable_ = 0;
    std::vector<BlockRef> refs_;
    std::vector<BlockId> ids_;  // ids_[i] == refs_[i].id()
};

}  // namespace kvik
