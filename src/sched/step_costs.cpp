#include "sched/step_costs.h"

#include <algorithm>
#include <cmath>

namespace kvik {
namespace {

constexpr double kRounding = 1e-9;

// A position on an axis: between the points `low` and `low` + 1, or beyond them.
struct Place {
    size_t low = 0;
    double part = 0;  // of the way from one to the other; above 1 beyond the last
};

template <size_t n>
Place place_on(const std::array<uint32_t, n>& axis, uint32_t x) {
    size_t low = 0;
    while (low + 2 < n && x >= axis[low + 1]) ++low;
    const double from = axis[low], to = axis[low + 1];
    return {low, (std::max<double>(x, from) - from) / (to - from)};
}

// Interpolates; exact at both ends.
double between(double a, double b, double part) {
    return part == 1 ? b : a + (b - a) * part;
}

template <size_t n>
double at(const std::array<double, n>& values, const Place& place) {
    return between(values[place.low], values[place.low + 1], place.part);
}

}  // namespace

double StepCosts::ms(uint32_t n_tokens, uint32_t depth) const {
    if (n_tokens == 0) return 0;
    const Place row = place_on(kTokens, n_tokens);
    const Place deep = place_on(kDepths, depth);
    return between(at(step_ms[deep.low], row), at(step_ms[deep.low + 1], row), deep.part);
}

double StepCosts::depth_ms(uint32_t n_tokens, uint32_t depth) const {
    return std::max(0.0, ms(n_tokens, depth) - ms(n_tokens, 0));
}

double StepCosts::prompt_ms(uint32_t n_tokens) const {
    return n_tokens == 0 ? 0 : at(chunk_ms, place_on(kChunks, n_tokens));
}

uint32_t StepCosts::tokens_within(double factor, uint32_t depth) const {
    const double most_ms = factor * ms(1, depth);
    uint32_t n = 1;
    while (n < kTokens.back() && ms(n + 1, depth) <= most_ms) ++n;
    return n;
}

bool StepCosts::is_lawful() const {
    const auto rises = [](const auto& values) {
        return values.front() >= 0 && std::isfinite(values.back()) &&
               std::is_sorted(values.begin(), values.end());
    };
    for (size_t d = 0; d < kDepths.size(); ++d) {
        for (size_t r = 0; r < kTokens.size(); ++r) {
            if (std::isnan(step_ms[d][r])) return false;
            if (d > 0 && step_ms[d][r] < step_ms[d - 1][r]) return false;
        }
        if (!rises(step_ms[d])) return false;
        // Beyond the last depth more tokens must not cost less either, but for rounding.
        for (size_t r = 1; d > 0 && r < kTokens.size(); ++r) {
            const double more = step_ms[d][r] - step_ms[d - 1][r];
            const double less = step_ms[d][r - 1] - step_ms[d - 1][r - 1];
            if (more < less - kRounding * step_ms[d][r]) return false;
        }
    }
    return std::none_of(chunk_ms.begin(), chunk_ms.end(), [](double v) { return std::isnan(v); }) &&
           rises(chunk_ms);
}

// ---- PrefillRate ----

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
