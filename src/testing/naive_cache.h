// NaiveCache: naive counterparts of BlockPool and BlockTable, for random-operations tests.
//
// A block is a shared_ptr to the tokens whose KV it would hold, so sharing, copying on write and
// freeing are the language's.
// Invariant the same calls give the same answers as the real ones, block for block.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/types.h"

namespace kvik {

using NaiveTokens = std::vector<TokenId>;

struct NaiveBlock {
    NaiveTokens rows;
};
using NaiveRef = std::shared_ptr<NaiveBlock>;

// [n_tokens] that `prefix` and `tokens` begin with alike, and whether one begins the other.
size_t n_common(const NaiveTokens& a, const NaiveTokens& b);
bool begins(const NaiveTokens& prefix, const NaiveTokens& tokens);
NaiveTokens first_tokens(const NaiveTokens& tokens, size_t n);

struct NaiveShape {
    uint32_t block_tokens = 16;
    std::vector<uint32_t> windows = {0};  // [n_groups] 0: full; those come first

    uint32_t n_groups() const { return static_cast<uint32_t>(windows.size()); }
    // The first logical block of a group that the token after n_tokens needs.
    uint32_t first_block(uint32_t group, uint32_t n_tokens) const;
};

class NaivePool {
  public:
    NaivePool(uint32_t n_blocks, NaiveShape shape)
        : n_blocks_(n_blocks), shape_(std::move(shape)) {}
    NaiveRef take();  // null: every block is owned
    uint32_t n_used() const { return *n_used_; }
    uint32_t n_free() const { return n_blocks_ - *n_used_; }
    const NaiveShape& shape() const { return shape_; }

  private:
    uint32_t n_blocks_;
    NaiveShape shape_;
    std::shared_ptr<uint32_t> n_used_ = std::make_shared<uint32_t>(0);
};

struct NaiveGroup {
    uint32_t first = 0;  // the logical block of blocks[0]
    std::vector<NaiveRef> blocks;
};

struct NaiveHit {
    std::vector<NaiveGroup> groups;
    uint32_t n_tokens = 0, n_resident = 0, n_known = 0;
    uint64_t entry = 0;  // the deepest entry of the usable part
    bool has_logits = false;
};

class NaiveTable {
  public:
    explicit NaiveTable(NaivePool& pool) : pool_(&pool), groups_(pool.shape().n_groups()) {}

    [[nodiscard]] bool reserve(uint32_t n_tokens);
    void append(std::span<const TokenId> tokens);
    bool can_truncate(uint32_t n_tokens) const;
    void truncate(uint32_t n_tokens);
    NaiveTable fork() const;
    void adopt(const NaiveHit& hit);
    void remap(const NaiveHit& hit);

    uint32_t n_tokens() const { return n_tokens_; }
    uint32_t n_blocks() const;
    NaiveTokens tokens() const;  // read from the blocks
    const std::vector<NaiveGroup>& groups() const { return groups_; }

  private:
    uint32_t logical_blocks_for(uint32_t n_tokens) const;
    void release_behind_windows();

    NaivePool* pool_;
    uint32_t n_tokens_ = 0, n_logical_blocks_ = 0;
    std::vector<NaiveGroup> groups_;
};

}  // namespace kvik
