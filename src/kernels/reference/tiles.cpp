#include <bit>
#include <limits>

#include "base/exp_terms.h"
#include "kernels/reference/entries.h"
#include "kernels/reference/functions.h"

namespace kvik::reference {
namespace {

// base/exp_terms.h, word by word.
float rounded_exp(float x) noexcept {
    using namespace exp_terms;
    if (!(x >= kFloor)) return 0.0f;
    const float shifted = x * kInvLn2 + kRound;
    const float n = shifted - kRound;
    const float r = (x - n * kLn2High) - n * kLn2Low;
    float p = kPoly[0];
    for (int i = 1; i < 8; ++i) p = p * r + kPoly[i];
    const auto power = static_cast<uint32_t>(static_cast<int32_t>(n)) << 23;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(p) + power);
}

}  // namespace

void tile_maxima(const float* x, uint32_t n, float* maxima) noexcept {
    constexpr float kInf = std::numeric_limits<float>::infinity();
    for (uint32_t first = 0; first < n; first += 16) {
        float maximum = -kInf;
        for (uint32_t i = first; i < n && i < first + 16; ++i) {
            const float value = x[i] == x[i] ? x[i] : kInf;
            if (value > maximum) maximum = value;
        }
        maxima[first / 16] = maximum + 0.0f;  // -0 + 0 = 0
    }
}

void tile_sum_exp(const float* x, uint32_t n, const float* maxima, float inverse_temperature,
                  float* sum_exps) noexcept {
    for (uint32_t first = 0; first < n; first += 16) {
        float lanes[16] = {};
        for (uint32_t i = first; i < n && i < first + 16; ++i)
            lanes[i - first] = rounded_exp((x[i] - maxima[first / 16]) * inverse_temperature);
        sum_exps[first / 16] = tree(lanes);
    }
}

}  // namespace kvik::reference
