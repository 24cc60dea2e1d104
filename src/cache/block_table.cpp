#include "cache/block_table.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "cache/prefix/prefix_cache.h"

namespace kvik {

BlockTable::BlockTable(BlockPool& pool, KvStorage& storage, uint32_t max_tokens)
    : pool_(&pool),
      storage_(&storage),
      block_tokens_(storage.spec().block_tokens),
      max_tokens_(max_tokens),
      max_logical_blocks_(blocks_for(max_tokens)),
      groups_(storage.spec().n_groups()),
      ids_(uint64_t{max_logical_blocks_} * groups_.size()) {
    KVIK_CHECK(pool.n_blocks() <= storage.n_blocks(), "every block of the pool has memory");
    for (uint32_t g = 0; g < n_groups(); ++g) {
        groups_[g].window = storage.spec().window(g);
        groups_[g].refs.reserve(max_logical_blocks_);
    }
}

uint32_t BlockTable::blocks_for(uint32_t n_tokens) const {
    return n_tokens / block_tokens_ + (n_tokens % block_tokens_ != 0);
}

// Returns the first block index that a sequence of n_tokens needs to go on.
uint32_t BlockTable::first_block(uint32_t window, uint32_t n_tokens) const {
    return first_needed(window, n_tokens) / block_tokens_;
}

// ---- the lists ----

uint32_t BlockTable::n_blocks() const {
    size_t n = 0;
    for (const Group& group : groups_) n += group.refs.size();
    return static_cast<uint32_t>(n);
}

std::span<const BlockId> BlockTable::ids(uint32_t group) const {
    return std::span(ids_).subspan(uint64_t{group} * max_logical_blocks_, n_logical_blocks_);
}

GroupBlocks BlockTable::group_blocks(uint32_t group) const {
    return {.first = groups_[group].first, .refs = groups_[group].refs};
}

std::vector<GroupBlocks> BlockTable::group_blocks() const {
    std::vector<GroupBlocks> all;
    for (uint32_t g = 0; g < n_groups(); ++g) all.push_back(group_blocks(g));
    return all;
}

BlockId& BlockTable::id(uint32_t group, uint32_t block_index) {
    return ids_[uint64_t{group} * max_logical_blocks_ + block_index];
}

void BlockTable::set_block(uint32_t group, uint32_t block_index, BlockRef block) {
    id(group, block_index) = block.id();
    groups_[group].refs[block_index - groups_[group].first] = std::move(block);
}

void BlockTable::push_block(uint32_t group, BlockRef block) {
    Group& to = groups_[group];
    id(group, to.first + static_cast<uint32_t>(to.refs.size())) = block.id();
    to.refs.push_back(std::move(block));
}

// ---- growing ----

// A full tail is never written again, so only a partly filled one is copied.
uint32_t BlockTable::n_shared_tails() const {
    if (n_tokens_ % block_tokens_ == 0) return 0;
    const uint32_t tail = n_tokens_ / block_tokens_;
    uint32_t n = 0;
    for (const Group& group : groups_) n += group.refs[tail - group.first].is_shared();
    return n;
}

uint32_t BlockTable::n_blocks_needed(uint32_t n_tokens) const {
    if (n_tokens == 0) return 0;
    const uint32_t n_after = std::max(blocks_for(n_tokens_ + n_tokens), n_logical_blocks_);
    return (n_after - n_logical_blocks_) * n_groups() + n_shared_tails();
}

bool BlockTable::reserve(uint32_t n_tokens) {
    KVIK_CHECK(n_tokens <= max_tokens_ - n_tokens_, "a sequence stays within its context");
    if (n_tokens == 0) return true;
    release_behind_windows();
    if (pool_->n_free() < n_blocks_needed(n_tokens)) return false;
    copy_shared_tails();
    for (; n_logical_blocks_ < blocks_for(n_tokens_ + n_tokens); ++n_logical_blocks_)
        for (uint32_t g = 0; g < n_groups(); ++g) push_block(g, *pool_->take());
    n_writable_ = std::max(n_writable_, n_tokens_ + n_tokens);
    return true;
}

void BlockTable::copy_shared_tails() {
    if (n_tokens_ % block_tokens_ == 0) return;
    const uint32_t tail = n_tokens_ / block_tokens_;
    for (uint32_t g = 0; g < n_groups(); ++g) {
        if (!groups_[g].refs[tail - groups_[g].first].is_shared()) continue;
        BlockRef own = *pool_->take();
        storage_->copy_rows(
            {.from = id(g, tail), .to = own.id(), .n_tokens = n_tokens_ % block_tokens_});
        set_block(g, tail, std::move(own));
    }
}

void BlockTable::append(uint32_t n_tokens) {
    KVIK_CHECK(n_tokens <= n_writable_ - n_tokens_, "only reserved positions are written");
    const uint32_t end = blocks_for(n_tokens_ + n_tokens);
    for (const Group& group : groups_)
        for (uint32_t i = n_tokens_ / block_tokens_; i < end; ++i)
            KVIK_CHECK(!group.refs[i - group.first].is_shared(),
                       "a block that is written has one owner");
    n_tokens_ += n_tokens;
}

void BlockTable::release_behind_windows() {
    const uint32_t n_back = n_tokens_ - std::min(n_tokens_, kRewindTokens);
    for (Group& group : groups_) {
        const uint32_t first = first_block(group.window, n_back);
        if (first <= group.first) continue;
        group.refs.erase(group.refs.begin(), group.refs.begin() + (first - group.first));
        group.first = first;
    }
}

// ---- going back ----

bool BlockTable::can_truncate(uint32_t n_tokens) const {
    if (n_tokens == 0) return true;
    return n_tokens <= n_tokens_ && std::ranges::all_of(groups_, [&](const Group& group) {
               return group.first <= first_block(group.window, n_tokens);
           });
}

void BlockTable::truncate(uint32_t n_tokens) {
    KVIK_CHECK(n_tokens <= n_tokens_, "a sequence goes back, not forward");
    KVIK_CHECK(can_truncate(n_tokens), "a sequence goes back to where its windows still are");
    n_logical_blocks_ = blocks_for(n_tokens);
    for (Group& group : groups_) {
        if (n_tokens == 0) group.first = 0;
        while (group.refs.size() > n_logical_blocks_ - group.first) group.refs.pop_back();
    }
    n_tokens_ = n_writable_ = n_tokens;
}

// ---- sharing ----

BlockTable BlockTable::fork() const {
    BlockTable copy(*pool_, *storage_, max_tokens_);
    copy.ids_ = ids_;
    copy.n_logical_blocks_ = blocks_for(n_tokens_);
    for (uint32_t g = 0; g < n_groups(); ++g) {
        copy.groups_[g].first = groups_[g].first;
        for (uint32_t i = 0; i < copy.n_logical_blocks_ - groups_[g].first; ++i)
            copy.groups_[g].refs.push_back(groups_[g].refs[i].share());
    }
    copy.n_tokens_ = copy.n_writable_ = n_tokens_;
    return copy;
}

void BlockTable::adopt(PrefixHit&& hit) {
    KVIK_CHECK(n_logical_blocks_ == 0, "a sequence starts from one prefix");
    KVIK_CHECK(hit.n_tokens <= max_tokens_, "a sequence stays within its context");
    if (hit.n_tokens == 0) return;
    KVIK_CHECK(hit.groups.size() == n_groups(), "a hit is of this model's groups");
    n_logical_blocks_ = blocks_for(hit.n_tokens);
    for (uint32_t g = 0; g < n_groups(); ++g) {
        GroupRefs& from = hit.groups[g];
        KVIK_CHECK(from.first + from.blocks.size() == n_logical_blocks_ &&
                       from.first <= first_block(groups_[g].window, hit.n_tokens),
                   "a hit covers what its tokens need");
        groups_[g].first = from.first;
        if (!from.blocks.empty()) std::fill_n(&id(g, 0), from.first, from.blocks[0].id());
        for (BlockRef& block : from.blocks) push_block(g, std::move(block));
    }
    n_tokens_ = n_writable_ = hit.n_tokens;
    hit = {};
}

void BlockTable::remap(const PrefixHit& hit) {
    const uint32_t n_whole = std::min(hit.n_tokens, n_tokens_) / block_tokens_;
    if (n_whole == 0) return;
    for (uint32_t g = 0; g < n_groups(); ++g) {
        const GroupRefs& from = hit.groups[g];
        for (uint32_t i = std::max(groups_[g].first, from.first); i < n_whole; ++i) {
            const BlockRef& block = from.blocks[i - from.first];
            if (id(g, i) != block.id()) set_block(g, i, block.share());
        }
    }
}

void BlockTable::check_invariants() const {
    std::vector<BlockId> held;
    for (uint32_t g = 0; g < n_groups(); ++g) {
        const Group& group = groups_[g];
        KVIK_CHECK(group.first + group.refs.size() == n_logical_blocks_,
                   "every group has the same block indices");
        KVIK_CHECK(n_tokens_ == 0 || group.first <= first_block(group.window, n_tokens_),
                   "every group has its window");
        for (uint32_t i = 0; i < group.refs.size(); ++i) {
            KVIK_CHECK(group.refs[i].id() == ids(g)[group.first + i],
                       "the view names the blocks that are owned");
            held.push_back(group.refs[i].id());
        }
    }
    KVIK_CHECK(n_tokens_ <= n_writable_ && n_writable_ <= max_tokens_,
               "tokens <= writable <= context");
    KVIK_CHECK(n_logical_blocks_ >= blocks_for(n_writable_), "every writable position has a block");
    std::ranges::sort(held);
    KVIK_CHECK(std::ranges::adjacent_find(held) == held.end(), "a sequence holds a block once");
}

}  // namespace kvik
