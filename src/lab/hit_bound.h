// The most tokens of prompts that any policy could find in so many blocks, knowing the future.
//
// Shape   whole blocks as pages that requests read in order; the policy that drops what is needed
//         last, or never takes it in, finds the most of them. To every prompt the rows of one more
//         block, in part; and never more than without any eviction.
// Invariant it is an upper bound: a real cache must hold all blocks of a request at once, and only
//         those after which all before them are there.
// Source  L. A. Belady, "A study of replacement algorithms for a virtual-storage computer", IBM
//         Systems Journal 5(2), 1966.
#pragma once

#include "lab/replay.h"

namespace kvik::lab {

Result<uint64_t> most_hit_tokens(const Trace& trace, uint32_t n_blocks, uint32_t block_tokens);

}  // namespace kvik::lab
