#include "model/rope.h"

#include "base/exact_math.h"

namespace kvik {

Rope::Rope(const RopeConfig& config) : config_(config), frequencies_(config.n_dims / 2) {
    for (uint32_t i = 0; i < frequencies_.size(); ++i)
        frequencies_[i] = exact_pow(config.base, -2.0 * i / config.n_dims) /
                          (config.divisors.empty() ? 1.0 : config.divisors[i]);
}

void Rope::fill_row(uint32_t position, float* row) const {
    const uint32_t half = config_.n_dims / 2;
    for (uint32_t i = 0; i < half; ++i) {
        const SinCos turn = exact_sincos(position / config_.linear_factor * frequencies_[i]);
        row[i] = static_cast<float>(turn.cos);
        row[half + i] = static_cast<float>(turn.sin);
    }
}

// y0 = x0 cos - x1 sin, y1 = x0 sin + x1 cos; each product and sum is rounded.
void Rope::apply(const float* row, float* head) const {
    const uint32_t half = config_.n_dims / 2;
    const bool adjacent = config_.layout == RopeLayout::adjacent;
    for (uint32_t i = 0; i < half; ++i) {
        float& a = head[adjacent ? 2 * i : i];
        float& b = head[adjacent ? 2 * i + 1 : i + half];
        const float cosine = row[i], sine = row[half + i];
        const float x0 = a, x1 = b;
        a = x0 * cosine - x1 * sine;
        b = x0 * sine + x1 * cosine;
    }
}

}  // namespace kvik
