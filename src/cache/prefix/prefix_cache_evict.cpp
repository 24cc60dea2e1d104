// What the prefix tree releases when room is wanted, and in which order.
#include <algorithm>

#include "base/check.h"
#include "cache/prefix/prefix_cache.h"

namespace kvik {

void PrefixCache::enter_order(uint32_t at) {
    const Node& node = nodes_[at];
    if (node.ns || !node.is_resident || !node.resident.empty() || node.n_pins > 0) return;
    by_rank_.emplace(node.rank, at);
}

void PrefixCache::leave_order(uint32_t node) {
    by_rank_.erase({nodes_[node].rank, node});
}

uint32_t PrefixCache::n_unshared(uint32_t node) const {
    uint32_t n = 0;
    for (uint32_t g = 0; g < n_groups(); ++g)
        n += block(node, g).ref && !block(node, g).ref->is_shared();
    return n;
}

uint32_t PrefixCache::evict(uint32_t n_blocks) {
    uint32_t n_freed = n_blocks > 0 ? drop_half_loaded() : 0;
    if (n_freed < n_blocks) n_freed += evict_loose(n_blocks - n_freed);
    if (n_freed < n_blocks) n_freed += remove_leaves(n_blocks - n_freed, Owners::tree_alone);
    if (n_freed < n_blocks) n_freed += evict_anchored(n_blocks - n_freed);
    stats_.evicted_blocks += n_freed;
    return n_freed;
}

uint32_t PrefixCache::release_shared(uint32_t n_leaves) {
    const uint32_t n_removed = remove_leaves(n_leaves, Owners::others_too);
    stats_.released_leaves += n_removed;
    return n_removed;
}

// Blocks were read for a node, but not all of its full groups, and nobody goes on reading: nothing
// can use them.
uint32_t PrefixCache::drop_half_loaded() {
    uint32_t n_freed = 0;
    std::erase_if(half_loaded_, [&](uint32_t node) {
        uint32_t n_held = 0;
        for (uint32_t g = 0; g < n_groups(); ++g) n_held += block(node, g).ref.has_value();
        if (n_unshared(node) < n_held) return false;
        n_freed += n_held;
        clear_blocks(node, 0);
        return true;
    });
    return n_freed;
}

// The least recently used first, of one path the first logical block first: a window needs its end.
uint32_t PrefixCache::evict_loose(uint32_t n_blocks) {
    std::vector<uint32_t> passed_over;
    uint32_t n_freed = 0;
    while (n_freed < n_blocks && !loose_.empty()) {
        const auto [since, begin, node] = *loose_.begin();
        leave_loose(node);
        if (nodes_[node].last_use > since) {  // used since it was filed
            enter_loose(node);
            continue;
        }
        uint32_t n_own = 0;
        bool is_shared = false;
        for (uint32_t g = n_full_; g < n_groups(); ++g) {
            n_own += block(node, g).ref.has_value();
            is_shared |= block(node, g).ref && block(node, g).ref->is_shared();
        }
        if (is_shared) {
            passed_over.push_back(node);
            continue;
        }
        clear_blocks(node, n_full_);
        n_freed += n_own;
    }
    for (const uint32_t node : passed_over) enter_loose(node);
    stats_.evicted_window_blocks += n_freed;
    return n_freed;
}

// Live sequences own all leaves, but perhaps not the windows of resume points before. Those go, the
// least recently used first, of one path the first: whoever goes back that far computes more again.
uint32_t PrefixCache::evict_anchored(uint32_t n_blocks) {
    if (most_window_ == 0) return 0;
    std::vector<Loose> points;
    for (uint32_t at = 0; at < nodes_.size(); ++at)
        if (nodes_[at].resume_rows > 0 && nodes_[at].n_pins == 0)
            points.emplace_back(nodes_[at].last_use, nodes_[at].begin, at);
    std::ranges::sort(points);
    uint32_t n_freed = 0;
    for (const auto& [last_use, begin, node] : points) {
        if (n_freed >= n_blocks) break;
        drop_resume_points(node);
        n_freed += evict_loose(n_blocks - n_freed);
    }
    return n_freed;
}

// Who else owns a block changes behind the tree's back, so it is asked when a leaf's turn comes. Of
// leaves that the tree owns alone the blocks count, of others the leaves.
uint32_t PrefixCache::remove_leaves(uint32_t n_most, Owners owners) {
    std::vector<std::set<Ranked>::node_type> passed_over;
    uint32_t n_removed = 0;
    while (n_removed < n_most && !by_rank_.empty()) {
        auto next = by_rank_.extract(by_rank_.begin());
        const uint32_t leaf = next.value().second;
        if (block(leaf, 0).ref->is_shared() != (owners == Owners::others_too)) {
            passed_over.push_back(std::move(next));
            continue;
        }
        clock_ = std::max(clock_, next.value().first.value);
        n_removed += owners == Owners::others_too ? 1 : n_unshared(leaf);
        offload(leaf);  // its parent may be next
    }
    for (auto& leaf : passed_over) by_rank_.insert(std::move(leaf));
    return n_removed;
}

// ---- forgetting ----

// The nodes that forget concerns, the last first: wholly matched, and so are all their children.
std::vector<uint32_t> PrefixCache::path_end(const NamespaceKey& ns, std::span<const TokenId> tokens,
                                            uint32_t from) const {
    std::vector<uint32_t> doomed;
    const Path resident = walk_resident(ns, tokens);
    const Path path = walk_on_offloaded(resident, tokens);
    size_t n_below = 0;  // doomed at the logical block after
    for (size_t block_index = std::max(resident.nodes.size(), path.nodes.size());
         block_index-- > 0;) {
        size_t n_here = 0;
        const auto consider = [&](uint32_t at, size_t n_children_doomed) {
            const Node& node = nodes_[at];
            const auto rest = tokens.subspan(std::min<size_t>(node.begin, tokens.size()));
            if (node.begin < from || node.n_pins > 0 || rest.size() < node.tokens.size() ||
                node.resident.size() + node.offloaded.size() != n_children_doomed ||
                !std::equal(node.tokens.begin(), node.tokens.end(), rest.begin()))
                return;
            doomed.push_back(at);
            ++n_here;
        };
        if (block_index < path.nodes.size()) consider(path.nodes[block_index], n_below);
        // A tail that is resident beside what goes on offloaded.
        const bool is_other = block_index < resident.nodes.size() &&
                              (block_index >= path.nodes.size() ||
                               resident.nodes[block_index] != path.nodes[block_index]);
        if (is_other) consider(resident.nodes[block_index], 0);
        n_below = n_here;
    }
    return doomed;
}

void PrefixCache::forget(const NamespaceKey& ns, std::span<const TokenId> tokens, uint32_t from,
                         ForgetKind kind) {
    for (const uint32_t node : path_end(ns, tokens, from)) {
        if (kind == ForgetKind::now) {
            for (uint32_t g = 0; g < n_groups(); ++g)
                stats_.forgotten_blocks += block(node, g).ref.has_value();
            remove(node);
        } else if (nodes_[node].is_resident) {
            leave_order(node);
            nodes_[node].rank.is_fresh = false;
            enter_order(node);
        }
    }
}

}  // namespace kvik
