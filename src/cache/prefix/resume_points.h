// ResumePoints: the token counts after which a sequence of a model with windows can go on, and
// which blocks of windows they keep. A resume point anchors the blocks that lie in the widest
// window before it. A node with blocks of a window that no resume point anchors is loose: it is
// evicted first.
//
// Use     add() where a sequence will probably go on: at ends of prompts and answers, where paths
//         part, and at fixed distances. drop() when the node stops being resident, or to evict its
//         windows. update() after blocks of a window of a node came or went.
// Owner   per node the first resume point in it and the number of points that anchor it; the order
//         of loose nodes and the order of nodes with a point. Reads the index, residency and last
//         uses.
// Threads the engine thread.
// Cost    add and drop are O(blocks in the widest window) plus O(log n) per node whose state
//         changes; update is O(groups + log n). next_loose and next_point are O(log n) amortised:
//         an order keeps the last use as it was when the node was filed, and files a node again
//         when it comes up and has been used since. Models without windows cost nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "cache/eviction.h"
#include "cache/prefix/kv_residency.h"
#include "cache/prefix/prefix_index.h"

namespace kvik {

class ResumePoints {
  public:
    ResumePoints(const PrefixIndex& index, const KvResidency& residency, const EvictionOrder& order,
                 uint64_t max_nodes);

    // A sequence may go on after the first n_rows tokens of the node. Of several points in one node
    // the first is kept: the blocks that it anchors are those for all.
    void add(uint32_t node, uint32_t n_rows);
    void drop(uint32_t node);
    bool has_point(uint32_t node) const { return nodes_[node].n_rows > 0; }

    // Files the node in the order where it belongs now: that of points, that of loose nodes, or
    // none.
    void update(uint32_t node);

    // ---- for eviction ----

    // Takes the least recently used loose node out of its order; of one path the first, since a
    // sequence that goes on needs the end of a window. A caller that does not evict its blocks
    // calls update() for it.
    std::optional<uint32_t> next_loose();
    // Takes the least recently used node with a resume point out of its order, of one path the
    // first. A caller that does not drop() it calls update() for it.
    std::optional<uint32_t> next_point();

    void add_slots(uint32_t n_slots);  // node numbers below n_slots may be used
    static uint64_t bytes_of(uint64_t max_nodes, uint64_t n_nodes);
    void check_invariants() const;  // O(nodes x blocks in the widest window)

  private:
    using Entry = std::tuple<uint64_t, uint32_t, uint32_t>;  // last use when filed, begin, node
    using Order = std::set<Entry>;
    enum class Filed : uint8_t { nowhere, as_loose, as_point };
    struct NodePoints {
        uint32_t n_rows = 0;       // the first point stands after so many tokens of it; 0: none
        uint32_t n_anchors = 0;    // nodes whose points need its blocks of a window
        uint64_t filed_since = 0;  // the last use under which it is filed
        Filed filed = Filed::nowhere;
    };

    uint32_t first_anchored(uint32_t node, uint32_t n_rows) const;
    Filed wanted(uint32_t node) const;
    Order& order_of(Filed filed) { return filed == Filed::as_loose ? loose_ : points_; }
    void file(uint32_t node, Filed filed);
    std::optional<uint32_t> take_first(Filed filed);

    const PrefixIndex& index_;
    const KvResidency& residency_;
    const EvictionOrder& order_;
    std::vector<NodePoints> nodes_;
    Order loose_;
    Order points_;
};

}  // namespace kvik
