// Pins of the prefix tree: paths that are not evicted while somebody holds them or until a time, and
// their opposite, paths that are no longer wanted.
#include <algorithm>

#include "base/check.h"
#include "cache/prefix_tree.h"

namespace kvik {

static constexpr uint32_t kNone = UINT32_MAX;

std::optional<Pin> PrefixTree::pin(const PrefixHit& hit) {
    if (hit.n_tokens == 0 || !is_alive(hit.node)) return std::nullopt;
    leave_order(hit.node.index);
    ++nodes_[hit.node.index].n_pins;
    ++n_pinned_;
    return Pin(*this, hit.node.index);
}

void PrefixTree::unpin(uint32_t node) {
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

// A path's blocks count once, however many pins it has below.
bool PrefixTree::pin_until(const PrefixHit& hit, double until_ms) {
    if (hit.n_tokens == 0 || !is_alive(hit.node) || until_ms <= now_ms_) return false;
    Node& end = nodes_[hit.node.index];
    if (end.pinned_until >= until_ms) return true;
    if (end.pinned_until > 0) {
        timed_pins_.erase({end.pinned_until, hit.node.index});
    } else {
        uint64_t n_blocks = n_timed_blocks_;
        for (uint32_t at = hit.node.index; !nodes_[at].ns; at = nodes_[at].parent)
            n_blocks += nodes_[at].n_timed == 0;
        if (n_blocks * 100 > uint64_t{options_.n_blocks} * options_.pinned_percent) return false;
        n_timed_blocks_ = static_cast<uint32_t>(n_blocks);
        for (uint32_t at = hit.node.index; !nodes_[at].ns; at = nodes_[at].parent)
            ++nodes_[at].n_timed;
        leave_order(hit.node.index);
        ++end.n_pins;
    }
    end.pinned_until = until_ms;
    timed_pins_.emplace(until_ms, hit.node.index);
    return true;
}

void PrefixTree::set_clock(double now_ms) {
    now_ms_ = std::max(now_ms_, now_ms);
    while (!timed_pins_.empty() && timed_pins_.begin()->first <= now_ms_)
        end_timed_pin(timed_pins_.begin()->second);
}

void PrefixTree::end_timed_pin(uint32_t node) {
    timed_pins_.erase({nodes_[node].pinned_until, node});
    nodes_[node].pinned_until = 0;
    --nodes_[node].n_pins;
    for (uint32_t at = node; !nodes_[at].ns; at = nodes_[at].parent)
        n_timed_blocks_ -= --nodes_[at].n_timed == 0;
    enter_order(node);
}

// ---- forgetting ----

// The nodes that forget concerns, the last first.
std::vector<uint32_t> PrefixTree::path_end(const NamespaceKey& ns, std::span<const TokenId> tokens,
                                           uint32_t from) const {
    std::vector<uint32_t> doomed;
    const auto root = roots_.find(ns);
    if (root == roots_.end()) return doomed;
    uint32_t node = root->second;
    while (!tokens.empty()) {
        const Match match = match_child(node, tokens);
        if (match.child == kNone || match.n_tokens < nodes_[match.child].tokens.size()) break;
        node = match.child;
        tokens = tokens.subspan(match.n_tokens);
    }
    while (!nodes_[node].ns && nodes_[node].begin >= from && nodes_[node].n_pins == 0 &&
           nodes_[node].children.size() == (doomed.empty() ? 0u : 1u)) {
        doomed.push_back(node);
        node = nodes_[node].parent;
    }
    return doomed;
}

void PrefixTree::forget(const NamespaceKey& ns, std::span<const TokenId> tokens, uint32_t from,
                        ForgetKind kind) {
    for (const uint32_t node : path_end(ns, tokens, from)) {
        leave_order(node);
        if (kind == ForgetKind::now) {
            remove_leaf(node);
            ++stats_.forgotten_blocks;
        } else {
            nodes_[node].rank.is_fresh = false;
            enter_order(node);
        }
    }
}

}  // namespace kvik
