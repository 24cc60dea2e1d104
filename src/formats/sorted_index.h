// An index that sorts things by a key without moving them: for finding by name, for twins.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

namespace kvik {

// 0 .. n-1 in ascending order of key(i); equal keys stay in order.
template <class Key>
std::vector<uint32_t> sorted_index(size_t n, Key key) {
    std::vector<uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
    return order;
}

struct Twins {
    uint32_t first = 0;
    uint32_t second = 0;  // the later one
};

// Two neighbours with the same key, or nothing when all keys differ.
template <class Key>
std::optional<Twins> find_twins(std::span<const uint32_t> order, Key key) {
    const auto at = std::adjacent_find(order.begin(), order.end(),
                                       [&](uint32_t a, uint32_t b) { return key(a) == key(b); });
    if (at == order.end()) return std::nullopt;
    return Twins{at[0], at[1]};
}

// The one whose key is `wanted`, or nothing.
template <class Key, class Wanted>
std::optional<uint32_t> find_sorted(std::span<const uint32_t> order, Key key,
                                    const Wanted& wanted) {
    const auto at = std::lower_bound(order.begin(), order.end(), wanted,
                                     [&](uint32_t i, const Wanted& w) { return key(i) < w; });
    if (at == order.end() || key(*at) != wanted) return std::nullopt;
    return *at;
}

}  // namespace kvik
