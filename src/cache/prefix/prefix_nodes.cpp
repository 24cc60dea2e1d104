#include "cache/prefix/prefix_nodes.h"

#include <algorithm>

#include "base/check.h"

namespace kvik {

// A root lives only while it has a child. One node more is there while an offloaded one goes.
static uint64_t max_nodes(const PrefixCacheOptions& options) {
    return 2 * (uint64_t{options.n_blocks} + options.n_offloaded) + 2;
}

PrefixNodes::PrefixNodes(const PrefixCacheOptions& wanted)
    : options(wanted),
      index(options.block_tokens, max_nodes(options)),
      residency(options.groups.get(), options.block_tokens, max_nodes(options)),
      order(options.policy, options.recompute_ms, max_nodes(options)),
      points(index, residency, order, max_nodes(options)),
      pins(index, residency,
           {.n_blocks = options.n_blocks, .timed_percent = options.pinned_percent},
           max_nodes(options)),
      logits(options.logits_bytes) {}

// ---- nodes ----

bool PrefixNodes::is_resident(const NodeHandle& handle) const {
    return index.is_alive(handle) && index[handle.index].is_resident;
}

// Every part has room for the numbers that the index gives out.
void PrefixNodes::add_slots() {
    residency.add_slots(index.n_slots());
    order.add_slots(index.n_slots());
    points.add_slots(index.n_slots());
    pins.add_slots(index.n_slots());
}

uint32_t PrefixNodes::root_of(const NamespaceKey& ns) {
    const uint32_t root = index.root_of(ns);
    add_slots();
    return root;
}

uint32_t PrefixNodes::add_node(uint32_t parent, std::span<const TokenId> tokens) {
    const uint32_t node = index.add_node(parent, tokens);
    add_slots();
    order.start(node);
    return node;
}

void PrefixNodes::free_unlinked(uint32_t node) {
    residency.set_record(node, {});
    order.erase(node);
    index.free_node(node);
}

void PrefixNodes::remove(uint32_t node) {
    const uint32_t parent = index[node].parent;
    if (index[node].is_resident)
        unlink_resident(node);
    else
        unlink_offloaded(node);
    free_unlinked(node);
    after_loss_of_child(parent);
}

void PrefixNodes::after_loss_of_child(uint32_t parent) {
    const PrefixNode& node = index[parent];
    if (!node.is_root())
        return node.is_resident ? update_order(parent) : add_to_offloaded_order(parent);
    if (node.n_children() == 0) order.erase(parent);
    index.free_root_if_empty(parent);
}

void PrefixNodes::touch_path(uint32_t node, PathUse use) {
    order.tick();
    remove_from_offloaded_order(node);
    for (uint32_t at = node; at != kNoNode; at = index[at].parent) {
        order.touch(at, use, index[at].begin, index[at].n_tokens());
        if (index[at].resident.empty()) update_order(at);
    }
    add_to_offloaded_order(node);
}

// ---- orders ----

// An unpinned leaf of the resident nodes may be evicted.
void PrefixNodes::update_order(uint32_t at) {
    const PrefixNode& node = index[at];
    if (node.is_resident && !node.is_root() && node.resident.empty() && !pins.is_pinned(at))
        order.add(at);
    else
        order.remove(at);
}

void PrefixNodes::add_to_offloaded_order(uint32_t at) {
    const PrefixNode& node = index[at];
    if (node.is_resident || !node.offloaded.empty()) return;
    order.add_offloaded(at, residency.has_record(at));
}

void PrefixNodes::remove_from_offloaded_order(uint32_t at) {
    order.remove_offloaded(at, residency.has_record(at));
}

// ---- resident and offloaded ----

// Logits are stored with the leftmost resident node that covers their tokens, where match looks.
void PrefixNodes::link_resident(uint32_t node) {
    const uint32_t parent = index[node].parent;
    order.remove(parent);
    index.link(node, ChildList::resident);
    const std::vector<uint32_t>& siblings = index[parent].resident;
    const size_t slot = index.match(parent, ChildList::resident, index[node].tokens).slot;
    if (slot + 1 < siblings.size()) {
        const uint32_t right = siblings[slot + 1];
        logits.move({right, node, common_prefix(index[node].tokens, index[right].tokens)});
    }
    counters.cached_tokens += index[node].n_tokens();
}

void PrefixNodes::unlink_resident(uint32_t node) {
    order.remove(node);
    points.drop(node);
    clear_blocks(node, 0);
    const uint32_t parent = index[node].parent;
    const std::vector<uint32_t>& siblings = index[parent].resident;
    const size_t slot = index.match(parent, ChildList::resident, index[node].tokens).slot;
    if (slot + 1 < siblings.size()) {
        const uint32_t right = siblings[slot + 1];
        logits.move({node, right, common_prefix(index[node].tokens, index[right].tokens)});
    }
    logits.drop(node);
    index.unlink(node);
    counters.cached_tokens -= index[node].n_tokens();
}

void PrefixNodes::link_offloaded(uint32_t node) {
    remove_from_offloaded_order(index[node].parent);
    index.link(node, ChildList::offloaded);
    add_to_offloaded_order(node);
}

void PrefixNodes::unlink_offloaded(uint32_t node) {
    remove_from_offloaded_order(node);
    drop_loaded(node);
    index.unlink(node);
}

// Of offloaded siblings, too, none begins another: such nodes are merged.
void PrefixNodes::offload(uint32_t leaf) {
    if (options.n_offloaded == 0) return remove(leaf);
    const uint32_t parent = index[leaf].parent;
    unlink_resident(leaf);
    order.set_evicted(leaf, now_ms);
    order.set_fresh(leaf, true);
    const PrefixIndex::Match nearest =
        index.match(parent, ChildList::offloaded, index[leaf].tokens);
    if (nearest.child != kNoNode && nearest.n_tokens == index[leaf].n_tokens()) {
        merge(nearest.child, leaf);
        free_unlinked(leaf);
    } else {
        if (nearest.child != kNoNode && nearest.n_tokens == index[nearest.child].n_tokens()) {
            unlink_offloaded(nearest.child);
            merge(leaf, nearest.child);
            free_unlinked(nearest.child);
        }
        link_offloaded(leaf);
    }
    after_loss_of_child(parent);
    trim_offloaded();
}

void PrefixNodes::merge(uint32_t node, uint32_t other) {
    const TierRecord record = residency.record(other);
    if (record.n_tokens > residency.record(node).n_tokens) set_record(node, record);
    const bool is_linked = order.of(node).is_waiting;
    remove_from_offloaded_order(node);
    order.merge(node, other);
    index.move_offloaded_children(other, node);
    if (is_linked) add_to_offloaded_order(node);
}

void PrefixNodes::trim_offloaded() {
    while (index.n_offloaded() > options.n_offloaded) remove(*order.first_offloaded());
}

// ---- blocks and records ----

void PrefixNodes::set_block(uint32_t node, uint32_t group, const BlockRef& ref, uint32_t n_rows) {
    residency.set_block(node, group, ref, n_rows);
    if (group >= residency.n_full()) points.update(node);
}

void PrefixNodes::clear_block(uint32_t node, uint32_t group) {
    residency.clear_block(node, group);
    if (group >= residency.n_full()) points.update(node);
}

void PrefixNodes::clear_blocks(uint32_t node, uint32_t first_group) {
    for (uint32_t g = first_group; g < residency.n_groups(); ++g) clear_block(node, g);
}

// Blocks that were loaded from another record do not belong to this one.
void PrefixNodes::set_record(uint32_t node, const TierRecord& record) {
    const bool is_linked = order.of(node).is_waiting;
    remove_from_offloaded_order(node);
    residency.set_record(node, record);
    if (is_linked) add_to_offloaded_order(node);
    if (!index[node].is_resident) drop_loaded(node);
}

void PrefixNodes::drop_loaded(uint32_t offloaded) {
    clear_blocks(offloaded, 0);
    residency.forget_partly_loaded(offloaded);
}

// ---- accounts ----

static uint64_t bytes_of(const PrefixIndex::Counts& counts, const IndexSize& size) {
    return PrefixIndex::bytes_of(counts, size.block_tokens) +
           KvResidency::bytes_of(counts.max_nodes, counts.n_nodes, size.n_groups) +
           EvictionOrder::bytes_of(counts.max_nodes, counts.n_nodes) +
           ResumePoints::bytes_of(counts.max_nodes, counts.n_nodes) +
           PinTable::bytes_of(counts.max_nodes, counts.n_nodes);
}

uint64_t PrefixNodes::index_bytes(const IndexSize& size) {
    const uint64_t n_nodes = uint64_t{size.n_blocks} + size.n_offloaded + 1;
    return bytes_of({.max_nodes = 2 * n_nodes, .n_nodes = n_nodes, .n_roots = n_nodes}, size);
}

IndexSize PrefixNodes::size() const {
    return {.n_blocks = options.n_blocks,
            .n_offloaded = options.n_offloaded,
            .block_tokens = options.block_tokens,
            .n_groups = residency.n_groups()};
}

uint64_t PrefixNodes::n_bytes() const {
    return bytes_of({.max_nodes = max_nodes(options),
                     .n_nodes = index.n_nodes(),
                     .n_roots = index.roots().size()},
                    size()) +
           logits.n_bytes();
}

void PrefixNodes::check_node(uint32_t at) const {
    const PrefixNode& node = index[at];
    KVIK_CHECK(residency.record(at).n_tokens <= node.n_tokens(),
               "a record holds tokens of its node");
    KVIK_CHECK(order.of(at).last_use <= order.of(node.parent).last_use,
               "a path was used when its end was");
    const bool is_leaf = node.resident.empty();
    KVIK_CHECK(order.of(at).is_queued == (node.is_resident && is_leaf && !pins.is_pinned(at)),
               "unpinned resident leaves may be evicted");
    KVIK_CHECK(order.of(at).is_waiting == (!node.is_resident && node.offloaded.empty()),
               "offloaded nodes without children may be removed");
    if (!node.is_resident) {
        KVIK_CHECK((residency.n_blocks_of(at) > 0) ==
                       (std::ranges::count(residency.partly_loaded(), at) == 1),
                   "nodes that are loaded in part are known");
        return;
    }
    for (uint32_t g = 0; g < residency.n_groups(); ++g) {
        const uint32_t n_rows = residency.block(at, g).n_rows;
        KVIK_CHECK(g < residency.n_full() ? n_rows == node.n_tokens() : n_rows <= node.n_tokens(),
                   "full groups hold all tokens of a resident node");
    }
    for (const uint32_t offloaded : index[node.parent].offloaded)
        KVIK_CHECK(
            common_prefix(index[offloaded].tokens, node.tokens) < index[offloaded].n_tokens(),
            "no offloaded node is or begins a resident one");
}

void PrefixNodes::check_invariants() const {
    index.check_invariants();
    residency.check_invariants();
    points.check_invariants();
    pins.check_invariants(now_ms);
    logits.check_invariants();
    uint64_t n_tokens = 0;
    size_t n_queued = 0, n_waiting = 0;
    for (uint32_t at = 0; at < index.n_slots(); ++at) {
        if (index[at].is_free() || index[at].is_root()) continue;
        check_node(at);
        n_tokens += index[at].is_resident ? index[at].n_tokens() : 0;
        n_queued += order.of(at).is_queued;
        n_waiting += order.of(at).is_waiting;
    }
    KVIK_CHECK(n_queued == order.n_evictable(), "nothing else may be evicted");
    KVIK_CHECK(n_waiting == order.n_removable(), "nothing else may be removed");
    KVIK_CHECK(index.n_offloaded() <= options.n_offloaded,
               "offloaded nodes stay within their limit");
    KVIK_CHECK(n_tokens == counters.cached_tokens, "what is cached is counted");
    KVIK_CHECK(n_bytes() <= options.logits_bytes + index_bytes(size()),
               "one budget counts everything");
}

}  // namespace kvik
