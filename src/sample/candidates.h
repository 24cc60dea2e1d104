// Candidates: the tokens that may still be drawn, and the cuts that make them fewer.
//
// Invariant every cut keeps a prefix of one total order (logit descending, then id ascending), and
//         sums are of integers: the kept set does not depend on the order of the list, nor on how
//         a library selects.
// Cost    linear expected: selection, never a sort.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"

namespace kvik {

struct Candidate {
    uint64_t weight = 0;  // exp((l - max) / T) in fixed point; 0 until keep_top_p needs it
    float logit = 0;      // after penalties and bias
    TokenId id = 0;
};

}  // namespace kvik
