#include "cache/block_hash.h"

#include <charconv>
#include <string>

#include "base/digest.h"

namespace kvik {

BlockHash block_hash(const NamespaceKey& ns, const BlockHash& parent,
                     std::span<const TokenId> tokens) {
    Sha256 sha;
    sha.update(std::as_bytes(std::span(ns.words)));
    sha.update(std::as_bytes(std::span(parent)));
    sha.update(std::as_bytes(tokens));
    const std::string hex = sha.hex();
    BlockHash id;
    for (size_t i = 0; i < id.size(); ++i)
        std::from_chars(hex.data() + 16 * i, hex.data() + 16 * (i + 1), id[i], 16);
    return id;
}

}  // namespace kvik
