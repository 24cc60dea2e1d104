// BlockTable: one sequence's blocks in order, and how many tokens of KV they hold.
//
// Use     reserve(n), run the forward over ids(), append(n); truncate(n) goes back. Share by fork()
//         or by giving group_blocks() to PrefixCache::insert; start from a hit by adopt().
// Shape   a logical block is block_tokens positions; at each block index every layer group has one
//         block, or none any more where the group's window has passed it by.
// Owner   its BlockRefs; pool and storage outlive it. Movable.
// Threads the engine thread.
// Cost    reserve is O(new blocks), and copies one block per group whose tail is shared. append and
//         the counts are O(groups); truncate and release_behind_windows O(blocks released); fork,
//         adopt, remap and group_blocks() O(blocks). Only the constructor, fork and group_blocks()
//         allocate.
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

    // How many free blocks reserve(n_tokens) would take now, copies of shared tails included.
    uint32_t n_blocks_needed(uint32_t n_tokens) const;

    // Makes the next n_tokens positions writable. All or nothing: false means that the pool has
    // fewer than n_blocks_needed(n_tokens) free blocks and that nothing changed.
    [[nodiscard]] bool reserve(uint32_t n_tokens);

    // Counts the next n_tokens positions as computed: the forward has written them.
    void append(uint32_t n_tokens);

    // Releases the blocks of windows that neither a later position nor one of the last
    // kRewindTokens sees. reserve() does so first: between an append and the next reserve all that
    // was written can be published.
    void release_behind_windows();

    // Forgets all positions from n_tokens on and releases every block past the last kept token,
    // reserved ones too. truncate(n_tokens()) releases the unused reserve. Allowed only where
    // every group still has the window that n_tokens needs, which can_truncate tells.
    bool can_truncate(uint32_t n_tokens) const;
    void truncate(uint32_t n_tokens);

    // Returns a second sequence with the same KV. All blocks are shared; the sequence that writes
    // into the tail first copies it.
    BlockTable fork() const;

    // Starts this empty table from a prefix hit, sharing its blocks. Takes no block from the pool:
    // a partly matching tail is copied by the reserve that precedes the first write.
    void adopt(PrefixHit&& hit);

    // Replaces whole blocks by the prefix cache's blocks of the same tokens (bit-equal by the
    // determinism of the model), so that duplicates of a prefix that was computed twice are freed.
    // The hit is what match returned for this sequence's own tokens.
    void remap(const PrefixHit& hit);

    uint32_t n_tokens() const { return n_tokens_; }
    uint32_t n_writable() const { return n_writable_; }  // positions below it may be written
    uint32_t n_groups() const { return static_cast<uint32_t>(groups_.size()); }
    uint32_t n_logical_blocks() const { return n_logical_blocks_; }
    uint32_t n_blocks() const;        // that it holds, of all groups
    uint32_t n_shared_tails() const;  // blocks that are copied before the next write

    // For the model's view: [n_logical_blocks] of a group; the groups lie max_logical_blocks()
    // apart. Where a block was released there is some number that nobody reads.
    std::span<const BlockId> ids(uint32_t group = 0) const;
    uint32_t max_logical_blocks() const { return max_logical_blocks_; }
    // For PrefixCache::insert.
    GroupBlocks group_blocks(uint32_t group) const;
    std::vector<GroupBlocks> group_blocks() const;
    void check_invariants() const;

  private:
    struct Group {
        uint32_t window = 0;
        uint32_t first = 0;          // the block index of refs[0]; blocks before it were released
        std::vector<BlockRef> refs;  // up to block index n_logical_blocks - 1
    };

    uint32_t blocks_for(uint32_t n_tokens) const;
    uint32_t first_block(uint32_t window, uint32_t n_tokens) const;
    BlockId& id(uint32_t group, uint32_t block_index);
    void set_block(uint32_t group, uint32_t block_index, BlockRef block);
    void push_block(uint32_t group, BlockRef block);
    void copy_shared_tails();

    BlockPool* pool_;
    KvStorage* storage_;
    uint32_t block_tokens_, max_tokens_;
    uint32_t max_logical_blocks_;
    uint32_t n_logical_blocks_ = 0;
    uint32_t n_tokens_ = 0;
    uint32_t n_writable_ = 0;
    std::vector<Group> groups_;
    std::vector<BlockId> ids_;  // [n_groups, max_logical_blocks]
};

}  // namespace kvik
