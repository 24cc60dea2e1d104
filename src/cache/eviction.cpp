#include "cache/eviction.h"

#include <algorithm>
#include <array>
#include <cmath>

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

}  // namespace kvik
