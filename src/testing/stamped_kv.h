// StampedKv: KV whose every row says which tokens it came from, for tests of a cache without a
// model: the row of a position in a group of layers is a hash of all tokens up to it.
//
// Shape  the stamp is the first V of the group's first layer and head; KV is f32.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <vector>

#include "cache/block_table.h"
#include "cache/kv_storage.h"
#include "cache/prefix/prefix_types.h"

namespace kvik {

class StampedKv {
  public:
    explicit StampedKv(const KvStorage& storage) : kv_(storage.view()) {}

    // What the table reserved from its end on becomes the KV of `all`, whose end is new.
    void compute(const BlockTable& table, std::span<const TokenId> all) const {
        for (uint32_t at = table.n_tokens(); at < all.size(); ++at)
            for (uint32_t g = 0; g < kv_.spec.n_groups(); ++g)
                *stamp(table.ids(g)[at / kv_.spec.block_tokens], g, at) = expected(all, at, g);
    }
    // Every group's blocks hold the KV of these tokens, from their first logical block on.
    void expect(const BlockTable& table, std::span<const TokenId> tokens) const {
        for (uint32_t g = 0; g < kv_.spec.n_groups(); ++g) expect(table.group_blocks(g), g, tokens);
    }
    void expect(const PrefixHit& hit, std::span<const TokenId> tokens) const {
        for (uint32_t g = 0; g < kv_.spec.n_groups(); ++g)
            expect({.first = hit.groups[g].first, .refs = hit.groups[g].blocks}, g, tokens);
    }

  private:
    void expect(const GroupBlocks& blocks, uint32_t group, std::span<const TokenId> tokens) const {
        for (uint32_t at = blocks.first * kv_.spec.block_tokens; at < tokens.size(); ++at) {
            const BlockRef& block = blocks.refs[at / kv_.spec.block_tokens - blocks.first];
            ASSERT_EQ(*stamp(block.id(), group, at), expected(tokens, at, group))
                << "group " << group << ", position " << at;
        }
    }
    static uint32_t expected(std::span<const TokenId> tokens, uint32_t at, uint32_t group) {
        uint32_t hash = 2166136261u + group;  // FNV-1a
        for (const TokenId token : tokens.first(at + 1))
            hash = (hash ^ static_cast<uint32_t>(token)) * 16777619u;
        return hash;
    }
    uint32_t* stamp(BlockId block, uint32_t group, uint32_t at) const {
        uint32_t layer = 0;
        while (kv_.spec.layer(layer).group != group) ++layer;
        const uint64_t row = at % kv_.spec.block_tokens;
        return reinterpret_cast<uint32_t*>(kv_.v(block, layer, 0) +
                                           row * kv_.spec.head_dim * kv_.spec.element_bytes());
    }

    KvView kv_;
};

}  // namespace kvik
