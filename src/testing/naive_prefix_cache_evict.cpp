// What the naive tree keeps, and what it releases.
#include <algorithm>

#include "testing/naive_prefix_cache.h"

namespace kvik {

// ---- resume points ----

void NaivePrefixCache::mark(uint64_t id, size_t n_tokens) {
    by_id(id)->resume_points.insert(static_cast<uint32_t>(n_tokens));
}

void NaivePrefixCache::mark_distance(uint64_t id) {
    const Entry& entry = *by_id(id);
    if (options_.resume_every == 0) return;
    for (size_t n = entry.path.size(); n > begin_of(entry); --n)
        if (n % options_.resume_every == 0) return mark(id, n);
}

bool NaivePrefixCache::has_window_block(const Entry& entry) const {
    for (uint32_t g = 0; g < entry.groups.size(); ++g)
        if (options_.shape.windows[g] > 0 && entry.groups[g].ref) return true;
    return false;
}

// Of the widest window: no resume point at or below needs this logical block, nor would one token
// before.
bool NaivePrefixCache::is_loose(const Entry& entry) const {
    const auto& windows = options_.shape.windows;
    const auto widest =
        static_cast<uint32_t>(std::max_element(windows.begin(), windows.end()) - windows.begin());
    for (const Entry& other : entries_) {
        if (other.id != entry.id && !is_below(other, entry)) continue;
        for (const uint32_t n : other.resume_points)
            if (options_.shape.first_block(widest, n - 1) <= block_index_of(entry)) return false;
    }
    return true;
}

// ---- pins ----

bool NaivePrefixCache::pin(const NaiveHit& hit) {
    Entry* entry = by_id(hit.entry);
    if (!entry || !entry->is_resident) return false;
    ++entry->n_pins;
    mark(hit.entry, hit.n_tokens);
    return true;
}

void NaivePrefixCache::unpin(uint64_t entry) {
    --by_id(entry)->n_pins;
}

// If `more` were pinned as well.
uint32_t NaivePrefixCache::n_timed_blocks(const Entry* more) const {
    uint32_t n_full = 0, widest = 0, n = 0;
    for (const uint32_t window : options_.shape.windows) {
        n_full += window == 0;
        widest = std::max(widest, window);
    }
    const auto is_pinned = [&](const Entry& e) { return e.pinned_until > 0 || &e == more; };
    for (const Entry& entry : entries_) {
        bool holds = is_pinned(entry);
        if (holds)
            n += (options_.shape.n_groups() - n_full) *
                 std::min(block_index_of(entry) + 1, widest / options_.shape.block_tokens + 2);
        for (const Entry& other : entries_) holds |= is_pinned(other) && is_below(other, entry);
        n += holds ? n_full : 0;
    }
    return n;
}

bool NaivePrefixCache::pin_until(const NaiveHit& hit, double until_ms) {
    Entry* entry = by_id(hit.entry);
    if (!entry || !entry->is_resident || until_ms <= now_ms_) return false;
    if (n_timed_blocks(entry) * 100 > options_.n_blocks * options_.pinned_percent &&
        entry->pinned_until == 0)
        return false;
    mark(hit.entry, hit.n_tokens);
    entry->pinned_until = std::max(entry->pinned_until, until_ms);
    return true;
}

void NaivePrefixCache::set_clock(double now_ms) {
    now_ms_ = now_ms;
    for (Entry& entry : entries_)
        if (entry.pinned_until <= now_ms_) entry.pinned_until = 0;
}

// ---- releasing ----

bool NaivePrefixCache::is_leaf(const Entry& entry) const {
    return std::ranges::none_of(
        entries_, [&](const Entry& other) { return other.is_resident && is_below(other, entry); });
}

void NaivePrefixCache::clear_read(Entry& offloaded) {
    offloaded.groups.assign(options_.shape.n_groups(), {});
}

void NaivePrefixCache::offload(uint64_t id) {
    if (options_.n_offloaded == 0) return erase(id);
    Entry& entry = *by_id(id);
    entry.is_resident = false;
    entry.rank.is_fresh = true;
    entry.resume_points.clear();
    entry.evicted_ms = now_ms_;
    clear_read(entry);
    forget_uncovered_logits();
    Entry* longer = nullptr;
    Entry* shorter = nullptr;
    for (Entry& other : entries_) {
        if (other.id == id || other.ns != entry.ns || other.is_resident) continue;
        if (block_index_of(other) != block_index_of(entry)) continue;
        if (begins(entry.path, other.path) && (!longer || other.path < longer->path))
            longer = &other;
        if (begins(other.path, entry.path)) shorter = &other;
    }
    if (longer) {
        absorb(*longer, entry);
        erase(id);
    } else if (shorter) {
        absorb(entry, *shorter);
        erase(shorter->id);
    }
    trim_offloaded();
}

void NaivePrefixCache::trim_offloaded() {
    while (n_offloaded() > options_.n_offloaded) {
        const Entry* next = nullptr;
        const auto order = [](const Entry& e) {
            return std::pair(e.tier.ref != kNoTier, e.last_use);
        };
        for (const Entry& entry : entries_) {
            const bool has_child = std::ranges::any_of(
                entries_, [&](const Entry& other) { return is_below(other, entry); });
            if (entry.is_resident || has_child) continue;
            if (!next || order(entry) < order(*next)) next = &entry;
        }
        erase(next->id);
    }
}

uint32_t NaivePrefixCache::evict(uint32_t n_blocks) {
    uint32_t n_freed = 0;
    if (n_blocks == 0) return 0;
    for (Entry& entry : entries_) {
        const bool is_held = std::ranges::any_of(
            entry.groups, [](const Share& share) { return share.ref.use_count() > 1; });
        if (entry.is_resident || is_held) continue;
        for (const Share& share : entry.groups) n_freed += share.ref != nullptr;
        clear_read(entry);
    }
    if (n_freed < n_blocks) n_freed += evict_loose(n_blocks - n_freed);
    if (n_freed < n_blocks) n_freed += remove_leaves(n_blocks - n_freed, Owners::tree_alone);
    if (n_freed < n_blocks) n_freed += evict_anchored(n_blocks - n_freed);
    return n_freed;
}

uint32_t NaivePrefixCache::evict_loose(uint32_t n_blocks) {
    uint32_t n_freed = 0;
    while (n_freed < n_blocks) {
        Entry* next = nullptr;
        for (Entry& entry : entries_) {
            bool is_shared = false;
            for (uint32_t g = 0; g < entry.groups.size(); ++g)
                is_shared |= options_.shape.windows[g] > 0 && entry.groups[g].ref.use_count() > 1;
            if (!entry.is_resident || is_shared || !has_window_block(entry) || !is_loose(entry))
                continue;
            if (!next || std::pair(entry.last_use, block_index_of(entry)) <
                             std::pair(next->last_use, block_index_of(*next)))
                next = &entry;
        }
        if (!next) break;
        for (uint32_t g = 0; g < next->groups.size(); ++g) {
            if (options_.shape.windows[g] == 0) continue;
            n_freed += next->groups[g].ref != nullptr;
            next->groups[g] = {};
        }
    }
    return n_freed;
}

uint32_t NaivePrefixCache::evict_anchored(uint32_t n_blocks) {
    uint32_t n_freed = 0;
    while (n_freed < n_blocks) {
        Entry* next = nullptr;
        for (Entry& entry : entries_) {
            if (entry.resume_points.empty() || entry.n_pins > 0 || entry.pinned_until > 0) continue;
            if (!next || std::pair(entry.last_use, block_index_of(entry)) <
                             std::pair(next->last_use, block_index_of(*next)))
                next = &entry;
        }
        if (!next) break;
        next->resume_points.clear();
        n_freed += evict_loose(n_blocks - n_freed);
    }
    return n_freed;
}

uint32_t NaivePrefixCache::remove_leaves(uint32_t n_most, Owners owners) {
    uint32_t n_removed = 0;
    while (n_removed < n_most) {
        const Entry* next = nullptr;
        for (const Entry& entry : entries_) {
            if (!entry.is_resident || entry.n_pins > 0 || entry.pinned_until > 0) continue;
            if (!is_leaf(entry)) continue;
            if ((entry.groups[0].ref.use_count() > 1) != (owners == Owners::others_too)) continue;
            if (!next || entry.rank < next->rank) next = &entry;
        }
        if (!next) break;
        clock_ = std::max(clock_, next->rank.value);
        if (owners == Owners::others_too) ++n_removed;
        if (owners == Owners::tree_alone)
            for (const Share& share : next->groups)
                n_removed += share.ref && share.ref.use_count() == 1;
        offload(next->id);
    }
    return n_removed;
}

uint32_t NaivePrefixCache::release_shared(uint32_t n_leaves) {
    return remove_leaves(n_leaves, Owners::others_too);
}

// From the last logical block up: wholly matched entries all of whose children are forgotten too.
void NaivePrefixCache::forget(uint32_t ns, const NaiveTokens& tokens, uint32_t from,
                              ForgetKind kind) {
    std::set<uint64_t> forgotten;
    for (size_t block_index = tokens.size() / options_.shape.block_tokens + 1; block_index-- > 0;)
        for (const Entry& entry : entries_) {
            if (entry.ns != ns || block_index_of(entry) != block_index ||
                !begins(entry.path, tokens))
                continue;
            if (begin_of(entry) < from || entry.n_pins > 0 || entry.pinned_until > 0) continue;
            const bool is_needed = std::ranges::any_of(entries_, [&](const Entry& other) {
                return is_below(other, entry) && !forgotten.contains(other.id);
            });
            if (!is_needed) forgotten.insert(entry.id);
        }
    for (const uint64_t id : forgotten) {
        if (kind == ForgetKind::now)
            erase(id);
        else if (by_id(id)->is_resident)
            by_id(id)->rank.is_fresh = false;
    }
}

}  // namespace kvik
