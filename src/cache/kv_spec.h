// KvSpec, KvGroups, KvView: what a model must remember per token, which layers share a block, and
// where in a block an element lies. The cache sizes its blocks from a spec and never learns what a
// model is.
//
// Groups  Layers that see everything and layers with a window forget at different depths, so a
//         block never holds both. A layer group is group_layers layers of one window; it has a
//         block at each block index. All groups have equally many layers, so that all blocks have
//         one size:
//           Gemma 3 270M, 3 full layers and 15 of window 512: 1 full group, 5 with a window
//         A model without windows has one group of all layers. Where every layer has a window, the
//         widest counts as none: the prefix cache needs blocks that stay.
// Shape   block -> layer of its group -> kv head -> { K, V }, all contiguous:
//           K : [block_tokens / 16][head_dim][16]   tiles of 16 tokens, so that 16 scores fill a
//                                                   register with no horizontal work
//           V : [block_tokens][head_dim]            natural
//         q8, a tile of 16 tokens (its last group of 32 dims may be of 16), R10 of kernels/SPEC.md:
//           K : [head_dim / 4][16][4] int8 + 128, as weights lie
//               [groups of 32 dims][16] f32 scales
//           V : [16][head_dim] int8; [16] f32 scales
// Owner   a spec shares its immutable groups; a view borrows from KvStorage and is valid as long as
//         that is.
// Threads any may read; a position of KV is written by exactly one.
// Cost    O(1), but KvGroups::of O(layers log layers) and most_blocks O(groups).
// Source  PagedAttention: Kwon et al. 2023, arXiv 2309.06180, section 4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace kvik {

enum class BlockId : uint32_t {};

struct KvGroup {
    uint32_t window = 0;  // the last positions that a row sees, its own included; 0: all
};

// Where the KV of a layer lies: in the blocks of this group, as layer `slot` of each.
struct KvLayer {
    uint32_t group = 0;
    uint32_t slot = 0;
};

struct KvGroups {
    uint32_t group_layers = 0;    // the greatest common divisor of the layers of each window
    std::vector<KvGroup> groups;  // full ones first, then by window
    std::vector<KvLayer> layers;  // [n_layers]

    static std::shared_ptr<const KvGroups> of(std::span<const uint32_t> windows);  // [n_layers]
};

// Blocks are released so many tokens later than the window allows: so far back a sequence may
// always go (refused drafts, stop strings, the last token once more).
inline constexpr uint32_t kRewindTokens = 64;

// Returns the first position whose KV is needed to compute position n_past. Attention also reads
// the rest of that position's tile of 16, which lies in the same block.
inline uint32_t first_needed(uint32_t window, uint32_t n_past) {
    return window == 0 || n_past < window ? 0 : n_past + 1 - window;
}

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

// Plain addresses into the KV storage, handed to a model for one step.
struct KvView {
    std::byte* base = nullptr;
    KvSpec spec;

    // `block` is one of the layer's group.
    std::byte* k(BlockId block, uint32_t layer, uint32_t kv_head) const {
        return base + static_cast<uint64_t>(block) * spec.block_bytes() +
               spec.layer(layer).slot * spec.layer_bytes() + kv_head * spec.head_bytes();
    }
    std::byte* v(BlockId block, uint32_t layer, uint32_t kv_head) const {
        return k(block, layer, kv_head) + spec.k_bytes();
    }
};

}  // namespace kvik
