#include "cache/kv_keys.h"

#include <charconv>
#include <span>
#include <string>

#include "base/digest.h"

namespace kvik {

NamespaceKey namespace_key(std::initializer_list<std::string_view> parts) {
    Sha256 sha;
    for (const std::string_view part : parts) {
        const std::string length = std::to_string(part.size()) + ":";
        sha.update(std::as_bytes(std::span(length)));
        sha.update(std::as_bytes(std::span(part)));
    }
    const std::string hex = sha.hex();
    NamespaceKey key;
    for (size_t i = 0; i < key.words.size(); ++i)
        std::from_chars(hex.data() + 16 * i, hex.data() + 16 * (i + 1), key.words[i], 16);
    return key;
}

NamespaceKey namespace_within(const NamespaceKey& base, const NamespaceSlots& slots) {
    if (slots.adapter.empty() && slots.salt.empty()) return base;
    const std::string_view above(reinterpret_cast<const char*>(base.words.data()),
                                 sizeof(base.words));
    return namespace_key({above, slots.adapter, slots.salt});
}

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
