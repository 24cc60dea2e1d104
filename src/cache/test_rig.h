// TestRig: a pool, a storage and a tree for tests, and sequences whose KV says which token it is
// of, so that a test can read back what a table or a hit really holds.
//
// Shape  every element of a token's K and V is token * 16 + a number for (layer, head, element, K
//        or V); read gives -1 for a position whose elements disagree. Tokens are below 1000. With
//        windows, the layers that still have the position must agree.
#pragma once

#include <array>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/types.h"
#include "cache/block_table.h"
#include "cache/prefix/prefix_cache.h"

namespace kvik {

using Tokens = std::vector<TokenId>;

struct TestRigOptions {
    uint32_t n_blocks = 8;
    uint32_t block_tokens = 16;
    uint64_t logits_bytes = 1 << 16;
    KvType type = KvType::f16;
    std::vector<uint32_t> windows = {};  // of each layer; empty: one group of two layers
    EvictionPolicy policy = EvictionPolicy::lru;
    uint32_t n_offloaded = 0;
    uint32_t resume_every = 0;
    std::function<double(uint32_t depth, uint32_t n_tokens)> recompute_ms = nullptr;
};

struct TestRig {
    BlockPool pool;
    KvStorage storage;
    PrefixCache tree;

    explicit TestRig(const TestRigOptions& options)
        : pool(options.n_blocks),
          storage(*KvStorage::open(spec_of(options), options.n_blocks)),
          tree({.block_tokens = options.block_tokens,
                .n_blocks = options.n_blocks,
                .groups = storage.spec().groups,
                .logits_bytes = options.logits_bytes,
                .policy = options.policy,
                .n_offloaded = options.n_offloaded,
                .resume_every = options.resume_every,
                .recompute_ms = options.recompute_ms}) {}

    // It may grow longer than the pool has blocks for.
    BlockTable table() {
        return BlockTable(pool, storage, (pool.n_blocks() + 4) * storage.spec().block_tokens);
    }

    // Computes more tokens, as a model would. False: no room, nothing changed.
    [[nodiscard]] bool extend(BlockTable& table, const Tokens& tokens) {
        if (!table.reserve(static_cast<uint32_t>(tokens.size()))) return false;
        for (size_t i = 0; i < tokens.size(); ++i) {
            const size_t position = table.n_tokens() + i;
            for (uint32_t layer = 0; layer < storage.spec().n_layers; ++layer) {
                const auto ids = table.ids(storage.spec().layer(layer).group);
                uint32_t number = 0;
                for (std::byte* element : elements(ids[position / block_tokens()], layer, position))
                    store(element, value_of(tokens[i], layer, number++));
            }
        }
        table.append(static_cast<uint32_t>(tokens.size()));
        return true;
    }

    // A table with these tokens; there must be room.
    BlockTable computed(const Tokens& tokens) {
        BlockTable out = table();
        KVIK_CHECK(extend(out, tokens), "the test has room");
        return out;
    }

    // Computes and publishes; the tree alone owns the blocks afterwards.
    void publish(const NamespaceKey& ns, const Tokens& tokens) {
        tree.insert(ns, tokens, computed(tokens).group_blocks());
    }

    Tokens read(const BlockTable& table) const {
        return read_groups(table.group_blocks(), table.n_tokens());
    }
    Tokens read(const PrefixHit& hit) const {
        std::vector<GroupBlocks> groups;
        for (const GroupRefs& group : hit.groups) groups.push_back({group.first, group.blocks});
        return read_groups(groups, hit.n_tokens);
    }

  private:
    static constexpr size_t kElements = 2 * 2 * 2;  // of a layer

    static KvSpec spec_of(const TestRigOptions& options) {
        const auto n_layers = static_cast<uint32_t>(options.windows.size());
        return {.n_layers = n_layers > 0 ? n_layers : 2,
                .n_kv_heads = 2,
                .head_dim = 2,
                .block_tokens = options.block_tokens,
                .type = options.type,
                .groups = n_layers > 0 ? KvGroups::of(options.windows) : nullptr};
    }
    uint32_t block_tokens() const { return storage.spec().block_tokens; }
    static uint32_t value_of(TokenId token, uint32_t layer, uint32_t number) {
        return static_cast<uint32_t>(token) * 16 + layer % 2 * 8 + number;
    }

    std::array<std::byte*, kElements> elements(BlockId block, uint32_t layer,
                                               size_t position) const {
        const KvView kv = storage.view();
        const size_t bytes = kv.spec.element_bytes();
        const size_t row = position % kv.spec.block_tokens;
        std::array<std::byte*, kElements> out = {};
        size_t n = 0;
        for (uint32_t head = 0; head < 2; ++head)
            for (size_t d = 0; d < 2; ++d) {
                const size_t k_at = (row / kKTileTokens * 2 + d) * kKTileTokens + row % 16;
                out[n++] = kv.k(block, layer, head) + k_at * bytes;
                out[n++] = kv.v(block, layer, head) + (row * 2 + d) * bytes;
            }
        return out;
    }
    void store(std::byte* element, uint32_t value) const {
        if (storage.spec().type == KvType::f16)
            *reinterpret_cast<uint16_t*>(element) = static_cast<uint16_t>(value);
        else
            *reinterpret_cast<uint32_t*>(element) = value;
    }
    uint32_t load(const std::byte* element) const {
        return storage.spec().type == KvType::f16 ? *reinterpret_cast<const uint16_t*>(element)
                                                  : *reinterpret_cast<const uint32_t*>(element);
    }
    Tokens read_groups(const std::vector<GroupBlocks>& groups, uint32_t n_tokens) const {
        Tokens out;
        for (size_t position = 0; position < n_tokens; ++position) {
            const size_t block_index = position / block_tokens();
            TokenId token = -1;
            bool agree = true;
            for (uint32_t layer = 0; layer < storage.spec().n_layers; ++layer) {
                const GroupBlocks& group = groups[storage.spec().layer(layer).group];
                if (block_index < group.first) continue;
                const auto at =
                    elements(group.refs[block_index - group.first].id(), layer, position);
                if (token < 0) token = static_cast<TokenId>(load(at[0]) / 16);
                for (uint32_t i = 0; i < kElements; ++i)
                    agree &= load(at[i]) == value_of(token, layer, i);
            }
            out.push_back(agree ? token : -1);
        }
        return out;
    }
};

// first, first + 1, ...: n tokens.
inline Tokens count_from(TokenId first, size_t n) {
    Tokens out(n);
    std::iota(out.begin(), out.end(), first);
    return out;
}

inline Tokens joined(Tokens a, const Tokens& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

inline Tokens first_of(const Tokens& tokens, size_t n) {
    return {tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(n)};
}

}  // namespace kvik
