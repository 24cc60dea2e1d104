#include "cache/spec.h"

#include <algorithm>

namespace kvik {

// In a group with a window, from the first block that may be read to the last that is written.
uint64_t KvSpec::most_blocks(uint64_t n_tokens, uint32_t n_rows) const {
    const uint64_t n_logical_blocks = (n_tokens + block_tokens - 1) / block_tokens;
    uint64_t n = 0;
    for (uint32_t g = 0; g < n_groups(); ++g) {
        const uint64_t n_kept = uint64_t{window(g)} + kRewindTokens + n_rows;
        n += window(g) == 0 ? n_logical_blocks
                            : std::min(n_logical_blocks, n_kept / block_tokens + 2);
    }
    return n;
}

}  // namespace kvik
