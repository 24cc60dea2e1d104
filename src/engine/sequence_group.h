// SequenceGroup: what sequences that come from one prompt, samples or beams, hold together: how many
// blocks sharing costs, and how many copies would.
//
// Owner   the requests and queued that belong to it.   Threads  the engine thread, once submitted.
#pragma once

#include <algorithm>
#include <cstdint>

namespace kvik {

struct SequenceGroup {
    uint32_t n_shared = 0;    // most different blocks that they have held at a time
    uint32_t n_copied = 0;    // most blocks that they would have held, each its own
    uint64_t counted_in = 0;  // the step in which they were counted last

    void note(uint32_t n_shared_now, uint32_t n_copied_now) {
        n_shared = std::max(n_shared, n_shared_now);
        n_copied = std::max(n_copied, n_copied_now);
    }
};

}  // namespace kvik
