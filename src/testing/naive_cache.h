// NaiveCache: the naive twins of BlockPool, BlockTable and PrefixTree, for random-operations tests.
//
// A block is a shared_ptr to the tokens whose KV it would hold, so sharing, copying on write and
// freeing are the language's. The tree is a flat list of whole paths, searched from end to end.
// Cost      everything is linear in all there is, or worse.
// Invariant the same calls give the same answers as the real ones, block for block.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/types.h"

namespace kvik {

using NaiveTokens = std::vector<TokenId>;

struct NaiveBlock {
    NaiveTokens rows;
};
using NaiveRef = std::shared_ptr<NaiveBlock>;

class NaivePool {
  public:
    NaivePool(uint32_t n_blocks, uint32_t block_tokens)
        : n_blocks_(n_blocks), block_tokens_(block_tokens) {}
    NaiveRef take();  // null: every block is owned
    uint32_t n_used() const { return *n_used_; }
    uint32_t n_free() const { return n_blocks_ - *n_used_; }
    uint32_t block_tokens() const { return block_tokens_; }

  private:
    uint32_t n_blocks_, block_tokens_;
    std::shared_ptr<uint32_t> n_used_ = std::make_shared<uint32_t>(0);
};

struct NaiveHit {
    std::vector<NaiveRef> blocks;
    uint32_t n_tokens = 0;
    uint64_t entry = 0;  // the deepest entry matched
    bool has_logits = false;
};

class NaiveTable {
  public:
    explicit NaiveTable(NaivePool& pool) : pool_(&pool) {}

    [[nodiscard]] bool reserve(uint32_t n_tokens);
    void append(std::span<const TokenId> tokens);
    void truncate(uint32_t n_tokens);
    NaiveTable fork() const;
    void adopt(const NaiveHit& hit);
    void remap(const NaiveHit& hit);

    uint32_t n_tokens() const { return n_tokens_; }
    NaiveTokens tokens() const;  // read from the blocks
    const std::vector<NaiveRef>& blocks() const { return blocks_; }

  private:
    NaivePool* pool_;
    uint32_t n_tokens_ = 0;
    std::vector<NaiveRef> blocks_;
};

struct NaiveInsert {
    uint32_t n_new = 0, n_duplicates = 0;
};

class NaiveTree {
  public:
    NaiveTree(uint32_t block_tokens, uint32_t most_logits)
        : block_tokens_(block_tokens), most_logits_(most_logits) {}

    NaiveHit find(uint32_t ns, const NaiveTokens& tokens) const;
    void use(const NaiveHit& hit, uint32_t ns, const NaiveTokens& tokens);
    NaiveInsert insert(uint32_t ns, const NaiveTokens& tokens, const std::vector<NaiveRef>& blocks);
    bool store_logits(uint32_t ns, const NaiveTokens& tokens);
    bool pin(const NaiveHit& hit);  // false: its entry is gone
    void unpin(uint64_t entry);
    uint32_t evict(uint32_t n_blocks);
    uint32_t let_go_shared(uint32_t n_leaves);

    uint32_t n_blocks() const { return static_cast<uint32_t>(entries_.size()); }
    uint32_t n_logits() const { return static_cast<uint32_t>(logits_.size()); }

  private:
    struct Entry {  // one block: the tokens from the start of the sequence to the block's last
        uint64_t id = 0;
        uint32_t ns = 0;
        NaiveTokens path;
        NaiveRef block;
        uint64_t last_use = 0;
        uint32_t n_pins = 0;
    };
    struct Logits {
        uint32_t ns = 0;
        NaiveTokens path;
        auto operator<=>(const Logits&) const = default;
    };
    enum class Owners : uint8_t { tree_alone, others_too };

    size_t block_of(size_t n_tokens) const { return (n_tokens - 1) / block_tokens_; }
    const Entry* best_entry(uint32_t ns, const NaiveTokens& tokens, size_t i_block) const;
    Entry* by_id(uint64_t id);
    void touch(const Entry& end);
    bool is_leaf(const Entry& entry) const;
    void forget_uncovered_logits();
    uint32_t remove_leaves(uint32_t n_leaves, Owners owners);

    uint32_t block_tokens_, most_logits_;
    uint64_t tick_ = 0, next_id_ = 1;
    std::vector<Entry> entries_;
    std::vector<Logits> logits_;  // the least recently used first
};

}  // namespace kvik
