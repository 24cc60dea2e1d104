// BlockHash names a block by what its KV depends on: the namespace, the tokens before it and its
// own. It is the same in every process and file, so records find their parents by it.
//
// Shape   the first 128 bits of SHA-256 over (namespace, parent's id, tokens). No faster hash:
//         tokens come from strangers, and nobody shall be able to craft a second path to an id.
// Cost    about a microsecond.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/types.h"
#include "cache/namespace_key.h"

namespace kvik {

using BlockHash = std::array<uint64_t, 2>;

inline constexpr BlockHash kRootHash = {};  // the parent of a first block

BlockHash block_hash(const NamespaceKey& ns, const BlockHash& parent,
                     std::span<const TokenId> tokens);

}  // namespace kvik
