#include "cache/prefix/prefix_writer.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace kvik {

// ---- publishing ----

InsertReport PrefixWriter::insert(const NamespaceKey& ns, std::span<const TokenId> tokens,
                                  std::span<const GroupBlocks> groups, InsertKind kind) {
    InsertReport report;
    if (tokens.empty()) return report;
    const uint32_t block_tokens = nodes_.index.block_tokens();
    const uint32_t n_groups = nodes_.residency.n_groups();
    KVIK_CHECK(groups.size() == n_groups, "blocks are of this model's groups");
    std::array<const BlockRef*, kMaxKvGroups> offer = {};
    uint32_t node = nodes_.root_of(ns);
    for (uint32_t i = 0; uint64_t{i} * block_tokens < tokens.size(); ++i) {
        std::span<const TokenId> rest = tokens.subspan(uint64_t{i} * block_tokens);
        rest = rest.first(std::min<size_t>(rest.size(), block_tokens));
        for (uint32_t g = 0; g < n_groups; ++g) {
            const auto [first, refs] = groups[g];
            offer[g] = i >= first && i - first < refs.size() ? &refs[i - first] : nullptr;
            KVIK_CHECK(offer[g] || g >= nodes_.residency.n_full(),
                       "published tokens have their KV in blocks");
        }
        node = put(node, rest, std::span(offer).first(n_groups), report);
    }
    nodes_.counters.inserted_blocks += report.n_new;
    nodes_.counters.duplicate_blocks += report.n_duplicates;
    nodes_.touch_path(node, PathUse::published);
    if (kind == InsertKind::boundary)
        nodes_.points.add(node, static_cast<uint32_t>(tokens.size()) - nodes_.index[node].begin);
    return report;
}

// Publishes the tokens of one block: they are cached already, or go on from a shorter tail, or are
// new. Returns their node.
uint32_t PrefixWriter::put(uint32_t parent, std::span<const TokenId> tokens, Offer offer,
                           InsertReport& report) {
    const PrefixIndex::Match nearest = nodes_.index.match(parent, ChildList::resident, tokens);
    const uint32_t child = nearest.child;
    const auto n_tokens = static_cast<uint32_t>(tokens.size());
    if (nearest.n_tokens == n_tokens) {
        for (uint32_t g = 0; g < offer.size(); ++g) {
            const auto& own = nodes_.residency.block(child, g);
            report.n_duplicates += n_tokens == nodes_.index.block_tokens() && offer[g] &&
                                   own.n_rows == n_tokens && own.ref->id() != offer[g]->id();
        }
        if (n_tokens == nodes_.index[child].n_tokens()) offer_windows(child, offer, report);
        return child;
    }
    if (child != kNoNode && nearest.n_tokens == nodes_.index[child].n_tokens()) {
        extend(child, tokens, offer, report);
        return child;
    }
    const uint32_t node = add_resident(parent, tokens, offer, report);
    mark_branch(parent, nearest, node);
    mark_distance(node);
    return node;
}

// Gives a tail more tokens. The longer fill's blocks hold the shorter's tokens too, with the same
// bits, so that they have one node; an offloaded node with these tokens is merged into it.
void PrefixWriter::extend(uint32_t node, std::span<const TokenId> tokens, Offer offer,
                          InsertReport& report) {
    const PrefixIndex::Match known =
        nodes_.index.match(nodes_.index[node].parent, ChildList::offloaded, tokens);
    const auto n_tokens = static_cast<uint32_t>(tokens.size());
    nodes_.counters.cached_tokens += n_tokens - nodes_.index[node].n_tokens();
    nodes_.index.set_tokens(node, tokens);
    if (known.child != kNoNode && known.n_tokens == nodes_.index[known.child].n_tokens()) {
        nodes_.unlink_offloaded(known.child);
        nodes_.merge(node, known.child);
        nodes_.free_unlinked(known.child);
    }
    for (uint32_t g = 0; g < offer.size(); ++g) {
        const auto& own = nodes_.residency.block(node, g);
        if (offer[g]) {
            nodes_.set_block(node, g, *offer[g], n_tokens);
            ++report.n_new;
            ++nodes_.counters.replaced_blocks;
        } else if (own.ref && own.ref->is_shared()) {
            nodes_.clear_block(node, g);  // its other owner may go on elsewhere and publish that
        }
    }
    mark_distance(node);
}

