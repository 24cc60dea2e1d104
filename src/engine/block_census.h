// BlockCensus: how many different blocks a set of tables holds, each shared one counted once.
//
// Cost    O(blocks added); counting again allocates nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cache/block_pool.h"

namespace kvik {

class BlockCensus {
  public:
    explicit BlockCensus(uint32_t n_blocks) : seen_in_(n_blocks, 0) {}

    void begin() {
        ++round_;
        n_blocks_ = 0;
    }
    void add(std::span<const BlockRef> blocks) {
        for (const BlockRef& block : blocks) {
            uint64_t& round = seen_in_[static_cast<uint32_t>(block.id())];
            n_blocks_ += round != round_;
            round = round_;
        }
    }
    uint32_t n_blocks() const { return n_blocks_; }

  private:
    std::vector<uint64_t> seen_in_;  // [n_blocks] the round a block was last counted in
    uint64_t round_ = 0;
    uint32_t n_blocks_ = 0;
};

}  // namespace kvik
