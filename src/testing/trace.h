// Trace: a list of random cache operations as plain numbers, made from a seed. Players read each
// number modulo what there is, so any part of a trace is a trace: a failing one can be cut down.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kvik {

enum class OpKind : uint8_t {
    start,         // a new sequence from the longest cached prefix of a prompt
    compute,       // more tokens of a sequence
    abort,         // reserve, and give up before anything is written
    draft,         // compute tokens that are then refused
    rewind,        // forget the end of a sequence
    fork,          // a second sequence with the same past
    publish,       // some or all of a sequence's tokens
    store_logits,  // after the last published token
    remap,         // onto the tree's blocks
    drop,          // a sequence ends
    hold,          // keep a hit for a while
    release,
    pin,
    unpin,
    evict,
    release_shared,
    pin_until,   // a held hit, for a while
    tick,        // the clock goes on
    forget,      // the end of a path, now or as stale
    save,        // what is not on the tier yet
    load_back,   // what is worth reading
    lose,        // a bad record
    drop_tier,   // a part of all records
    read_index,  // records that the tier has already
};

struct Op {
    OpKind kind = OpKind::start;
    uint32_t who = 0;       // which sequence, hit or pin
    uint32_t how_many = 0;  // tokens or blocks
    uint32_t what = 0;      // where new tokens come from
};

std::vector<Op> random_trace(uint64_t seed, uint32_t n_ops);
std::string to_string(const Op& op);

}  // namespace kvik
