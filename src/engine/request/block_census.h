// BlockCensus: counts the blocks that tables and prefix hits hold, each shared block once. With it
// count_group_blocks updates how many blocks the sequences of a group share.
//
// Use     begin() a count, add() tables, hits or requests, then read n_blocks() and n_held().
// Threads the engine thread.
// Cost    add is linear in the blocks added; nothing allocates but the constructor.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cache/block_table.h"
#include "cache/prefix_hit.h"
#include "engine/request/request_state.h"

namespace kvik {

class BlockCensus {
  public:
    // n_blocks: of the pool.
    explicit BlockCensus(uint32_t n_blocks) : counted_in_(n_blocks, 0) {}

    void begin();
    void add(const BlockTable& table);
    void add(const PrefixHit& hit);
    void add(const RequestState& request);  // the tables of its sequence and of its beams

    uint32_t n_blocks() const { return n_blocks_; }  // different blocks
    uint32_t n_held() const { return n_held_; }      // each as often as it was added

  private:
    void add(std::span<const BlockRef> blocks);

    std::vector<uint64_t> counted_in_;  // [n_blocks] the count in which a block was met last
    uint64_t count_ = 0;
    uint32_t n_blocks_ = 0, n_held_ = 0;
};

// Records in each SequenceGroup how many blocks its sequences hold now, if that is more than before.
// The step loop calls it when the blocks of a step have been reserved and are most numerous. Costs
// O(blocks of the groups) and O(requests) per group.
void count_group_blocks(std::span<const std::unique_ptr<RequestState>> requests,
                        BlockCensus& census);

}  // namespace kvik
