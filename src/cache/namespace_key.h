// NamespaceKey: everything that KV depends on besides the tokens, as a SHA-256. Two requests share
// cached KV only if their keys are equal.
//
// Use     namespace_key({model.fingerprint, "kv=f16", "act=int8", "block=32", salt}): each
//         part goes in with its length, so that parts cannot run into each other. Under-keyed caches
//         answer with somebody else's state: when in doubt, add a part.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace kvik {

struct NamespaceKey {
    std::array<uint64_t, 4> words = {};
    auto operator<=>(const NamespaceKey&) const = default;
};

NamespaceKey namespace_key(std::initializer_list<std::string_view> parts);

// What a request may add to the namespace of its model. An adapter is named by the digest of its
// content and its scale, so that another one under the same name is another one.
struct NamespaceSlots {
    std::string_view adapter;  // empty: none
    std::string_view salt;     // of a tenant; empty: none
};

// The next link of the chain: a namespace within `base`, which it equals for no slots at all.
NamespaceKey namespace_within(const NamespaceKey& base, const NamespaceSlots& slots);

}  // namespace kvik
