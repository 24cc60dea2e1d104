#include "cache/prefix/prefix_evictor.h"

#include <vector>

namespace kvik {

uint32_t PrefixEvictor::evict(uint32_t n_blocks) {
    uint32_t n_freed = n_blocks > 0 ? drop_partly_loaded() : 0;
    if (n_freed < n_blocks) n_freed += evict_loose(n_blocks - n_freed);
    if (n_freed < n_blocks) n_freed += evict_leaves(n_blocks - n_freed, Owners::cache_alone);
    if (n_freed < n_blocks) n_freed += evict_anchored(n_blocks - n_freed);
    nodes_.counters.evicted_blocks += n_freed;
    return n_freed;
}

uint32_t PrefixEvictor::release_shared(uint32_t n_leaves) {
    const uint32_t n_released = evict_leaves(n_leaves, Owners::others_too);
    nodes_.counters.released_leaves += n_released;
    return n_released;
}

// Frees blocks that were loaded for a node that lacks a full group, when nobody holds them any
// more: nobody goes on loading, and nothing can use them.
uint32_t PrefixEvictor::drop_partly_loaded() {
    uint32_t n_freed = 0;
    const std::vector<uint32_t> nodes = nodes_.residency.partly_loaded();
    for (const uint32_t node : nodes) {
        const uint32_t n_blocks = nodes_.residency.n_blocks_of(node);
        if (nodes_.residency.n_unshared_of(node) < n_blocks) continue;
        n_freed += n_blocks;
        nodes_.drop_loaded(node);
    }
    return n_freed;
}

uint32_t PrefixEvictor::evict_loose(uint32_t n_blocks) {
    std::vector<uint32_t> passed_over;
    uint32_t n_freed = 0;
    while (n_freed < n_blocks) {
        const std::optional<uint32_t> node = nodes_.points.next_loose();
        if (!node) break;
        if (nodes_.residency.shares_window_block(*node)) {
            passed_over.push_back(*node);
            continue;
        }
        const uint32_t n_before = nodes_.residency.n_blocks();
        nodes_.clear_blocks(*node, nodes_.residency.n_full());
        n_freed += n_before - nodes_.residency.n_blocks();
    }
    for (const uint32_t node : passed_over) nodes_.points.update(node);
    nodes_.counters.evicted_window_blocks += n_freed;
    return n_freed;
}

// Live sequences own all leaves, but perhaps not the windows of resume points before them. Resume
// points are dropped, the least recently used first and of one path the first: a sequence that goes
// back that far has most to compute again, and is the least likely.
uint32_t PrefixEvictor::evict_anchored(uint32_t n_blocks) {
    std::vector<uint32_t> passed_over;
    uint32_t n_freed = 0;
    while (n_freed < n_blocks) {
        const std::optional<uint32_t> node = nodes_.points.next_point();
        if (!node) break;
        if (nodes_.pins.is_pinned(*node)) {
            passed_over.push_back(*node);
            continue;
        }
        nodes_.points.drop(*node);
        n_freed += evict_loose(n_blocks - n_freed);
    }
    for (const uint32_t node : passed_over) nodes_.points.update(node);
    return n_freed;
}

// Of leaves that the cache owns alone the blocks are counted, of those that sequences own too the
// leaves.
uint32_t PrefixEvictor::evict_leaves(uint32_t n_most, Owners owners) {
    std::vector<uint32_t> passed_over;
    uint32_t n_evicted = 0;
    while (n_evicted < n_most) {
        const std::optional<uint32_t> leaf = nodes_.order.next_victim();
        if (!leaf) break;
        const bool is_shared = nodes_.residency.block(*leaf, 0).ref->is_shared();
        if (is_shared != (owners == Owners::others_too)) {
            passed_over.push_back(*leaf);
            continue;
        }
        nodes_.order.note_evicted(*leaf);
        n_evicted += owners == Owners::others_too ? 1 : nodes_.residency.n_unshared_of(*leaf);
        nodes_.offload(*leaf);  // its parent may be next
    }
    for (const uint32_t leaf : passed_over) nodes_.update_order(leaf);
    return n_evicted;
}

}  // namespace kvik
