#include "cache/eviction.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/check.h"

namespace kvik {

struct PolicyName {
    EvictionPolicy policy;
    std::string_view name;
};

static constexpr std::array kPolicies = {
    PolicyName{EvictionPolicy::lru, "lru"}, PolicyName{EvictionPolicy::fifo, "fifo"},
    PolicyName{EvictionPolicy::lfu, "lfu"}, PolicyName{EvictionPolicy::cost, "cost"}};

std::string_view eviction_name(EvictionPolicy policy) {
    const auto row = std::find_if(kPolicies.begin(), kPolicies.end(),
                                  [&](const PolicyName& p) { return p.policy == policy; });
    KVIK_CHECK(row != kPolicies.end(), "every policy has a name");
    return row->name;
}

std::optional<EvictionPolicy> parse_eviction(std::string_view name) {
    for (const PolicyName& row : kPolicies)
        if (row.name == name) return row.policy;
    return std::nullopt;
}

EvictionRank eviction_rank(EvictionPolicy policy, const LeafFacts& leaf) {
    EvictionRank rank{.last_use = leaf.last_use};
    switch (policy) {  // ticks are exact as doubles up to 2^53 uses
        case EvictionPolicy::lru:
            rank.value = static_cast<double>(leaf.last_use);
            return rank;
        case EvictionPolicy::fifo:
            rank.value = static_cast<double>(leaf.inserted);
            return rank;
        case EvictionPolicy::lfu:
            rank.value = static_cast<double>(leaf.n_uses);
            return rank;
        case EvictionPolicy::cost:
            rank.value = leaf.clock + std::sqrt(static_cast<double>(leaf.n_uses)) *
                                          leaf.recompute_ms / std::max(leaf.n_blocks, 1u);
            return rank;
    }
    KVIK_CHECK(false, "every policy has a rank");
}

// ---- the order ----

// A set node has three links and a colour.
static constexpr uint64_t kSetLinks = 4 * sizeof(void*);

EvictionOrder::EvictionOrder(EvictionPolicy policy, RecomputeCost recompute_ms, uint64_t max_nodes)
    : policy_(policy), recompute_ms_(std::move(recompute_ms)) {
    nodes_.reserve(max_nodes);
}

void EvictionOrder::add_slots(uint32_t n_slots) {
    if (nodes_.size() < n_slots) nodes_.resize(n_slots);
}

void EvictionOrder::start(uint32_t node) {
    nodes_[node].inserted = tick_ + 1;
}

void EvictionOrder::erase(uint32_t node) {
    KVIK_CHECK(!nodes_[node].is_queued && !nodes_[node].is_waiting, "a freed node is in no order");
    nodes_[node] = {};
}

void EvictionOrder::merge(uint32_t to, uint32_t from) {
    nodes_[to].n_uses = std::max(nodes_[to].n_uses, nodes_[from].n_uses);
    nodes_[to].last_use = std::max(nodes_[to].last_use, nodes_[from].last_use);
}

void EvictionOrder::touch(uint32_t node, PathUse use, uint32_t depth, uint32_t n_tokens) {
    NodeUse& own = nodes_[node];
    if (own.is_queued) by_rank_.erase({own.rank, node});
    own.last_use = tick_;
    own.n_uses += use == PathUse::hit;
    own.rank =
        eviction_rank(policy_, {.last_use = own.last_use,
                                .inserted = own.inserted,
                                .n_uses = own.n_uses,
                                .recompute_ms = recompute_ms_ ? recompute_ms_(depth, n_tokens)
                                                              : static_cast<double>(n_tokens),
                                .clock = clock_});
    if (own.is_queued) by_rank_.emplace(own.rank, node);
}

void EvictionOrder::set_fresh(uint32_t node, bool is_fresh) {
    const bool was_queued = nodes_[node].is_queued;
    remove(node);
    nodes_[node].rank.is_fresh = is_fresh;
    if (was_queued) add(node);
}

void EvictionOrder::add(uint32_t node) {
    if (std::exchange(nodes_[node].is_queued, true)) return;
    by_rank_.emplace(nodes_[node].rank, node);
}

void EvictionOrder::remove(uint32_t node) {
    if (!std::exchange(nodes_[node].is_queued, false)) return;
    by_rank_.erase({nodes_[node].rank, node});
}

std::optional<uint32_t> EvictionOrder::next_victim() {
    if (by_rank_.empty()) return std::nullopt;
    const uint32_t node = by_rank_.begin()->second;
    remove(node);
    return node;
}

void EvictionOrder::note_evicted(uint32_t node) {
    clock_ = std::max(clock_, nodes_[node].rank.value);
}

void EvictionOrder::add_offloaded(uint32_t node, bool has_record) {
    if (std::exchange(nodes_[node].is_waiting, true)) return;
    offloaded_.emplace(has_record, nodes_[node].last_use, node);
}

void EvictionOrder::remove_offloaded(uint32_t node, bool has_record) {
    if (!std::exchange(nodes_[node].is_waiting, false)) return;
    const size_t n_erased = offloaded_.erase({has_record, nodes_[node].last_use, node});
    KVIK_CHECK(n_erased == 1, "a node leaves the order before what its rank depends on changes");
}

std::optional<uint32_t> EvictionOrder::first_offloaded() const {
    if (offloaded_.empty()) return std::nullopt;
    return std::get<2>(*offloaded_.begin());
}

uint64_t EvictionOrder::bytes_of(uint64_t max_nodes, uint64_t n_nodes) {
    constexpr uint64_t kRanked = kSetLinks + sizeof(std::pair<EvictionRank, uint32_t>);
    return max_nodes * sizeof(NodeUse) + n_nodes * kRanked;
}

}  // namespace kvik
