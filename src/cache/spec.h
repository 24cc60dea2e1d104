// KvSpec: what a model must remember per token, in the cache's words. The cache sizes its blocks
// from it and never learns what a model is.
//
// Shape   a block holds `block_tokens` positions of the layers of a group (kv_groups.h) in tiles of
//         16 tokens; see view.h for the layout. q8 keeps scales behind the bytes of each tile (R10
//         of kernels/SPEC.md).
// Source  PagedAttention: Kwon et al. 2023, arXiv 2309.06180, section 4.
#pragma once

#include <cstdint>
#include <memory>

#include "cache/kv_groups.h"

namespace kvik {

enum class BlockId : uint32_t {};

enum class KvType : uint8_t { f16, f32, q8 };

inline constexpr uint32_t kKTileTokens = 16;
inline constexpr uint32_t kKGroupDims =
    32;  // of K that share a scale in q8, in each token and head

struct KvSpec {
    uint32_t n_layers = 0;
    uint32_t n_kv_heads = 0;
    uint32_t head_dim = 0;
    uint32_t block_tokens = 32;  // a multiple of 16
    KvType type = KvType::f16;
    std::shared_ptr<const KvGroups> groups = nullptr;  // null: one group of all layers

    uint32_t n_groups() const { return groups ? static_cast<uint32_t>(groups->groups.size()) : 1; }
    uint32_t window(uint32_t group) const { return groups ? groups->groups[group].window : 0; }
    KvLayer layer(uint32_t i) const {
        return groups ? groups->layers[i] : KvLayer{.group = 0, .slot = i};
    }
    // Blocks that a sequence holds at most (BlockTable) until it has n_tokens, n_rows a step.
    uint64_t most_blocks(uint64_t n_tokens, uint32_t n_rows) const;
    uint32_t block_layers() const { return groups ? groups->group_layers : n_layers; }

    uint64_t element_bytes() const { return type == KvType::f16 ? 2 : type == KvType::f32 ? 4 : 1; }
    // Scales of a token and head.
    uint64_t k_scales() const {
        return type == KvType::q8 ? (head_dim + kKGroupDims - 1) / kKGroupDims : 0;
    }
    uint64_t v_scales() const { return type == KvType::q8 ? 1 : 0; }
    uint64_t k_tile_bytes() const {
        return kKTileTokens * (head_dim * element_bytes() + k_scales() * sizeof(float));
    }
    uint64_t v_tile_bytes() const {
        return kKTileTokens * (head_dim * element_bytes() + v_scales() * sizeof(float));
    }
    // K and V of one head in one layer of one block.
    uint64_t k_bytes() const { return block_tokens / kKTileTokens * k_tile_bytes(); }
    uint64_t head_bytes() const {
        return block_tokens / kKTileTokens * (k_tile_bytes() + v_tile_bytes());
    }
    uint64_t layer_bytes() const { return head_bytes() * n_kv_heads; }
    uint64_t block_bytes() const { return layer_bytes() * block_layers(); }
    uint64_t bytes_per_token() const { return layer_bytes() * n_layers / block_tokens; }
};

}  // namespace kvik
