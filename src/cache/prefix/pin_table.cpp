#include "cache/prefix/pin_table.h"

#include <algorithm>

#include "base/check.h"

namespace kvik {

PinTable::PinTable(const PrefixIndex& index, const KvResidency& residency, const PinLimit& limit,
                   uint64_t max_nodes)
    : index_(index),
      residency_(residency),
      most_timed_(uint64_t{limit.n_blocks} * limit.timed_percent) {
    nodes_.reserve(max_nodes);
}

void PinTable::add_slots(uint32_t n_slots) {
    if (nodes_.size() < n_slots) nodes_.resize(n_slots);
}

void PinTable::add(uint32_t node) {
    ++nodes_[node].n_pins;
    ++n_held_;
}

void PinTable::remove(uint32_t node) {
    KVIK_CHECK(nodes_[node].n_pins > 0 && n_held_ > 0, "a pin is taken out once");
    --nodes_[node].n_pins;
    --n_held_;
}

// ---- with a time ----

// Blocks of windows that a pin at this node holds, at most.
uint32_t PinTable::n_window_blocks(uint32_t node) const {
    const uint32_t n_in_window = residency_.widest_window() / index_.block_tokens() + 2;
    return (residency_.n_groups() - residency_.n_full()) *
           std::min(index_.block_index(node) + 1, n_in_window);
}

bool PinTable::add_until(uint32_t node, double until_ms) {
    NodePins& end = nodes_[node];
    if (end.until_ms == 0) {
        uint64_t n_blocks = n_timed_blocks_ + n_window_blocks(node);
        for (uint32_t at = node; !index_[at].is_root(); at = index_[at].parent)
            n_blocks += nodes_[at].n_timed == 0 ? residency_.n_full() : 0;
        if (n_blocks * 100 > most_timed_) return false;
        n_timed_blocks_ = static_cast<uint32_t>(n_blocks);
        for (uint32_t at = node; !index_[at].is_root(); at = index_[at].parent)
            ++nodes_[at].n_timed;
        ++end.n_pins;
    }
    if (end.until_ms >= until_ms) return true;
    timed_.erase({end.until_ms, node});
    end.until_ms = until_ms;
    timed_.emplace(until_ms, node);
    return true;
}

std::optional<uint32_t> PinTable::end_next(double now_ms) {
    if (timed_.empty() || timed_.begin()->first > now_ms) return std::nullopt;
    const uint32_t node = timed_.begin()->second;
    timed_.erase(timed_.begin());
    nodes_[node].until_ms = 0;
    --nodes_[node].n_pins;
    n_timed_blocks_ -= n_window_blocks(node);
    for (uint32_t at = node; !index_[at].is_root(); at = index_[at].parent)
        n_timed_blocks_ -= --nodes_[at].n_timed == 0 ? residency_.n_full() : 0;
    return node;
}

// ---- accounts ----

uint64_t PinTable::bytes_of(uint64_t max_nodes, uint64_t n_nodes) {
    constexpr uint64_t kTimed = 4 * sizeof(void*) + sizeof(std::pair<double, uint32_t>);
    return max_nodes * sizeof(NodePins) + n_nodes * kTimed;
}

void PinTable::check_invariants(double now_ms) const {
    std::vector<uint32_t> n_timed(nodes_.size(), 0);
    uint32_t n_blocks = 0, n_pins = 0;
    for (const auto& [until_ms, node] : timed_) {
        KVIK_CHECK(nodes_[node].until_ms == until_ms && until_ms > now_ms,
                   "a pin with a time ends when its time has come");
        n_blocks += n_window_blocks(node);
        for (uint32_t at = node; !index_[at].is_root(); at = index_[at].parent) ++n_timed[at];
    }
    for (uint32_t at = 0; at < nodes_.size(); ++at) {
        KVIK_CHECK(nodes_[at].n_timed == n_timed[at], "pins with a time are counted on their path");
        KVIK_CHECK(nodes_[at].n_pins == 0 || (index_[at].is_resident && !index_[at].is_root()),
                   "what is pinned is resident");
        n_blocks += n_timed[at] > 0 ? residency_.n_full() : 0;
        n_pins += nodes_[at].n_pins - (nodes_[at].until_ms > 0);
    }
    KVIK_CHECK(n_pins == n_held_, "every pin is counted");
    KVIK_CHECK(n_blocks == n_timed_blocks_, "what pins with a time hold is counted");
    KVIK_CHECK(uint64_t{n_blocks} * 100 <= most_timed_,
               "pins with a time hold no more than their share");
}

}  // namespace kvik
