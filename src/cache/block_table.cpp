#include "cache/block_table.h"

#include <algorithm>

#include "base/check.h"
#include "cache/prefix_tree.h"

namespace kvik {

BlockTable::BlockTable(BlockPool& pool, KvStorage& storage, uint32_t max_tokens)
    : pool_(&pool),
      storage_(&storage),
      block_tokens_(storage.spec().block_tokens),
      max_tokens_(max_tokens) {
    KVIK_CHECK(pool.n_blocks() <= storage.n_blocks(), "every block of the pool has memory");
    refs_.reserve(blocks_for(max_tokens));
    ids_.reserve(blocks_for(max_tokens));
}

uint32_t BlockTable::blocks_for(uint32_t n_tokens) const {
    return n_tokens / block_tokens_ + (n_tokens % block_tokens_ != 0);
}

// A full tail is never written again, so only a partly filled one is copied.
bool BlockTable::tail_needs_copy() const {
    return n_tokens_ % block_tokens_ != 0 && refs_[n_tokens_ / block_tokens_].is_shared();
}

uint32_t BlockTable::n_blocks_needed(uint32_t n_tokens) const {
    if (n_tokens == 0) return 0;
    const uint32_t n_after = std::max(blocks_for(n_tokens_ + n_tokens), n_blocks());
    return n_after - n_blocks() + (tail_needs_copy() ? 1 : 0);
}

bool BlockTable::reserve(uint32_t n_tokens) {
    KVIK_CHECK(n_tokens <= max_tokens_ - n_tokens_, "a sequence stays within its context");
    if (n_tokens == 0) return true;
    if (pool_->n_free() < n_blocks_needed(n_tokens)) return false;
    if (tail_needs_copy()) {
        const uint32_t tail = n_tokens_ / block_tokens_;
        BlockRef own = *pool_->take();
        storage_->copy_rows(
            {.from = ids_[tail], .to = own.id(), .n_tokens = n_tokens_ % block_tokens_});
        ids_[tail] = own.id();
        refs_[tail] = std::move(own);
    }
    while (n_blocks() < blocks_for(n_tokens_ + n_tokens)) {
        refs_.push_back(*pool_->take());
        ids_.push_back(refs_.back().id());
    }
    n_writable_ = std::max(n_writable_, n_tokens_ + n_tokens);
    return true;
}

void BlockTable::append(uint32_t n_tokens) {
    KVIK_CHECK(n_tokens <= n_writable_ - n_tokens_, "only reserved positions are written");
    const uint32_t end = blocks_for(n_tokens_ + n_tokens);
    for (uint32_t i = n_tokens_ / block_tokens_; i < end; ++i)
        KVIK_CHECK(!refs_[i].is_shared(), "a block that is written has one owner");
    n_tokens_ += n_tokens;
}

void BlockTable::truncate(uint32_t n_tokens) {
    KVIK_CHECK(n_tokens <= n_tokens_, "a sequence goes back, not forward");
    while (n_blocks() > blocks_for(n_tokens)) {
        refs_.pop_back();
        ids_.pop_back();
    }
    n_tokens_ = n_writable_ = n_tokens;
}

BlockTable BlockTable::fork() const {
    BlockTable twin(*pool_, *storage_, max_tokens_);
    for (uint32_t i = 0; i < blocks_for(n_tokens_); ++i) {
        twin.refs_.push_back(refs_[i].share());
        twin.ids_.push_back(ids_[i]);
    }
    twin.n_tokens_ = twin.n_writable_ = n_tokens_;
    return twin;
}

void BlockTable::adopt(PrefixHit&& hit) {
    KVIK_CHECK(refs_.empty(), "a sequence starts from one prefix");
    KVIK_CHECK(hit.n_tokens <= max_tokens_, "a sequence stays within its context");
    KVIK_CHECK(hit.blocks.size() == blocks_for(hit.n_tokens), "a hit covers its tokens");
    for (BlockRef& block : hit.blocks) {
        refs_.push_back(std::move(block));
        ids_.push_back(refs_.back().id());
    }
    hit.blocks.clear();
    n_tokens_ = n_writable_ = hit.n_tokens;
}

void BlockTable::remap(const PrefixHit& hit) {
    const uint32_t n_whole = std::min(hit.n_tokens, n_tokens_) / block_tokens_;
    for (uint32_t i = 0; i < n_whole; ++i) {
        if (ids_[i] == hit.blocks[i].id()) continue;
        refs_[i] = hit.blocks[i].share();
        ids_[i] = refs_[i].id();
    }
}

void BlockTable::check_invariants() const {
    KVIK_CHECK(refs_.size() == ids_.size(), "every block has its id in the view");
    for (size_t i = 0; i < refs_.size(); ++i)
        KVIK_CHECK(refs_[i].id() == ids_[i], "the view names the blocks that are owned");
    KVIK_CHECK(n_tokens_ <= n_writable_ && n_writable_ <= max_tokens_,
               "tokens <= writable <= context");
    KVIK_CHECK(n_blocks() >= blocks_for(n_writable_), "every writable position has a block");
    for (size_t i = 0; i < refs_.size(); ++i)
        for (size_t j = 0; j < i; ++j)
            KVIK_CHECK(ids_[i] != ids_[j], "a sequence holds a block once");
}

}  // namespace kvik
