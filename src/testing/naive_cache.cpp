#include "testing/naive_cache.h"

#include <algorithm>

#include "base/check.h"
#include "cache/block_table.h"

namespace kvik {

size_t n_common(const NaiveTokens& a, const NaiveTokens& b) {
    size_t n = 0;
    while (n < a.size() && n < b.size() && a[n] == b[n]) ++n;
    return n;
}

bool begins(const NaiveTokens& prefix, const NaiveTokens& tokens) {
    return n_common(prefix, tokens) == prefix.size();
}

NaiveTokens first_tokens(const NaiveTokens& tokens, size_t n) {
    return {tokens.begin(),
            tokens.begin() + static_cast<std::ptrdiff_t>(std::min(n, tokens.size()))};
}

uint32_t NaiveShape::first_block(uint32_t group, uint32_t n_tokens) const {
    const uint32_t window = windows[group];
    uint32_t position = 0;  // one by one: a position is seen from its own to window - 1 later
    while (window > 0 && position + window <= n_tokens) ++position;
    return position / block_tokens;
}

// ---- pool ----

NaiveRef NaivePool::take() {
    if (n_free() == 0) return nullptr;
    ++*n_used_;
    return {new NaiveBlock, [n_used = n_used_](NaiveBlock* block) {
                delete block;
                --*n_used;
            }};
}

// ---- table ----

uint32_t NaiveTable::logical_blocks_for(uint32_t n_tokens) const {
    return (n_tokens + pool_->shape().block_tokens - 1) / pool_->shape().block_tokens;
}

uint32_t NaiveTable::n_blocks() const {
    size_t n = 0;
    for (const NaiveGroup& group : groups_) n += group.blocks.size();
    return static_cast<uint32_t>(n);
}

bool NaiveTable::reserve(uint32_t n_tokens) {
    if (n_tokens == 0) return true;
    release_behind_windows();
    const uint32_t size = pool_->shape().block_tokens;
    const uint32_t n_after = std::max(logical_blocks_for(n_tokens_ + n_tokens), n_logical_blocks_);
    const uint32_t tail = n_tokens_ / size;
    std::vector<NaiveRef*> copied;
    for (NaiveGroup& group : groups_)
        if (n_tokens_ % size != 0 && group.blocks[tail - group.first].use_count() > 1)
            copied.push_back(&group.blocks[tail - group.first]);
    if ((n_after - n_logical_blocks_) * groups_.size() + copied.size() > pool_->n_free())
        return false;
    for (NaiveRef* block : copied) {
        NaiveRef own = pool_->take();
        own->rows = first_tokens((*block)->rows, n_tokens_ % size);
        *block = own;
    }
    for (; n_logical_blocks_ < n_after; ++n_logical_blocks_)
        for (NaiveGroup& group : groups_) group.blocks.push_back(pool_->take());
    return true;
}

void NaiveTable::append(std::span<const TokenId> tokens) {
    const uint32_t size = pool_->shape().block_tokens;
    for (const TokenId token : tokens) {
        for (NaiveGroup& group : groups_) {
            const NaiveRef& block = group.blocks[n_tokens_ / size - group.first];
            KVIK_CHECK(block.use_count() == 1, "the copy writes only into what it owns alone");
            block->rows.resize(n_tokens_ % size);
            block->rows.push_back(token);
        }
        ++n_tokens_;
    }
}

void NaiveTable::release_behind_windows() {
    for (uint32_t g = 0; g < groups_.size(); ++g) {
        NaiveGroup& group = groups_[g];
        const uint32_t n_back = n_tokens_ - std::min(n_tokens_, kRewindTokens);
        while (group.first < pool_->shape().first_block(g, n_back)) {
            group.blocks.erase(group.blocks.begin());
            ++group.first;
        }
    }
}

bool NaiveTable::can_truncate(uint32_t n_tokens) const {
    for (uint32_t g = 0; g < groups_.size(); ++g)
        if (n_tokens > 0 && groups_[g].first > pool_->shape().first_block(g, n_tokens))
            return false;
    return true;
}

void NaiveTable::truncate(uint32_t n_tokens) {
    n_tokens_ = n_tokens;
    n_logical_blocks_ = logical_blocks_for(n_tokens);
    for (NaiveGroup& group : groups_) {
        if (n_tokens == 0) group.first = 0;
        group.blocks.resize(n_logical_blocks_ - group.first);
    }
}

NaiveTable NaiveTable::fork() const {
    NaiveTable copy = *this;
    copy.truncate(n_tokens_);
    return copy;
}

void NaiveTable::adopt(const NaiveHit& hit) {
    if (hit.n_tokens == 0) return;
    groups_ = hit.groups;
    n_tokens_ = hit.n_tokens;
    n_logical_blocks_ = logical_blocks_for(n_tokens_);
}

void NaiveTable::remap(const NaiveHit& hit) {
    const uint32_t n_whole = std::min(hit.n_tokens, n_tokens_) / pool_->shape().block_tokens;
    for (uint32_t g = 0; g < groups_.size() && n_whole > 0; ++g) {
        const NaiveGroup& from = hit.groups[g];
        for (uint32_t i = std::max(groups_[g].first, from.first); i < n_whole; ++i)
            groups_[g].blocks[i - groups_[g].first] = from.blocks[i - from.first];
    }
}

// From the full group; the others must hold the same where they hold anything.
NaiveTokens NaiveTable::tokens() const {
    NaiveTokens out;
    const uint32_t size = pool_->shape().block_tokens;
    for (uint32_t i = 0; i < n_tokens_; ++i) {
        out.push_back(groups_[0].blocks[i / size]->rows.at(i % size));
        for (const NaiveGroup& group : groups_)
            KVIK_CHECK(i / size < group.first ||
                           group.blocks[i / size - group.first]->rows.at(i % size) == out.back(),
                       "all groups of the naive table hold the same tokens");
    }
    return out;
}

}  // namespace kvik
