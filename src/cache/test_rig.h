// TestRig: a pool, a storage and a tree for tests, and sequences whose KV says which token it is
// of, so that a test can read back what a table or a hit really holds.
//
// Shape  every element of a token's K and V is token * 16 + a number for (layer, head, element, K
//        or V); read gives -1 for a position whose elements disagree. Tokens are below 1000.
#pragma once

#include <array>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/types.h"
#include "cache/block_table.h"
#include "cache/prefix_tree.h"

namespace kvik {

using Tokens = std::vector<TokenId>;

struct TestRigOptions {
    uint32_t n_blocks = 8;
    uint32_t block_tokens = 16;
    uint64_t logits_bytes = 1 << 16;
    KvType type = KvType::f16;
    EvictionPolicy policy = EvictionPolicy::lru;
    std::function<double(uint32_t depth, uint32_t n_tokens)> recompute_ms = nullptr;
};

struct TestRig {
    BlockPool pool;
    KvStorage storage;
    PrefixTree tree;

    explicit TestRig(const TestRigOptions& options)
        : pool(options.n_blocks),
          storage(*KvStorage::open({.n_layers = 2,
                                    .n_kv_heads = 2,
                                    .head_dim = 2,
                                    .block_tokens = options.block_tokens,
                                    .type = options.type},
                                   options.n_blocks)),
          tree({.block_tokens = options.block_tokens,
                .n_blocks = options.n_blocks,
                .logits_bytes = options.logits_bytes,
                .policy = options.policy,
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
            const BlockId block = table.ids()[position / storage.spec().block_tokens];
            uint32_t number = 0;
            for (std::byte* element : elements(block, position))
                store(element, static_cast<uint32_t>(tokens[i]) * 16 + number++);
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
        return read_ids({table.ids().begin(), table.ids().end()}, table.n_tokens());
    }
    Tokens read(const PrefixHit& hit) const {
        std::vector<BlockId> ids;
        for (const BlockRef& block : hit.groups[0].blocks) ids.push_back(block.id());
        return read_ids(ids, hit.n_tokens);
    }

  private:
    static constexpr size_t kElements = 2 * 2 * 2 * 2;

    std::array<std::byte*, kElements> elements(BlockId block, size_t position) const {
        const KvView kv = storage.view();
        const size_t bytes = kv.spec.element_bytes();
        const size_t row = position % kv.spec.block_tokens;
        std::array<std::byte*, kElements> out = {};
        size_t n = 0;
        for (uint32_t layer = 0; layer < 2; ++layer)
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
    Tokens read_ids(const std::vector<BlockId>& ids, uint32_t n_tokens) const {
        Tokens out;
        for (size_t position = 0; position < n_tokens; ++position) {
            const auto at = elements(ids[position / storage.spec().block_tokens], position);
            const uint32_t token = load(at[0]) / 16;
            bool agree = true;
            for (uint32_t i = 0; i < kElements; ++i) agree &= load(at[i]) == token * 16 + i;
            out.push_back(agree ? static_cast<TokenId>(token) : -1);
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
