#include "sample/row.h"

#include <algorithm>

namespace kvik {

bool RowMax::is_finite() const {
    constexpr float kInf = std::numeric_limits<float>::infinity();
    return !has_nan && max > -kInf && max < kInf;
}

RowMax row_max(std::span<const float> row) noexcept {
    const size_t n = row.size();
    F32x4 best[4];
    I32x4 nan[4];
    for (int v = 0; v < 4; ++v) {
        best[v] = all4(-std::numeric_limits<float>::infinity());
        nan[v] = I32x4{0, 0, 0, 0};
    }
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        for (int v = 0; v < 4; ++v) {
            const F32x4 x = load4(row.data() + i + 4 * v);
            best[v] = x > best[v] ? x : best[v];
            nan[v] |= x != x;
        }
    }
    RowMax out;
    for (int v = 0; v < 4; ++v) {
        out.has_nan = out.has_nan || any4(nan[v]);
        for (int lane = 0; lane < 4; ++lane) out.max = std::max(out.max, best[v][lane]);
    }
    for (; i < n; ++i) {
        out.max = std::max(out.max, row[i]);
        out.has_nan = out.has_nan || row[i] != row[i];
    }
    return out;
}

TokenId first_equal(std::span<const float> row, float value) noexcept {
    const size_t n = row.size();
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        const float* at = row.data() + i;
        const I32x4 any = (load4(at) == value) | (load4(at + 4) == value) |
                          (load4(at + 8) == value) | (load4(at + 12) == value);
        if (any4(any)) break;
    }
    for (; i < n; ++i)
        if (row[i] == value) break;
    return static_cast<TokenId>(i);
}

}  // namespace kvik
