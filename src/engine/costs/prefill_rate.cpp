#include "engine/costs/prefill_rate.h"

#include <algorithm>

namespace kvik {

static constexpr double kFade = 0.98;              // a step counts half after 34 others
static constexpr double kLeastSpread = 64 * 64.0;  // of positions, squared: below it no slope shows

static double middle(uint32_t n_tokens, uint32_t depth) {
    return depth + (n_tokens - 1) / 2.0;
}

void PrefillRate::note(uint32_t n_tokens, uint32_t depth, double ms) {
    if (n_tokens == 0) return;
    const double x = middle(n_tokens, depth), y = ms / n_tokens, w = n_tokens;
    weight_ = weight_ * kFade + w;
    x_ = x_ * kFade + w * x;
    xx_ = xx_ * kFade + w * x * x;
    y_ = y_ * kFade + w * y;
    xy_ = xy_ * kFade + w * x * y;
    fit();
}

void PrefillRate::fit() {
    const double mean_x = x_ / weight_, mean_y = y_ / weight_;
    const double spread = xx_ / weight_ - mean_x * mean_x;
    slope_ms_ = spread < kLeastSpread ? slope_ms_ : (xy_ / weight_ - mean_x * mean_y) / spread;
    slope_ms_ = std::clamp(slope_ms_, 0.0, mean_x > 0 ? mean_y / mean_x : 0.0);
    base_ms_ = mean_y - slope_ms_ * mean_x;
}

double PrefillRate::ms(uint32_t n_tokens, uint32_t depth) const {
    return n_tokens == 0 ? 0 : n_tokens * (base_ms_ + slope_ms_ * middle(n_tokens, depth));
}

}  // namespace kvik
