#include "cache/prefix/resume_points.h"

#include <algorithm>

#include "base/check.h"

namespace kvik {

ResumePoints::ResumePoints(const PrefixIndex& index, const KvResidency& residency,
                           const EvictionOrder& order, uint64_t max_nodes)
    : index_(index), residency_(residency), order_(order) {
    nodes_.reserve(max_nodes);
}

void ResumePoints::add_slots(uint32_t n_slots) {
    if (nodes_.size() < n_slots) nodes_.resize(n_slots);
}

// ---- points ----

// The first block index that a point after n_rows tokens of a node anchors. A sequence that begins
// one token earlier is served as well: a prompt without stored logits computes its last token
// again.
uint32_t ResumePoints::first_anchored(uint32_t node, uint32_t n_rows) const {
    return residency_.first_block(residency_.widest_window(), index_[node].begin + n_rows - 1);
}

void ResumePoints::add(uint32_t node, uint32_t n_rows) {
    if (residency_.widest_window() == 0 || n_rows == 0 || index_[node].is_root()) return;
    NodePoints& own = nodes_[node];
    if (own.n_rows > 0 && own.n_rows <= n_rows) return;
    const uint32_t old_first =
        own.n_rows > 0 ? first_anchored(node, own.n_rows) : index_.block_index(node) + 1;
    const uint32_t first = first_anchored(node, n_rows);
    own.n_rows = n_rows;
    for (uint32_t at = node; !index_[at].is_root() && index_.block_index(at) >= first;
         at = index_[at].parent) {
        if (index_.block_index(at) >= old_first) continue;
        ++nodes_[at].n_anchors;
        update(at);
    }
}

void ResumePoints::drop(uint32_t node) {
    if (nodes_[node].n_rows == 0) return;
    const uint32_t first = first_anchored(node, nodes_[node].n_rows);
    nodes_[node].n_rows = 0;
    for (uint32_t at = node; !index_[at].is_root() && index_.block_index(at) >= first;
         at = index_[at].parent) {
        --nodes_[at].n_anchors;
        update(at);
    }
}

// ---- orders ----

// A node with a point anchors itself, so that no node belongs into both orders.
ResumePoints::Filed ResumePoints::wanted(uint32_t node) const {
    if (!index_[node].is_resident) return Filed::nowhere;
    if (nodes_[node].n_rows > 0) return Filed::as_point;
    const bool is_loose = nodes_[node].n_anchors == 0 && residency_.has_window_block(node);
    return is_loose ? Filed::as_loose : Filed::nowhere;
}

void ResumePoints::update(uint32_t node) {
    if (const Filed filed = wanted(node); filed != nodes_[node].filed) file(node, filed);
}

void ResumePoints::file(uint32_t node, Filed filed) {
    NodePoints& own = nodes_[node];
    if (own.filed != Filed::nowhere)
        order_of(own.filed).erase({own.filed_since, index_[node].begin, node});
    own.filed = filed;
    own.filed_since = order_.of(node).last_use;
    if (filed != Filed::nowhere) order_of(filed).emplace(own.filed_since, index_[node].begin, node);
}

std::optional<uint32_t> ResumePoints::take_first(Filed filed) {
    Order& order = order_of(filed);
    while (!order.empty()) {
        const uint32_t node = std::get<2>(*order.begin());
        const bool is_current = nodes_[node].filed_since == order_.of(node).last_use;
        file(node, is_current ? Filed::nowhere : filed);  // it has been used since: file it anew
        if (is_current) return node;
    }
    return std::nullopt;
}

std::optional<uint32_t> ResumePoints::next_loose() {
    return take_first(Filed::as_loose);
}

std::optional<uint32_t> ResumePoints::next_point() {
    return take_first(Filed::as_point);
}

// ---- accounts ----

uint64_t ResumePoints::bytes_of(uint64_t max_nodes, uint64_t n_nodes) {
    constexpr uint64_t kEntry = 4 * sizeof(void*) + sizeof(Entry);  // three links and a colour
    return max_nodes * sizeof(NodePoints) + n_nodes * kEntry;
}

void ResumePoints::check_invariants() const {
    std::vector<uint32_t> n_anchors(nodes_.size(), 0);
    for (uint32_t node = 0; node < nodes_.size(); ++node) {
        if (nodes_[node].n_rows == 0) continue;
        KVIK_CHECK(index_[node].is_resident, "a resume point ends with its node");
        const uint32_t first = first_anchored(node, nodes_[node].n_rows);
        for (uint32_t at = node; !index_[at].is_root() && index_.block_index(at) >= first;
             at = index_[at].parent)
            ++n_anchors[at];
    }
    size_t n_filed = 0;
    for (uint32_t node = 0; node < nodes_.size(); ++node) {
        const NodePoints& own = nodes_[node];
        KVIK_CHECK(own.n_anchors == n_anchors[node], "resume points anchor their windows");
        KVIK_CHECK(own.filed == wanted(node), "a node is filed where its points and blocks say");
        if (own.filed == Filed::nowhere) continue;
        const Order& order = own.filed == Filed::as_loose ? loose_ : points_;
        KVIK_CHECK(order.contains({own.filed_since, index_[node].begin, node}),
                   "what is filed is found");
        ++n_filed;
    }
    KVIK_CHECK(n_filed == loose_.size() + points_.size(), "nothing else is filed");
}

}  // namespace kvik
