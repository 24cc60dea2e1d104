// PrefixHit: what the prefix tree proved about a prompt, and the handle that names a node.
//
// Owner     a hit owns shares of its blocks, so nothing of it is evicted while it lives.
// Invariant full groups have all logical blocks up to the last; a group with a window has those
//           that the token after n_tokens needs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cache/group_blocks.h"

namespace kvik {

// Names a node for as long as it exists; a dead node's handle is recognised.
struct NodeHandle {
    uint32_t index = UINT32_MAX;
    uint32_t generation = 0;
    bool operator==(const NodeHandle&) const = default;
};

struct PrefixHit {
    std::vector<GroupRefs> groups;  // [n_groups] whole blocks, then the tail's if tail_rows > 0
    uint32_t n_tokens = 0;          // usable: from here a sequence can go on
    uint32_t tail_rows =
        0;  // rows of the last logical block that match; 0: all logical blocks are whole
    uint32_t n_resident =
        0;                 // tokens whose full KV is in RAM; the rest to n_tokens is the distance
                           // to a resume point of the groups with a window
    uint32_t n_known = 0;  // tokens matched at all: in RAM, on a tier below, or evicted
    NodeHandle node;       // the deepest node of the usable part, matched wholly or in part
    // Logits after the last token, [vocab_size], if n_tokens are all tokens asked for and they were
    // stored; else empty. Valid until the tree changes.
    std::span<const float> logits;
};

}  // namespace kvik
