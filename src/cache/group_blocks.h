// The blocks of one group of layers, one per block index: borrowed from a table, or counted shares.
//
// Invariant logical blocks before `first` lie behind the group's window and have no block any more.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cache/block_pool.h"

namespace kvik {

struct GroupBlocks {
    uint32_t first = 0;  // the logical block of refs[0]
    std::span<const BlockRef> refs;
};

struct GroupRefs {
    uint32_t first = 0;  // the logical block of blocks[0]
    std::vector<BlockRef> blocks;
};

}  // namespace kvik
