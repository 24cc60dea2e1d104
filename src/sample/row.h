// What sampling asks of a whole row: its maximum, and the tokens above a limit.
//
// Shape   row : [vocab_size] f32, -inf allowed
// Cost    one pass each, about 0.2 ns an element.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "base/types.h"
#include "sample/lanes.h"

namespace kvik {

struct RowMax {
    float max = -std::numeric_limits<float>::infinity();
    bool has_nan = false;

    bool is_finite() const;  // the row is one that can be sampled from
};

RowMax row_max(std::span<const float> row) noexcept;

// Lowest id whose logit is `value`; the row's size when there is none.
TokenId first_equal(std::span<const float> row, float value) noexcept;

// Calls take(id) for each logit >= limit, ids ascending; `take` returns the limit to go on with,
// which must not fall.
template <class Take>
void for_each_from(std::span<const float> row, float limit, Take&& take) {
    const size_t n = row.size();
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        const float* at = row.data() + i;
        const I32x4 any = (load4(at) >= limit) | (load4(at + 4) >= limit) |
                          (load4(at + 8) >= limit) | (load4(at + 12) >= limit);
        if (!any4(any)) continue;
        for (size_t k = i; k < i + 16; ++k)
            if (row[k] >= limit) limit = take(static_cast<TokenId>(k));
    }
    for (; i < n; ++i)
        if (row[i] >= limit) limit = take(static_cast<TokenId>(i));
}

}  // namespace kvik