// An offloaded node whose tokens are these, or begin them, becomes resident with its history.
uint32_t PrefixWriter::add_resident(uint32_t parent, std::span<const TokenId> tokens, Offer offer,
                                    InsertReport& report) {
    const PrefixIndex::Match known = nodes_.index.match(parent, ChildList::offloaded, tokens);
    uint32_t node = known.child;
    if (node != kNoNode && known.n_tokens == nodes_.index[node].n_tokens()) {
        nodes_.unlink_offloaded(node);
        nodes_.index.set_tokens(node, tokens);
        nodes_.order.start(node);
        nodes_.order.count_use(node);
    } else {
        node = nodes_.add_node(parent, tokens);
    }
    nodes_.link_resident(node);
    for (uint32_t g = 0; g < offer.size(); ++g) {
        if (!offer[g]) continue;
        nodes_.set_block(node, g, *offer[g], static_cast<uint32_t>(tokens.size()));
        ++report.n_new;
    }
    return node;
}

// Gives a node the blocks of windows that it lacks. Only tokens that end where the node does are
// offered: the block of a sequence that goes on will belong to another node.
void PrefixWriter::offer_windows(uint32_t node, Offer offer, InsertReport& report) {
    const uint32_t n_tokens = nodes_.index[node].n_tokens();
    for (uint32_t g = nodes_.residency.n_full(); g < offer.size(); ++g) {
        if (!offer[g] || nodes_.residency.block(node, g).n_rows >= n_tokens) continue;
        nodes_.set_block(node, g, *offer[g], n_tokens);
        ++report.n_new;
    }
}

// Sets resume points where paths part: inside a block, in both of its nodes; else at the end of the
// block before.
void PrefixWriter::mark_branch(uint32_t parent, const PrefixIndex::Match& nearest, uint32_t node) {
    if (nearest.n_tokens > 0) {
        nodes_.points.add(nearest.child, nearest.n_tokens);
        nodes_.points.add(node, nearest.n_tokens);
    } else if (nodes_.index[parent].resident.size() > 1) {
        nodes_.points.add(parent, nodes_.index.block_tokens());
    }
}

// Sets a resume point at the last multiple of resume_every in a node.
void PrefixWriter::mark_distance(uint32_t node) {
    const uint32_t every = nodes_.options.resume_every;
    if (every == 0) return;
    const uint32_t point = nodes_.index[node].end() / every * every;
    if (point > nodes_.index[node].begin) nodes_.points.add(node, point - nodes_.index[node].begin);
}

// ---- loading back ----

bool PrefixWriter::load_back(const LoadItem& item, const BlockRef& ref) {
    if (!nodes_.index.is_alive(item.node)) return false;
    const uint32_t node = item.node.index;
    const TierRecord record = nodes_.residency.record(node);
    if (record.ref != item.ref || record.n_tokens != item.tokens.size()) return false;
    if (!nodes_.index[nodes_.index[node].parent].is_resident) return false;
    if (nodes_.residency.block(node, item.group).n_rows >= record.n_tokens) return false;
    nodes_.set_block(node, item.group, ref, record.n_tokens);
    ++nodes_.counters.loaded_blocks;
    if (nodes_.index[node].is_resident) {
        nodes_.touch_path(node, PathUse::published);
        return true;
    }
    nodes_.residency.note_partly_loaded(node);
    for (uint32_t g = 0; g < nodes_.residency.n_full(); ++g)
        if (!nodes_.residency.block(node, g).ref) return true;
    make_resident(node);
    return true;
}

// Publishes the blocks that were loaded for an offloaded node, now that it has all full groups, as
// if they had been computed.
void PrefixWriter::make_resident(uint32_t node) {
    const TierRecord record = nodes_.residency.record(node);
    const uint32_t parent = nodes_.index[node].parent;
    const uint32_t n_groups = nodes_.residency.n_groups();
    std::vector<std::optional<BlockRef>> loaded(n_groups);
    std::array<const BlockRef*, kMaxKvGroups> offer = {};
    for (uint32_t g = 0; g < n_groups; ++g) {
        const auto& own = nodes_.residency.block(node, g);
        if (!own.ref) continue;
        loaded[g] = own.ref->share();
        offer[g] = &*loaded[g];
    }
    nodes_.drop_loaded(node);
    const auto begin = nodes_.index[node].tokens.begin();
    const std::vector<TokenId> tokens(begin, begin + record.n_tokens);
    InsertReport report;
    const uint32_t resident = put(parent, tokens, std::span(offer).first(n_groups), report);
    if (nodes_.residency.record(resident).n_tokens < record.n_tokens)
        nodes_.set_record(resident, record);
    nodes_.touch_path(resident, PathUse::published);
}

