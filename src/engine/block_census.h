// BlockCensus: how many different blocks tables and hits hold, each shared one counted once.
//
// Cost    O(blocks added); counting again allocates nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cache/block_table.h"
#include "cache/prefix_tree.h"

namespace kvik {

class BlockCensus {
  public:
    explicit BlockCensus(uint32_t n_blocks) : seen_in_(n_blocks, 0) {}

    void begin() {
        ++round_;
        n_blocks_ = 0;
    }
    void add(const BlockTable& table) {
        for (uint32_t g = 0; g < table.n_groups(); ++g) add(table.group_blocks(g).refs);
    }
    void add(const PrefixHit& hit) {
        for (const GroupRefs& group : hit.groups) add(group.blocks);
    }
    uint32_t n_blocks() const { return n_blocks_; }

  private:
    void add(std::span<const BlockRef> blocks) {
        for (const BlockRef& block : blocks) {
            uint64_t& round = seen_in_[static_cast<uint32_t>(block.id())];
            n_blocks_ += round != round_;
            round = round_;
        }
    }

    std::vector<uint64_t> seen_in_;  // [n_blocks] the round a block was last counted in
    uint64_t round_ = 0;
    uint32_t n_blocks_ = 0;
};

}  // namespace kvik
