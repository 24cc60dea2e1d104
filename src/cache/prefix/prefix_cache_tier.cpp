// The prefix tree and the tier below: what is worth reading, what came back, what is to be saved.
#include <algorithm>

#include "base/check.h"
#include "cache/prefix/prefix_cache.h"

namespace kvik {

// ---- waking ----

// Either along the path that is resident, whose groups with a window may have gaps that records
// fill, or from its whole logical blocks on among those offloaded, if that leads further than it
// does.
LoadPlan PrefixCache::plan_load(const NamespaceKey& ns, std::span<const TokenId> tokens) const {
    LoadPlan plan;
    Path path = walk_resident(ns, tokens);
    const uint32_t usable_now = usable_tokens(beside(path, tokens).value_or(path), State::in_ram);
    plan.n_tokens = usable_tokens(path, State::with_tier);
    Path on_tier = walk_on_offloaded(path, tokens);
    if (const uint32_t n = usable_tokens(on_tier, State::with_tier); n > path.n_tokens) {
        path = std::move(on_tier);
        plan.n_tokens = n;
    }
    if (plan.n_tokens <= usable_now) return {};
    const uint32_t last = (plan.n_tokens - 1) / options_.block_tokens;
    for (uint32_t block_index = 0; block_index <= last; ++block_index) {
        const uint32_t node = path.nodes[block_index];
        const Node& at = nodes_[node];
        const uint32_t n_needed = std::min(options_.block_tokens, plan.n_tokens - at.begin);
        for (uint32_t i = 0; i < n_groups(); ++i) {
            const uint32_t group = (i + n_full_) % n_groups();  // full ones last
            if (block_index < std::min(first_block(windows_[group], plan.n_tokens), last)) continue;
            if (n_rows(node, group, State::in_ram) >= n_needed) continue;
            const auto end = at.tokens.begin() + at.tier.n_tokens;
            plan.items.push_back({.node = handle_of(node),
                                  .block_index = block_index,
                                  .group = group,
                                  .ref = at.tier.ref,
                                  .tokens = {at.tokens.begin(), end}});
        }
    }
    return plan;
}

bool PrefixCache::load_back(const LoadItem& item, const BlockRef& ref) {
    if (!is_alive(item.node)) return false;
    const uint32_t node = item.node.index;
    const Node& own = nodes_[node];
    const bool is_asked_for = own.tier.ref == item.ref && own.tier.n_tokens == item.tokens.size();
    if (!is_asked_for || !nodes_[own.parent].is_resident) return false;
    if (block(node, item.group).n_rows >= own.tier.n_tokens) return false;
    set_block(node, item.group, ref, own.tier.n_tokens);
    ++stats_.loaded_blocks;
    if (own.is_resident) {
        touch_path(node, Touch::published);
        return true;
    }
    if (std::ranges::find(half_loaded_, node) == half_loaded_.end()) half_loaded_.push_back(node);
    for (uint32_t g = 0; g < n_full_; ++g)
        if (!block(node, g).ref) return true;
    make_resident(node);
    return true;
}

// All full groups are there: what was read is published as if it had been computed.
void PrefixCache::make_resident(uint32_t node) {
    const TierRecord record = nodes_[node].tier;
    const uint32_t parent = nodes_[node].parent;
    std::vector<std::optional<BlockRef>> read(n_groups());
    std::array<const BlockRef*, kMostGroups> offer = {};
    for (uint32_t g = 0; g < n_groups(); ++g) {
        if (!block(node, g).ref) continue;
        read[g] = block(node, g).ref->share();
        offer[g] = &*read[g];
    }
    drop_read(node);
    const std::vector<TokenId> tokens(nodes_[node].tokens.begin(),
                                      nodes_[node].tokens.begin() + record.n_tokens);
    InsertReport report;
    const uint32_t resident = put(parent, tokens, std::span(offer).first(n_groups()), report);
    if (nodes_[resident].tier.n_tokens < record.n_tokens) set_tier(resident, record);
    touch_path(resident, Touch::published);
}

void PrefixCache::lose(const LoadItem& item) {
    if (!is_alive(item.node) || nodes_[item.node.index].tier.ref != item.ref) return;
    set_tier(item.node.index, {});
}

// ---- saving ----

// A record that would lose a group for a group is not worth writing.
bool PrefixCache::is_saved(uint32_t node) const {
    const TierRecord& tier = nodes_[node].tier;
    const uint32_t mask = group_mask(node);
    return tier.n_tokens == nodes_[node].tokens.size() &&
           ((mask & ~tier.group_mask) == 0 || (tier.group_mask & ~mask) != 0);
}

std::vector<SaveItem> PrefixCache::unsaved(const NamespaceKey& ns,
                                           std::span<const TokenId> tokens) const {
    std::vector<SaveItem> items;
    for (const uint32_t node : walk_resident(ns, tokens).nodes) {
        if (is_saved(node)) continue;
        const Node& own = nodes_[node];
        SaveItem& item = items.emplace_back();
        item.node = handle_of(node);
        if (!nodes_[own.parent].ns) item.parent = handle_of(own.parent);
        item.block_index = block_index_of(node);
        item.tokens = own.tokens;
        for (uint32_t g = 0; g < n_groups(); ++g)
            if (group_mask(node) >> g & 1) item.blocks.emplace_back(g, block(node, g).ref->share());
    }
    return items;
}

void PrefixCache::note_saved(const NodeHandle& node, TierRef ref, uint32_t group_mask,
                             uint32_t n_tokens) {
    if (!is_alive(node) || ref == kNoTier) return;
    const Node& own = nodes_[node.index];
    if (n_tokens > own.tokens.size() || n_tokens < own.tier.n_tokens) return;
    if (n_tokens == own.tier.n_tokens && (own.tier.group_mask & ~group_mask) != 0) return;
    set_tier(node.index, {ref, group_mask, n_tokens});
}

// What was read of another record is no part of this one.
void PrefixCache::set_tier(uint32_t node, const TierRecord& record) {
    leave_offloaded_leaves(node);
    nodes_[node].tier = record;
    enter_offloaded_leaves(node);
    if (!nodes_[node].is_resident) drop_read(node);
}

void PrefixCache::drop_read(uint32_t offloaded) {
    clear_blocks(offloaded, 0);
    std::erase(half_loaded_, offloaded);
}

// ---- what the tier has already ----

NodeHandle PrefixCache::add_offloaded(const NamespaceKey& ns,
                                      const std::optional<NodeHandle>& parent,
                                      std::span<const TokenId> tokens, TierRef ref,
                                      uint32_t group_mask) {
    if (options_.n_offloaded == 0 || ref == kNoTier) return {};
    if (tokens.empty() || tokens.size() > options_.block_tokens) return {};
    if (parent &&
        (!is_alive(*parent) || nodes_[parent->index].tokens.size() < options_.block_tokens))
        return {};
    const uint32_t above = parent ? parent->index : root_of(ns);
    const auto n_tokens = static_cast<uint32_t>(tokens.size());
    uint32_t node = kNone;
    if (const Match resident = match(nodes_[above].resident, tokens);
        resident.n_tokens == n_tokens) {
        node = resident.child;
    } else if (const Match offloaded = match(nodes_[above].offloaded, tokens);
               offloaded.child != kNone &&
               offloaded.n_tokens ==
                   std::min<size_t>(n_tokens, nodes_[offloaded.child].tokens.size())) {
        node = offloaded.child;
        if (n_tokens > offloaded.n_tokens) nodes_[node].tokens.assign(tokens.begin(), tokens.end());
    } else {
        node = new_node(above, tokens);
        nodes_[node].evicted_ms = now_ms_;
        join_offloaded(node);
    }
    const NodeHandle handle = handle_of(node);
    touch_path(node, Touch::published);
    note_saved(handle, ref, group_mask, n_tokens);
    trim_offloaded();
    return is_alive(handle) ? handle : NodeHandle{};
}

void PrefixCache::drop_tier(const std::function<bool(TierRef)>& is_gone) {
    for (uint32_t node = 0; node < nodes_.size(); ++node)
        if (nodes_[node].tier.ref != kNoTier && is_gone(nodes_[node].tier.ref)) set_tier(node, {});
}

}  // namespace kvik
