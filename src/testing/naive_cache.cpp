#include "testing/naive_cache.h"

#include <algorithm>

#include "base/check.h"

namespace kvik {

static bool begins(const NaiveTokens& prefix, const NaiveTokens& tokens) {
    return prefix.size() <= tokens.size() &&
           std::equal(prefix.begin(), prefix.end(), tokens.begin());
}

static size_t n_common(const NaiveTokens& a, const NaiveTokens& b) {
    size_t n = 0;
    while (n < a.size() && n < b.size() && a[n] == b[n]) ++n;
    return n;
}

static NaiveTokens first_tokens(const NaiveTokens& tokens, size_t n) {
    return {tokens.begin(),
            tokens.begin() + static_cast<std::ptrdiff_t>(std::min(n, tokens.size()))};
}

// ---- pool and table ----

NaiveRef NaivePool::take() {
    if (n_free() == 0) return nullptr;
    ++*n_used_;
    return {new NaiveBlock, [n_used = n_used_](NaiveBlock* block) {
                delete block;
                --*n_used;
            }};
}

bool NaiveTable::reserve(uint32_t n_tokens) {
    if (n_tokens == 0) return true;
    const uint32_t size = pool_->block_tokens();
    const size_t n_after = (n_tokens_ + n_tokens + size - 1) / size;
    const size_t tail = n_tokens_ / size;
    const bool copies = n_tokens_ % size != 0 && blocks_[tail].use_count() > 1;
    const size_t n_more = std::max(n_after, blocks_.size()) - blocks_.size();
    if (n_more + copies > pool_->n_free()) return false;
    if (copies) {
        NaiveRef own = pool_->take();
        own->rows = first_tokens(blocks_[tail]->rows, n_tokens_ % size);
        blocks_[tail] = own;
    }
    while (blocks_.size() < n_after) blocks_.push_back(pool_->take());
    return true;
}

void NaiveTable::append(std::span<const TokenId> tokens) {
    for (const TokenId token : tokens) {
        const NaiveRef& block = blocks_[n_tokens_ / pool_->block_tokens()];
        KVIK_CHECK(block.use_count() == 1, "the twin writes only into what it owns alone");
        block->rows.resize(n_tokens_ % pool_->block_tokens());
        block->rows.push_back(token);
        ++n_tokens_;
    }
}

void NaiveTable::truncate(uint32_t n_tokens) {
    n_tokens_ = n_tokens;
    blocks_.resize((n_tokens + pool_->block_tokens() - 1) / pool_->block_tokens());
}

NaiveTable NaiveTable::fork() const {
    NaiveTable twin = *this;
    twin.truncate(n_tokens_);
    return twin;
}

void NaiveTable::adopt(const NaiveHit& hit) {
    blocks_ = hit.blocks;
    n_tokens_ = hit.n_tokens;
}

void NaiveTable::remap(const NaiveHit& hit) {
    const uint32_t n_whole = std::min(hit.n_tokens, n_tokens_) / pool_->block_tokens();
    std::copy_n(hit.blocks.begin(), n_whole, blocks_.begin());
}

NaiveTokens NaiveTable::tokens() const {
    NaiveTokens out;
    for (uint32_t i = 0; i < n_tokens_; ++i)
        out.push_back(blocks_[i / pool_->block_tokens()]->rows.at(i % pool_->block_tokens()));
    return out;
}

// ---- tree ----

// Among the entries of one block that share the most tokens, and at least one token of that block,
// the tree takes the nearest in order, the one above first.
const NaiveTree::Entry* NaiveTree::best_entry(uint32_t ns, const NaiveTokens& tokens,
                                              size_t i_block) const {
    const NaiveTokens asked = first_tokens(tokens, (i_block + 1) * block_tokens_);
    const Entry* best = nullptr;
    for (const Entry& entry : entries_) {
        if (entry.ns != ns || block_of(entry.path.size()) != i_block) continue;
        const size_t n = n_common(entry.path, asked);
        if (n <= i_block * block_tokens_) continue;
        const size_t n_best = best ? n_common(best->path, asked) : 0;
        if (n < n_best) continue;
        const bool above = entry.path >= asked, best_above = best && best->path >= asked;
        const bool nearer = !best || n > n_best || (above && !best_above) ||
                            (above && best_above && entry.path < best->path) ||
                            (!above && !best_above && entry.path > best->path);
        if (nearer) best = &entry;
    }
    return best;
}

NaiveHit NaiveTree::find(uint32_t ns, const NaiveTokens& tokens) const {
    NaiveHit hit;
    for (size_t i = 0; i * block_tokens_ < tokens.size(); ++i) {
        const Entry* entry = best_entry(ns, tokens, i);
        if (!entry) break;
        hit.blocks.push_back(entry->block);
        hit.entry = entry->id;
        hit.n_tokens = static_cast<uint32_t>(n_common(entry->path, tokens));
        if (hit.n_tokens < (i + 1) * block_tokens_) break;
    }
    hit.has_logits = hit.n_tokens == tokens.size() &&
                     std::find(logits_.begin(), logits_.end(), Logits{ns, tokens}) != logits_.end();
    return hit;
}

NaiveTree::Entry* NaiveTree::by_id(uint64_t id) {
    for (Entry& entry : entries_)
        if (entry.id == id) return &entry;
    return nullptr;
}

void NaiveTree::touch(const Entry& end) {
    ++tick_;
    for (Entry& entry : entries_)
        if (entry.ns == end.ns && begins(entry.path, end.path)) entry.last_use = tick_;
}

void NaiveTree::use(const NaiveHit& hit, uint32_t ns, const NaiveTokens& tokens) {
    const Entry* entry = by_id(hit.entry);
    if (!entry) return;
    touch(*entry);
    const auto logits = std::find(logits_.begin(), logits_.end(), Logits{ns, tokens});
    if (hit.has_logits && logits != logits_.end()) std::rotate(logits, logits + 1, logits_.end());
}

NaiveInsert NaiveTree::insert(uint32_t ns, const NaiveTokens& tokens,
                              const std::vector<NaiveRef>& blocks) {
    NaiveInsert report;
    if (tokens.empty()) return report;
    uint64_t end = 0;
    for (size_t i = 0; i * block_tokens_ < tokens.size(); ++i) {
        const NaiveTokens path = first_tokens(tokens, (i + 1) * block_tokens_);
        Entry* covers = nullptr;
        Entry* shorter = nullptr;
        for (Entry& entry : entries_) {
            if (entry.ns != ns || block_of(entry.path.size()) != i) continue;
            if (begins(path, entry.path) && (!covers || entry.path < covers->path)) covers = &entry;
            if (begins(entry.path, path)) shorter = &entry;
        }
        if (covers) {
            report.n_duplicates +=
                path.size() == (i + 1) * block_tokens_ && covers->block != blocks[i];
            end = covers->id;
        } else if (shorter) {
            shorter->path = path;
            shorter->block = blocks[i];
            end = shorter->id;
            ++report.n_new;
        } else {
            end = next_id_++;
            entries_.push_back({.id = end, .ns = ns, .path = path, .block = blocks[i]});
            ++report.n_new;
        }
    }
    touch(*by_id(end));
    return report;
}

bool NaiveTree::store_logits(uint32_t ns, const NaiveTokens& tokens) {
    if (tokens.empty() || find(ns, tokens).n_tokens != tokens.size()) return false;
    if (most_logits_ == 0) return false;
    std::erase(logits_, Logits{ns, tokens});
    if (logits_.size() == most_logits_) logits_.erase(logits_.begin());
    logits_.push_back({ns, tokens});
    return true;
}

bool NaiveTree::pin(const NaiveHit& hit) {
    Entry* entry = by_id(hit.entry);
    if (entry) ++entry->n_pins;
    return entry != nullptr;
}

void NaiveTree::unpin(uint64_t entry) {
    --by_id(entry)->n_pins;
}

bool NaiveTree::is_leaf(const Entry& entry) const {
    for (const Entry& other : entries_)
        if (other.ns == entry.ns && block_of(other.path.size()) > block_of(entry.path.size()) &&
            begins(entry.path, other.path))
            return false;
    return true;
}

void NaiveTree::forget_uncovered_logits() {
    std::erase_if(logits_, [this](const Logits& logits) {
        return find(logits.ns, logits.path).n_tokens != logits.path.size();
    });
}

uint32_t NaiveTree::remove_leaves(uint32_t n_leaves, Owners owners) {
    uint32_t n_removed = 0;
    while (n_removed < n_leaves) {
        Entry* next = nullptr;
        for (Entry& entry : entries_) {
            if (entry.n_pins > 0 || !is_leaf(entry)) continue;
            if ((entry.block.use_count() > 1) != (owners == Owners::others_too)) continue;
            if (!next || entry.last_use < next->last_use) next = &entry;
        }
        if (!next) break;
        entries_.erase(entries_.begin() + (next - entries_.data()));
        forget_uncovered_logits();
        ++n_removed;
    }
    return n_removed;
}

uint32_t NaiveTree::evict(uint32_t n_blocks) {
    return remove_leaves(n_blocks, Owners::tree_alone);
}

uint32_t NaiveTree::let_go_shared(uint32_t n_leaves) {
    return remove_leaves(n_leaves, Owners::others_too);
}

}  // namespace kvik
