// NamespaceKey, BlockHash, TierRef: names of KV that hold beyond one process. All are plain values.
//
// NamespaceKey everything that KV depends on besides the tokens, as a SHA-256. Two requests share
//         cached KV only if their keys are equal: namespace_key({model.fingerprint, "kv=f16",
//         "act=int8", "block=32", salt}). Each part is hashed with its length, so that parts cannot
//         run into each other. When in doubt, add a part: a key with too few parts makes a cache
//         answer with the state of another model or tenant.
// BlockHash names a block by its namespace, the tokens before it and its own tokens, the same in
// every
//         process and file, so that records find their parents by it. It is the first 128 bits of
//         SHA-256 over (namespace, parent's hash, tokens). A faster hash would not do: tokens come
//         from strangers, and nobody shall be able to craft a second path to a hash.
// TierRef names what a lower tier keeps of one node of the prefix cache. Only the tier knows what
// its
//         bits mean; others compare it with kNoTier alone.
// Threads any; there is no state.
// Cost    a namespace key is one SHA-256 of its parts, a block hash about a microsecond.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "base/types.h"

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

using BlockHash = std::array<uint64_t, 2>;

inline constexpr BlockHash kRootHash = {};  // the parent of a first block

BlockHash block_hash(const NamespaceKey& ns, const BlockHash& parent,
                     std::span<const TokenId> tokens);

using TierRef = uint64_t;
inline constexpr TierRef kNoTier = 0;

}  // namespace kvik
