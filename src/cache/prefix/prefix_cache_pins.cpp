// Pins of the prefix tree: paths that are not evicted while somebody holds them, or until a time.
#include <algorithm>

#include "base/check.h"
#include "cache/prefix/prefix_cache.h"

namespace kvik {

std::optional<Pin> PrefixCache::pin(const PrefixHit& hit) {
    if (hit.n_tokens == 0 || !is_resident(hit.node)) return std::nullopt;
    const uint32_t node = hit.node.index;
    leave_order(node);
    ++nodes_[node].n_pins;
    ++n_pinned_;
    add_resume_point(node, hit.n_tokens - nodes_[node].begin);
    return Pin(*this, node);
}

void PrefixCache::unpin(uint32_t node) {
    KVIK_CHECK(nodes_[node].n_pins > 0 && n_pinned_ > 0, "a pin is taken out once");
    --nodes_[node].n_pins;
    --n_pinned_;
    enter_order(node);
}

Pin& Pin::operator=(Pin&& other) noexcept {
    if (this != &other) {
        if (tree_) tree_->unpin(node_);
        tree_ = std::exchange(other.tree_, nullptr);
        node_ = other.node_;
    }
    return *this;
}

Pin::~Pin() {
    if (tree_) tree_->unpin(node_);
}

// ---- with a time ----

// What a pin at this node holds of groups with a window, at most.
uint32_t PrefixCache::timed_windows(uint32_t node) const {
    return (n_groups() - n_full_) *
           std::min(block_index_of(node) + 1, most_window_ / options_.block_tokens + 2);
}

// A path's full blocks count once, however many pins it has below; windows count for each pin.
bool PrefixCache::pin_until(const PrefixHit& hit, double until_ms) {
    if (hit.n_tokens == 0 || !is_resident(hit.node) || until_ms <= now_ms_) return false;
    const uint32_t node = hit.node.index;
    Node& end = nodes_[node];
    if (end.pinned_until == 0) {
        uint64_t n_blocks = n_timed_blocks_ + timed_windows(node);
        for (uint32_t at = node; !nodes_[at].ns; at = nodes_[at].parent)
            n_blocks += nodes_[at].n_timed == 0 ? n_full_ : 0;
        if (n_blocks * 100 > uint64_t{options_.n_blocks} * options_.pinned_percent) return false;
        n_timed_blocks_ = static_cast<uint32_t>(n_blocks);
        for (uint32_t at = node; !nodes_[at].ns; at = nodes_[at].parent) ++nodes_[at].n_timed;
        leave_order(node);
        ++end.n_pins;
    }
    add_resume_point(node, hit.n_tokens - end.begin);
    if (end.pinned_until >= until_ms) return true;
    timed_pins_.erase({end.pinned_until, node});
    end.pinned_until = until_ms;
    timed_pins_.emplace(until_ms, node);
    return true;
}

void PrefixCache::set_clock(double now_ms) {
    now_ms_ = std::max(now_ms_, now_ms);
    while (!timed_pins_.empty() && timed_pins_.begin()->first <= now_ms_)
        end_timed_pin(timed_pins_.begin()->second);
}

void PrefixCache::end_timed_pin(uint32_t node) {
    timed_pins_.erase({nodes_[node].pinned_until, node});
    nodes_[node].pinned_until = 0;
    --nodes_[node].n_pins;
    n_timed_blocks_ -= timed_windows(node);
    for (uint32_t at = node; !nodes_[at].ns; at = nodes_[at].parent)
        n_timed_blocks_ -= --nodes_[at].n_timed == 0 ? n_full_ : 0;
    enter_order(node);
}

}  // namespace kvik
