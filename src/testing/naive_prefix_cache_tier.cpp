// The naive tree and the tier below.
#include <algorithm>

#include "testing/naive_prefix_cache.h"

namespace kvik {

// ---- the tier below ----

NaiveLoadPlan NaivePrefixCache::plan_load(uint32_t ns, const NaiveTokens& tokens) const {
    NaiveLoadPlan plan;
    Path path = walk_resident(ns, tokens);
    const uint32_t usable_now = usable_tokens(beside(path, tokens), tokens, State::in_ram);
    plan.n_tokens = usable_tokens(path, tokens, State::with_tier);
    const Path offloaded = walk_on_offloaded(ns, tokens, path);
    if (const uint32_t n = usable_tokens(offloaded, tokens, State::with_tier);
        n > n_matched(path, tokens)) {
        path = offloaded;
        plan.n_tokens = n;
    }
    if (plan.n_tokens <= usable_now) return {};
    const uint32_t size = options_.shape.block_tokens, last = (plan.n_tokens - 1) / size;
    for (uint32_t block_index = 0; block_index <= last; ++block_index)
        for (const bool is_full : {false, true})
            for (uint32_t g = 0; g < options_.shape.n_groups(); ++g) {
                if ((options_.shape.windows[g] == 0) != is_full) continue;
                const uint32_t first = std::min(options_.shape.first_block(g, plan.n_tokens), last);
                const uint32_t n_needed = std::min(size, plan.n_tokens - block_index * size);
                if (block_index < first || n_rows(*path[block_index], g, State::in_ram) >= n_needed)
                    continue;
                const TierRecord& tier = path[block_index]->tier;
                plan.items.push_back(
                    {path[block_index]->id, block_index, g, tier.ref, tier.n_tokens});
            }
    return plan;
}

bool NaivePrefixCache::load_back(const NaiveLoadItem& item, const NaiveRef& block) {
    Entry* entry = by_id(item.entry);
    if (!entry || entry->tier.ref != item.ref || entry->tier.n_tokens != item.n_tokens)
        return false;
    if (block_index_of(*entry) > 0 && !covering(entry->ns, above(*entry), Kind::resident))
        return false;
    if (entry->groups[item.group].n_rows >= item.n_tokens) return false;
    entry->groups[item.group] = {block, item.n_tokens};
    if (entry->is_resident) {
        touch(item.entry, 0);
        return true;
    }
    for (uint32_t g = 0; g < options_.shape.n_groups(); ++g)
        if (options_.shape.windows[g] == 0 && !entry->groups[g].ref) return true;
    Offer offer;
    for (const Share& share : entry->groups) offer.push_back(share.ref);
    clear_read(*entry);
    const TierRecord record = entry->tier;
    NaiveInsert report;
    const uint64_t resident = put(
        entry->ns, first_tokens(entry->path, begin_of(*entry) + record.n_tokens), offer, report);
    if (by_id(resident)->tier.n_tokens < record.n_tokens) by_id(resident)->tier = record;
    touch(resident, 0);
    return true;
}

void NaivePrefixCache::lose(const NaiveLoadItem& item) {
    Entry* entry = by_id(item.entry);
    if (!entry || entry->tier.ref != item.ref) return;
    entry->tier = {};
    if (!entry->is_resident) clear_read(*entry);
}

std::vector<NaiveSaveItem> NaivePrefixCache::unsaved(uint32_t ns, const NaiveTokens& tokens) const {
    std::vector<NaiveSaveItem> items;
    for (const Entry* entry : walk_resident(ns, tokens)) {
        const auto n_tokens = static_cast<uint32_t>(entry->path.size() - begin_of(*entry));
        uint32_t mask = 0;
        for (uint32_t g = 0; g < entry->groups.size(); ++g)
            mask |= uint32_t{entry->groups[g].n_rows == n_tokens} << g;
        const uint32_t saved = entry->tier.group_mask;
        const bool gains =
            entry->tier.n_tokens < n_tokens || ((mask | saved) != saved && (mask | saved) == mask);
        if (gains) items.push_back({entry->id, block_index_of(*entry), n_tokens, mask});
    }
    return items;
}

void NaivePrefixCache::note_saved(uint64_t id, TierRef ref, uint32_t group_mask,
                                  uint32_t n_tokens) {
    Entry* entry = by_id(id);
    if (!entry || n_tokens > entry->path.size() - begin_of(*entry)) return;
    const bool is_longer = n_tokens > entry->tier.n_tokens;
    const bool is_wider =
        n_tokens == entry->tier.n_tokens && (entry->tier.group_mask | group_mask) == group_mask;
    if (!is_longer && !is_wider) return;
    entry->tier = {ref, group_mask, n_tokens};
    if (!entry->is_resident) clear_read(*entry);
}

// The parent is known.
bool NaivePrefixCache::add_offloaded(uint32_t ns, const NaiveTokens& path, TierRef ref,
                                     uint32_t group_mask) {
    if (options_.n_offloaded == 0) return false;
    Entry* known = covering(ns, path, Kind::resident);
    if (!known) known = covering(ns, path, Kind::offloaded);
    if (!known) {
        known = beginning(ns, path, Kind::offloaded);
        if (known) known->path = path;
    }
    if (!known) {
        entries_.push_back({.id = next_id_++, .ns = ns, .path = path, .is_resident = false});
        known = &entries_.back();
        known->inserted = tick_ + 1;
        known->evicted_ms = now_ms_;
        clear_read(*known);
    }
    const uint64_t id = known->id;
    touch(id, 0);
    const size_t begin =
        (path.size() - 1) / options_.shape.block_tokens * options_.shape.block_tokens;
    note_saved(id, ref, group_mask, static_cast<uint32_t>(path.size() - begin));
    trim_offloaded();
    return by_id(id) != nullptr;
}

void NaivePrefixCache::drop_tier(const std::function<bool(TierRef)>& is_gone) {
    for (Entry& entry : entries_) {
        if (entry.tier.ref == kNoTier || !is_gone(entry.tier.ref)) continue;
        entry.tier = {};
        if (!entry.is_resident) clear_read(entry);
    }
}

uint32_t NaivePrefixCache::n_blocks() const {
    uint32_t n = 0;
    for (const Entry& entry : entries_)
        for (const Share& share : entry.groups) n += share.ref != nullptr;
    return n;
}

uint32_t NaivePrefixCache::n_offloaded() const {
    return static_cast<uint32_t>(
        std::ranges::count_if(entries_, [](const Entry& entry) { return !entry.is_resident; }));
}

}  // namespace kvik
