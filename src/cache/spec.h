// KvSpec: what a model must remember per token, in the cache's words. The cache sizes its blocks
// from it and never learns what a model is.
//
// Shape   a block holds `block_tokens` positions of every layer; see view.h for the layout.
// Source  PagedAttention: Kwon et al. 2023, arXiv 2309.06180, section 4.
#pragma once

#include <cstdint>

namespace kvik {

enum class BlockId : uint32_t {};

enum class KvType : uint8_t { f16, f32 };

struct KvSpec {
    uint32_t n_layers = 0;
    uint32_t n_kv_heads = 0;
    uint32_t head_dim = 0;
    uint32_t block_tokens = 32;  // a multiple of 16
    KvType type = KvType::f16;

    uint64_t element_bytes() const { return type == KvType::f16 ? 2 : 4; }
    // K and V of one head in one layer of one block.
    uint64_t head_bytes() const { return 2ull * block_tokens * head_dim * element_bytes(); }
    uint64_t layer_bytes() const { return head_bytes() * n_kv_heads; }
    uint64_t block_bytes() const { return layer_bytes() * n_layers; }
    uint64_t bytes_per_token() const { return block_bytes() / block_tokens; }
};

}  // namespace kvik
