#include "cache/block_pool.h"

#include "base/check.h"

namespace kvik {

static size_t at(BlockId id) {
    return static_cast<size_t>(id);
}

BlockPool::BlockPool(uint32_t n_blocks) : counts_(n_blocks, 0) {
    free_.reserve(n_blocks);
    for (uint32_t i = n_blocks; i-- > 0;) free_.push_back(BlockId{i});
}

BlockPool::~BlockPool() {
    KVIK_CHECK(n_used() == 0, "the pool outlives every owner of a block");
}

std::optional<BlockRef> BlockPool::take() {
    if (free_.empty()) return std::nullopt;
    const BlockId id = free_.back();
    free_.pop_back();
    KVIK_CHECK(counts_[at(id)] == 0, "a free block has no owner");
    counts_[at(id)] = 1;
    return BlockRef(*this, id);
}

void BlockPool::release(BlockId id) noexcept {
    KVIK_CHECK(counts_[at(id)] > 0, "only an owner can release a block");
    if (--counts_[at(id)] == 0) free_.push_back(id);
}

uint64_t BlockPool::n_handles() const {
    uint64_t sum = 0;
    for (const uint32_t count : counts_) sum += count;
    return sum;
}

void BlockPool::check_invariants() const {
    uint32_t n_zero = 0;
    for (const uint32_t count : counts_) n_zero += count == 0;
    KVIK_CHECK(n_zero == n_free(), "free + used = all: a block is free iff its count is 0");
    for (const BlockId id : free_) KVIK_CHECK(counts_[at(id)] == 0, "a free block has no owner");
}

BlockRef& BlockRef::operator=(BlockRef&& other) noexcept {
    if (this != &other) {
        if (pool_) pool_->release(id_);
        pool_ = std::exchange(other.pool_, nullptr);
        id_ = other.id_;
    }
    return *this;
}

BlockRef::~BlockRef() {
    if (pool_) pool_->release(id_);
}

BlockRef BlockRef::share() const {
    KVIK_CHECK(pool_ != nullptr, "only an owner can share");
    ++pool_->counts_[at(id_)];
    return BlockRef(*pool_, id_);
}

bool BlockRef::is_shared() const {
    KVIK_CHECK(pool_ != nullptr, "a moved-from BlockRef has no block");
    return pool_->counts_[at(id_)] > 1;
}

}  // namespace kvik
