// Publishing into the prefix tree: where tokens come to stand, and which blocks they keep.
#include <algorithm>

#include "base/check.h"
#include "cache/prefix/prefix_cache.h"

namespace kvik {

InsertReport PrefixCache::insert(const NamespaceKey& ns, std::span<const TokenId> tokens,
                                 std::span<const GroupBlocks> groups, InsertKind kind) {
    InsertReport report;
    if (tokens.empty()) return report;
    KVIK_CHECK(groups.size() == n_groups(), "blocks are of this model's groups");
    std::array<const BlockRef*, kMostGroups> offer = {};
    uint32_t node = root_of(ns);
    for (uint32_t block_index = 0; uint64_t{block_index} * options_.block_tokens < tokens.size();
         ++block_index) {
        std::span<const TokenId> rest =
            tokens.subspan(uint64_t{block_index} * options_.block_tokens);
        rest = rest.first(std::min<size_t>(rest.size(), options_.block_tokens));
        for (uint32_t g = 0; g < n_groups(); ++g) {
            const auto [first, refs] = groups[g];
            offer[g] = block_index >= first && block_index - first < refs.size()
                           ? &refs[block_index - first]
                           : nullptr;
            KVIK_CHECK(offer[g] || g >= n_full_, "published tokens have their KV in blocks");
        }
        node = put(node, rest, std::span(offer).first(n_groups()), report);
    }
    stats_.inserted_blocks += report.n_new;
    stats_.duplicate_blocks += report.n_duplicates;
    touch_path(node, Touch::published);
    if (kind == InsertKind::boundary)
        add_resume_point(node, static_cast<uint32_t>(tokens.size()) - nodes_[node].begin);
    return report;
}

// One logical block: its tokens are cached, or go on from a shorter tail, or are new.
uint32_t PrefixCache::put(uint32_t parent, std::span<const TokenId> tokens, Offer offer,
                          InsertReport& report) {
    const Match nearest = match(nodes_[parent].resident, tokens);
    const uint32_t child = nearest.child;
    const auto n_tokens = static_cast<uint32_t>(tokens.size());
    if (nearest.n_tokens == n_tokens) {
        for (uint32_t g = 0; g < n_groups(); ++g)
            report.n_duplicates += n_tokens == options_.block_tokens && offer[g] &&
                                   block(child, g).n_rows == n_tokens &&
                                   block(child, g).ref->id() != offer[g]->id();
        if (n_tokens == nodes_[child].tokens.size()) offer_windows(child, offer, report);
        return child;
    }
    if (child != kNone && nearest.n_tokens == nodes_[child].tokens.size()) {
        extend(child, tokens, offer, report);
        return child;
    }
    const uint32_t node = add_resident(parent, tokens, offer, report);
    mark_branch(parent, nearest, node);
    mark_distance(node);
    return node;
}

// The longer fill's blocks hold the shorter's tokens too, with the same bits: a tail has one node.
// A offloaded with these tokens is that node too.
void PrefixCache::extend(uint32_t node, std::span<const TokenId> tokens, Offer offer,
                         InsertReport& report) {
    const Match offloaded = match(nodes_[nodes_[node].parent].offloaded, tokens);
    stats_.cached_tokens += tokens.size() - nodes_[node].tokens.size();
    nodes_[node].tokens.assign(tokens.begin(), tokens.end());
    if (offloaded.child != kNone && offloaded.n_tokens == nodes_[offloaded.child].tokens.size()) {
        leave_offloaded(offloaded.child);
        absorb(node, offloaded.child);
        free_node(offloaded.child);
    }
    for (uint32_t g = 0; g < n_groups(); ++g) {
        if (offer[g]) {
            set_block(node, g, *offer[g], static_cast<uint32_t>(tokens.size()));
            ++report.n_new;
            ++stats_.replaced_blocks;
        } else if (block(node, g).ref && block(node, g).ref->is_shared()) {
            clear_block(node, g);  // whoever has it too may go on elsewhere and publish that
        }
    }
    mark_distance(node);
}

// An offloaded node whose tokens are these, or begin them, becomes resident with its history.
uint32_t PrefixCache::add_resident(uint32_t parent, std::span<const TokenId> tokens, Offer offer,
                                   InsertReport& report) {
    const Match offloaded = match(nodes_[parent].offloaded, tokens);
    uint32_t node = offloaded.child;
    if (node != kNone && offloaded.n_tokens == nodes_[node].tokens.size()) {
        leave_offloaded(node);
        nodes_[node].tokens.assign(tokens.begin(), tokens.end());
        nodes_[node].inserted = tick_ + 1;
        ++nodes_[node].n_uses;
    } else {
        node = new_node(parent, tokens);
    }
    join_resident(node);
    for (uint32_t g = 0; g < n_groups(); ++g) {
        if (!offer[g]) continue;
        set_block(node, g, *offer[g], static_cast<uint32_t>(tokens.size()));
        ++report.n_new;
    }
    return node;
}

// Only from a logical block that ends where the node does: the block of one that goes on will
// belong to another node.
void PrefixCache::offer_windows(uint32_t node, Offer offer, InsertReport& report) {
    const auto n_tokens = static_cast<uint32_t>(nodes_[node].tokens.size());
    for (uint32_t g = n_full_; g < n_groups(); ++g) {
        if (!offer[g] || block(node, g).n_rows >= n_tokens) continue;
        set_block(node, g, *offer[g], n_tokens);
        ++report.n_new;
    }
}

// ---- blocks ----

void PrefixCache::set_block(uint32_t node, uint32_t group, const BlockRef& ref, uint32_t n_rows) {
    NodeBlock& own = block(node, group);
    stats_.cached_blocks += !own.ref;
    own.ref = ref.share();
    own.n_rows = n_rows;
    if (group >= n_full_) enter_loose(node);
}

void PrefixCache::clear_block(uint32_t node, uint32_t group) {
    stats_.cached_blocks -= block(node, group).ref.has_value();
    leave_loose(node);
    block(node, group) = {};
    enter_loose(node);
}

void PrefixCache::clear_blocks(uint32_t node, uint32_t first_group) {
    for (uint32_t g = first_group; g < n_groups(); ++g) clear_block(node, g);
}

uint32_t PrefixCache::group_mask(uint32_t node) const {
    uint32_t mask = 0;
    for (uint32_t g = 0; g < n_groups(); ++g)
        mask |= uint32_t{block(node, g).n_rows == nodes_[node].tokens.size()} << g;
    return mask;
}

}  // namespace kvik
