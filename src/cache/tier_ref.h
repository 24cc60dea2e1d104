// TierRef names what a lower tier keeps of one node of the prefix tree. What its bits mean is the
// tier's business; the tree carries it and compares it with kNoTier alone.
#pragma once

#include <cstdint>

namespace kvik {

using TierRef = uint64_t;
inline constexpr TierRef kNoTier = 0;

}  // namespace kvik
