// KvGroups: which layers share a block. Layers that see everything and layers with a window forget
// at different depths, so a block never holds both.
//
// Shape   a group is group_layers layers of one window; at each logical block of a sequence
//         (block_tokens positions) it has a block of its own. All groups have equally many layers,
//         so that all blocks have one size, one pool and one budget:
//           Gemma 3 270M, 3 full layers and 15 of window 512: 1 full group, 5 with a window
//         A model without windows has one group of all layers. Where every layer has one, the
//         widest counts as none: the prefix tree needs blocks that stay.
// Owner   immutable, shared by whoever holds a KvSpec.
// Threads any.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace kvik {

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

// The first position whose KV must be there to compute position n_past, and with it its block: what
// else is read with it, the rest of its tile of 16, lies in the same one.
inline uint32_t first_needed(uint32_t window, uint32_t n_past) {
    return window == 0 || n_past < window ? 0 : n_past + 1 - window;
}

}  // namespace kvik
