#include "sample/row.h"

namespace kvik {

float largest(const TiledRow& row) noexcept {
    const std::span<const float> maxima = row.maxima;
    F32x4 best[4];
    for (F32x4& b : best) b = all4(-std::numeric_limits<float>::infinity());
    size_t t = 0;
    for (; t + 16 <= maxima.size(); t += 16) {
        for (int v = 0; v < 4; ++v) {
            const F32x4 x = load4(maxima.data() + t + 4 * v);
            best[v] = x > best[v] ? x : best[v];
        }
    }
    float max = -std::numeric_limits<float>::infinity();
    for (const F32x4& b : best)
        for (int lane = 0; lane < 4; ++lane) max = std::max(max, b[lane]);
    for (; t < maxima.size(); ++t) max = std::max(max, maxima[t]);
    return max;
}

TokenId first_equal(const TiledRow& row, float value) noexcept {
    size_t first = row.size();
    for_each_from(row, value, [&](TokenId id, float) {
        first = static_cast<size_t>(id);
        return std::numeric_limits<float>::quiet_NaN();  // nothing is at least that: it ends
    });
    return static_cast<TokenId>(first);
}

}  // namespace kvik