void PrefixWriter::lose(const LoadItem& item) {
    if (!nodes_.index.is_alive(item.node)) return;
    if (nodes_.residency.record(item.node.index).ref != item.ref) return;
    nodes_.set_record(item.node.index, {});
}

// ---- saving ----

// A record that would gain one group and lose another is not worth writing.
bool PrefixWriter::is_saved(uint32_t node) const {
    const TierRecord& record = nodes_.residency.record(node);
    const uint32_t n_tokens = nodes_.index[node].n_tokens();
    const uint32_t mask = nodes_.residency.group_mask(node, n_tokens);
    return record.n_tokens == n_tokens &&
           ((mask & ~record.group_mask) == 0 || (record.group_mask & ~mask) != 0);
}

std::vector<SaveItem> PrefixWriter::unsaved(const NamespaceKey& ns,
                                            std::span<const TokenId> tokens) {
    std::vector<SaveItem> items;
    for (const uint32_t node : nodes_.index.walk_resident(ns, tokens).nodes) {
        if (is_saved(node)) continue;
        const PrefixNode& own = nodes_.index[node];
        SaveItem& item = items.emplace_back();
        item.node = nodes_.index.handle(node);
        item.block_index = nodes_.index.block_index(node);
        item.hash = nodes_.index.block_hash(ns, node);
        item.parent_hash = nodes_.index.block_hash(ns, own.parent);
        item.tokens = own.tokens;
        const uint32_t mask = nodes_.residency.group_mask(node, own.n_tokens());
        for (uint32_t g = 0; g < nodes_.residency.n_groups(); ++g)
            if (mask >> g & 1)
                item.blocks.emplace_back(g, nodes_.residency.block(node, g).ref->share());
    }
    return items;
}

void PrefixWriter::note_saved(const NodeHandle& node, const TierRecord& record) {
    if (!nodes_.index.is_alive(node) || record.ref == kNoTier) return;
    const TierRecord& own = nodes_.residency.record(node.index);
    if (record.n_tokens > nodes_.index[node.index].n_tokens()) return;
    if (record.n_tokens < own.n_tokens) return;
    if (record.n_tokens == own.n_tokens && (own.group_mask & ~record.group_mask) != 0) return;
    nodes_.set_record(node.index, record);
}

// ---- what the tier has already ----

uint32_t PrefixWriter::find_or_add_offloaded(uint32_t parent, std::span<const TokenId> tokens) {
    const auto resident = nodes_.index.match(parent, ChildList::resident, tokens);
    if (resident.n_tokens == tokens.size()) return resident.child;
    const auto known = nodes_.index.match(parent, ChildList::offloaded, tokens);
    if (known.child != kNoNode &&
        known.n_tokens == std::min<size_t>(tokens.size(), nodes_.index[known.child].n_tokens())) {
        if (tokens.size() > known.n_tokens) nodes_.index.set_tokens(known.child, tokens);
        return known.child;
    }
    const uint32_t node = nodes_.add_node(parent, tokens);
    nodes_.order.set_evicted(node, nodes_.now_ms);
    nodes_.link_offloaded(node);
    return node;
}

NodeHandle PrefixWriter::add_offloaded(const NamespaceKey& ns,
                                       const std::optional<NodeHandle>& parent,
                                       std::span<const TokenId> tokens, const TierRecord& record) {
    const uint32_t block_tokens = nodes_.index.block_tokens();
    if (nodes_.options.n_offloaded == 0 || record.ref == kNoTier) return {};
    if (tokens.empty() || tokens.size() > block_tokens) return {};
    if (parent &&
        (!nodes_.index.is_alive(*parent) || nodes_.index[parent->index].n_tokens() < block_tokens))
        return {};
    const uint32_t above = parent ? parent->index : nodes_.root_of(ns);
    const uint32_t node = find_or_add_offloaded(above, tokens);
    const NodeHandle handle = nodes_.index.handle(node);
    nodes_.touch_path(node, PathUse::published);
    note_saved(handle, record);
    nodes_.trim_offloaded();
    return nodes_.index.is_alive(handle) ? handle : NodeHandle{};
}

void PrefixWriter::drop_tier(const std::function<bool(TierRef)>& is_gone) {
    for (uint32_t node = 0; node < nodes_.index.n_slots(); ++node)
        if (nodes_.residency.has_record(node) && is_gone(nodes_.residency.record(node).ref))
            nodes_.set_record(node, {});
}

}  // namespace kvik
