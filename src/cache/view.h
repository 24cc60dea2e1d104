// KvView: plain addresses into the KV storage, handed to a model for one step.
//
// Shape   block -> layer of its group -> kv head -> { K, V }, all contiguous:
//           K : [block_tokens / 16][head_dim][16]   tiles of 16 tokens, so that 16 scores fill a
//                                                   register with no horizontal work
//           V : [block_tokens][head_dim]            natural
//         q8, a tile of 16 tokens (its last group of 32 dims may be of 16):
//           K : [head_dim / 4][16][4] int8 + 128, as weights lie; [groups of 32 dims][16] f32 scales
//           V : [16][head_dim] int8; [16] f32 scales
// Owner   KvStorage; a view is valid as long as its storage.
// Threads any thread may read; a position is written by exactly one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cache/spec.h"

namespace kvik {

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
