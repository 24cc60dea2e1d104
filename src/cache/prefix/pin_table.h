// PinTable: which nodes of the prefix cache are guarded from eviction, by a Pin that somebody holds
// or until a time.
//
// Shape   a pin guards its node; the nodes before it are guarded because they have a child. Pins
//         with a time may hold only a share of all blocks together. On a path, a full group's block
//         counts once however many pins are below it; blocks of windows count for every pin.
// Use     the facade hands out a Pin for add() and calls remove() when that is destroyed; after
//         either it brings the eviction order up to date, which this class does not know.
// Owner   counts per node and the order of the times. Reads the index and the plane's groups.
// Threads the engine thread.
// Cost    add and remove are O(1); add_until and end_next are O(nodes of the path + log n).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "cache/prefix/kv_residency.h"
#include "cache/prefix/prefix_index.h"

namespace kvik {

// Pins with a time hold at most timed_percent of n_blocks together.
struct PinLimit {
    uint32_t n_blocks = 0, timed_percent = 0;
};

class PinTable {
  public:
    PinTable(const PrefixIndex& index, const KvResidency& residency, const PinLimit& limit,
             uint64_t max_nodes);

    bool is_pinned(uint32_t node) const { return nodes_[node].n_pins > 0; }
    uint32_t n_held() const { return n_held_; }  // Pins alive
    uint32_t n_timed_blocks() const {
        return n_timed_blocks_;
    }  // held by pins with a time, at most

    void add(uint32_t node);
    void remove(uint32_t node);

    // Guards the node until until_ms, or longer if it is guarded longer already. False: the blocks
    // of all pins with a time would exceed their share.
    bool add_until(uint32_t node, double until_ms);
    // Ends the pin with the earliest time, if that is not later than now_ms. Returns its node.
    std::optional<uint32_t> end_next(double now_ms);

    void add_slots(uint32_t n_slots);  // node numbers below n_slots may be used
    static uint64_t bytes_of(uint64_t max_nodes, uint64_t n_nodes);
    void check_invariants(double now_ms) const;  // O(nodes + pins x nodes of a path)

  private:
    struct NodePins {
        uint32_t n_pins = 0;
        uint32_t n_timed = 0;  // pins with a time at or below it
        double until_ms = 0;   // 0: no pin with a time
    };

    uint32_t n_window_blocks(uint32_t node) const;

    const PrefixIndex& index_;
    const KvResidency& residency_;
    uint64_t most_timed_;  // blocks x 100
    std::vector<NodePins> nodes_;
    std::set<std::pair<double, uint32_t>> timed_;  // until_ms, node
    uint32_t n_held_ = 0;
    uint32_t n_timed_blocks_ = 0;
};

}  // namespace kvik
