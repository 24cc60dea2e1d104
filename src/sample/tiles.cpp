#include "sample/tiles.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/check.h"
#include "sample/lanes.h"

namespace kvik {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

F32x4 max4(F32x4 a, F32x4 b) noexcept {
    return a > b ? a : b;
}

// NaN becomes +inf.
F32x4 load_ordered(const float* from) noexcept {
    const F32x4 x = load4(from);
    return x < kInf ? x : all4(kInf);
}

float whole_maximum(const float* x) noexcept {
    const F32x4 m = max4(max4(load_ordered(x), load_ordered(x + 4)),
                         max4(load_ordered(x + 8), load_ordered(x + 12)));
    return std::max(std::max(m[0], m[1]), std::max(m[2], m[3])) + 0.0f;  // -0 + 0 = 0
}

// Sixteen lanes, tree 8, 4, 2, 1.
float whole_sum_exp(const float* x, float maximum, float inverse_temperature) noexcept {
    const auto term = [&](int v) {
        return exp4((load4(x + 4 * v) - maximum) * inverse_temperature);
    };
    const F32x4 s = (term(0) + term(2)) + (term(1) + term(3));
    return (s[0] + s[2]) + (s[1] + s[3]);
}

// A short tile goes on with -inf, which is never the largest and weighs nothing.
std::array<float, kLogitTile> padded(std::span<const float> tile) noexcept {
    std::array<float, kLogitTile> whole;
    whole.fill(-kInf);
    std::copy(tile.begin(), tile.end(), whole.begin());
    return whole;
}

}  // namespace

float tile_maximum(std::span<const float> tile) noexcept {
    return whole_maximum(tile.size() == kLogitTile ? tile.data() : padded(tile).data());
}

float tile_sum_exp_of(std::span<const float> tile, float maximum,
                      float inverse_temperature) noexcept {
    return whole_sum_exp(tile.size() == kLogitTile ? tile.data() : padded(tile).data(), maximum,
                         inverse_temperature);
}

void note_maxima(std::span<const float> row, std::span<float> maxima) noexcept {
    KVIK_CHECK(maxima.size() == n_logit_tiles(row.size()), "there is a maximum for every tile");
    const size_t n_whole = row.size() / kLogitTile;
    for (size_t t = 0; t < n_whole; ++t) maxima[t] = whole_maximum(&row[t * kLogitTile]);
    if (n_whole < maxima.size()) maxima[n_whole] = tile_maximum(row.subspan(n_whole * kLogitTile));
}

void note_sum_exp(std::span<const float> row, std::span<const float> maxima,
                  float inverse_temperature, std::span<float> sum_exps) noexcept {
    KVIK_CHECK(sum_exps.size() == n_logit_tiles(row.size()) && maxima.size() == sum_exps.size(),
               "there is a sum_exp for every tile");
    const size_t n_whole = row.size() / kLogitTile;
    for (size_t t = 0; t < n_whole; ++t)
        sum_exps[t] = whole_sum_exp(&row[t * kLogitTile], maxima[t], inverse_temperature);
    if (n_whole < sum_exps.size())
        sum_exps[n_whole] = tile_sum_exp_of(row.subspan(n_whole * kLogitTile), maxima[n_whole],
                                            inverse_temperature);
}

}  // namespace kvik
