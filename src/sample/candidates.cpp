#include "sample/candidates.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/exact_math.h"
#include "sample/lanes.h"
#include "sample/row.h"

namespace kvik {
namespace {

// Adding it to a number in [0, 1] leaves that number in units of 2^-44 in the low bits.
constexpr double kToFixed = 1.5 * (1ull << (52 - kWeightBits));

I64x2 to_fixed(F64x2 x) noexcept {
    return reinterpret_cast<I64x2>(x + kToFixed) - std::bit_cast<int64_t>(kToFixed);
}

F32x4 tempered_exp(F32x4 logits, float max, float inverse_temperature) noexcept {
    return exp4((logits - max) * inverse_temperature);
}

uint64_t mass(std::span<const Candidate> candidates) noexcept {
    uint64_t sum = 0;
    for (const Candidate& c : candidates) sum += c.weight;
    return sum;
}

}  // namespace

uint64_t fixed_weight(const Tempered& tempered, float logit) noexcept {
    const F32x4 e = tempered_exp(all4(logit), tempered.max, 1.0f / tempered.temperature);
    return static_cast<uint64_t>(to_fixed(low_to_f64(e))[0]);
}

uint64_t sum_fixed_weights(const Tempered& tempered, std::span<const float> row) noexcept {
    const float inverse = 1.0f / tempered.temperature;
    I64x2 low = {0, 0};
    I64x2 high = {0, 0};
    size_t i = 0;
    for (; i + 4 <= row.size(); i += 4) {
        const F32x4 e = tempered_exp(load4(row.data() + i), tempered.max, inverse);
        low += to_fixed(low_to_f64(e));
        high += to_fixed(high_to_f64(e));
    }
    const I64x2 both = low + high;
    auto sum = static_cast<uint64_t>(both[0] + both[1]);
    for (; i < row.size(); ++i) sum += fixed_weight(tempered, row[i]);
    return sum;
}

uint64_t top_p_target(float top_p, uint64_t total) noexcept {
    const double wanted = std::ceil(static_cast<double>(top_p) * static_cast<double>(total));
    return std::clamp(static_cast<uint64_t>(wanted), uint64_t{1}, total);
}

void gather_from(std::span<const float> row, float limit, std::vector<Candidate>& out) {
    out.clear();
    for_each_from(row, limit, [&](TokenId id) {
        out.push_back({0, row[id], id});
        return limit;
    });
}

// Ids ascend, so that once k candidates are held, a later one needs a larger logit than the k-th:
// an equal one has a higher id. The list is cut back to k whenever it has doubled.
void gather_top_k(std::span<const float> row, uint32_t k, float limit,
                  std::vector<Candidate>& out) {
    constexpr size_t kSlack = 256;
    const size_t full = 2 * static_cast<size_t>(k) + kSlack;
    const auto cut = [&] {
        std::nth_element(out.begin(), out.begin() + (k - 1), out.end(), is_before);
        const float kth = out[k - 1].logit;
        out.resize(k);
        return std::nextafter(kth, std::numeric_limits<float>::infinity());
    };
    out.clear();
    for_each_from(row, limit, [&](TokenId id) {
        out.push_back({0, row[id], id});
        if (out.size() == full) limit = cut();
        return limit;
    });
    if (out.size() > k) cut();
}

void keep_mass(uint64_t target, std::vector<Candidate>& candidates) {
    if (candidates.empty()) return;
    auto low = candidates.begin();
    auto high = candidates.end();
    while (high - low > 1) {  // the token that crosses is in [low, high)
        const auto middle = low + (high - low) / 2;
        std::nth_element(low, middle, high, is_before);
        const uint64_t upper = mass({low, middle});
        if (upper >= target) {
            high = middle;
        } else {
            target -= upper;
            low = middle;
        }
    }
    candidates.resize(static_cast<size_t>(low - candidates.begin()) + 1);
}

void keep_min_p(const Tempered& tempered, float min_p, std::vector<Candidate>& candidates) {
    const double t = tempered.temperature;
    const double floor = exact_log(min_p);
    const double max = tempered.max / t;
    std::erase_if(candidates, [&](const Candidate& c) { return !(c.logit / t - max >= floor); });
}

// The margin covers what f64 rounds in l / T and f32 in the limit: 1e-6 of each magnitude.
float limit_below(const Tempered& tempered, double log_ratio) noexcept {
    const double distance = -log_ratio * tempered.temperature;
    const double margin = 1e-6 * (1 + std::fabs(tempered.max) + distance);
    const double limit = tempered.max - distance - margin;
    return static_cast<float>(std::max(limit, static_cast<double>(kLowestLogit)));
}

}  // namespace kvik
