// The prefix tree and the tier below: what is worth reading, what came back, what is to be saved.
#include <algorithm>

#include "base/check.h"
#include "cache/prefix_tree.h"

namespace kvik {

// ---- waking ----

// Either along the path that is awake, whose groups with a window may have gaps that records fill,
// or from its whole places on among those asleep, if that leads further than it does.
WakePlan PrefixTree::plan_wake(const NamespaceKey& ns, std::span<const TokenId> tokens) const {
    WakePlan plan;
    Path path = walk_awake(ns, tokens);
    const uint32_t usable_now = usable_tokens(beside(path, tokens).value_or(path), State::in_ram);
    plan.n_tokens = usable_tokens(path, State::with_tier);
    Path on_tier = walk_on_asleep(path, tokens);
    if (const uint32_t n = usable_tokens(on_tier, State::with_tier); n > path.n_tokens) {
        path = std::move(on_tier);
        plan.n_tokens = n;
    }
    if (plan.n_tokens <= usable_now) return {};
    const uint32_t last = (plan.n_tokens - 1) / options_.block_tokens;
    for (uint32_t place = 0; place <= last; ++place) {
        const uint32_t node = path.nodes[place];
        const Node& at = nodes_[node];
        const uint32_t n_needed = std::min(options_.block_tokens, plan.n_tokens - at.begin);
        for (uint32_t i = 0; i < n_groups(); ++i) {
            const uint32_t group = (i + n_full_) % n_groups();  // full ones last
            if (place < std::min(first_place(windows_[group], plan.n_tokens), last)) continue;
            if (n_rows(node, group, State::in_ram) >= n_needed) continue;
            const auto end = at.tokens.begin() + at.tier.n_tokens;
            plan.items.push_back({.node = handle_of(node),
                                  .place = place,
                                  .group = group,
                                  .ref = at.tier.ref,
                                  .tokens = {at.tokens.begin(), end}});
        }
    }
    return plan;
}

bool PrefixTree::wake(const WakeItem& item, const BlockRef& ref) {
    if (!is_alive(item.node)) return false;
    const uint32_t node = item.node.index;
    const Node& own = nodes_[node];
    const bool is_asked_for = own.tier.ref == item.ref && own.tier.n_tokens == item.tokens.size();
    if (!is_asked_for || !nodes_[own.parent].is_awake) return false;
    if (block(node, item.group).n_rows >= own.tier.n_tokens) return false;
    set_block(node, item.group, ref, own.tier.n_tokens);
    ++stats_.woken_blocks;
    if (own.is_awake) {
        touch_path(node, Touch::published);
        return true;
    }
    if (std::ranges::find(half_awake_, node) == half_awake_.end()) half_awake_.push_back(node);
    for (uint32_t g = 0; g < n_full_; ++g)
        if (!block(node, g).ref) return true;
    awaken(node);
    return true;
}

// All full groups are there: what was read is published as if it had been computed.
void PrefixTree::awaken(uint32_t node) {
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
    const uint32_t awake = put(parent, tokens, std::span(offer).first(n_groups()), report);
    if (nodes_[awake].tier.n_tokens < record.n_tokens) set_tier(awake, record);
    touch_path(awake, Touch::published);
}

void PrefixTree::lose(const WakeItem& item) {
    if (!is_alive(item.node) || nodes_[item.node.index].tier.ref != item.ref) return;
    set_tier(item.node.index, {});
}

// ---- saving ----

// A record that would lose a group for a group is not worth writing.
bool PrefixTree::is_saved(uint32_t node) const {
    const TierRecord& tier = nodes_[node].tier;
    const uint32_t mask = group_mask(node);
    return tier.n_tokens == nodes_[node].tokens.size() &&
           ((mask & ~tier.group_mask) == 0 || (tier.group_mask & ~mask) != 0);
}

std::vector<SaveItem> PrefixTree::unsaved(const NamespaceKey& ns,
                                          std::span<const TokenId> tokens) const {
    std::vector<SaveItem> items;
    for (const uint32_t node : walk_awake(ns, tokens).nodes) {
        if (is_saved(node)) continue;
        const Node& own = nodes_[node];
        SaveItem& item = items.emplace_back();
        item.node = handle_of(node);
        if (!nodes_[own.parent].ns) item.parent = handle_of(own.parent);
        item.place = place_of(node);
        item.tokens = own.tokens;
        for (uint32_t g = 0; g < n_groups(); ++g)
            if (group_mask(node) >> g & 1) item.blocks.emplace_back(g, block(node, g).ref->share());
    }
    return items;
}

void PrefixTree::note_saved(const NodeHandle& node, TierRef ref, uint32_t group_mask,
                            uint32_t n_tokens) {
    if (!is_alive(node) || ref == kNoTier) return;
    const Node& own = nodes_[node.index];
    if (n_tokens > own.tokens.size() || n_tokens < own.tier.n_tokens) return;
    if (n_tokens == own.tier.n_tokens && (own.tier.group_mask & ~group_mask) != 0) return;
    set_tier(node.index, {ref, group_mask, n_tokens});
}

// What was read of another record is no part of this one.
void PrefixTree::set_tier(uint32_t node, const TierRecord& record) {
    leave_sleepers(node);
    nodes_[node].tier = record;
    enter_sleepers(node);
    if (!nodes_[node].is_awake) drop_read(node);
}

void PrefixTree::drop_read(uint32_t sleeper) {
    clear_blocks(sleeper, 0);
    std::erase(half_awake_, sleeper);
}

// ---- what the tier has already ----

NodeHandle PrefixTree::add_sleeping(const NamespaceKey& ns, const std::optional<NodeHandle>& parent,
                                    std::span<const TokenId> tokens, TierRef ref,
                                    uint32_t group_mask) {
    if (options_.n_sleeping == 0 || ref == kNoTier) return {};
    if (tokens.empty() || tokens.size() > options_.block_tokens) return {};
    if (parent &&
        (!is_alive(*parent) || nodes_[parent->index].tokens.size() < options_.block_tokens))
        return {};
    const uint32_t above = parent ? parent->index : root_of(ns);
    const auto n_tokens = static_cast<uint32_t>(tokens.size());
    uint32_t node = kNone;
    if (const Match awake = match(nodes_[above].awake, tokens); awake.n_tokens == n_tokens) {
        node = awake.child;
    } else if (const Match asleep = match(nodes_[above].asleep, tokens);
               asleep.child != kNone &&
               asleep.n_tokens == std::min<size_t>(n_tokens, nodes_[asleep.child].tokens.size())) {
        node = asleep.child;
        if (n_tokens > asleep.n_tokens) nodes_[node].tokens.assign(tokens.begin(), tokens.end());
    } else {
        node = new_node(above, tokens);
        nodes_[node].evicted_ms = now_ms_;
        join_asleep(node);
    }
    const NodeHandle handle = handle_of(node);
    touch_path(node, Touch::published);
    note_saved(handle, ref, group_mask, n_tokens);
    trim_sleepers();
    return is_alive(handle) ? handle : NodeHandle{};
}

void PrefixTree::drop_tier(const std::function<bool(TierRef)>& is_gone) {
    for (uint32_t node = 0; node < nodes_.size(); ++node)
        if (nodes_[node].tier.ref != kNoTier && is_gone(nodes_[node].tier.ref)) set_tier(node, {});
}

}  // namespace kvik
