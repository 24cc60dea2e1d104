#include "sample/candidates.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/exact_math.h"
#include "sample/lanes.h"
#include "sample/tiles.h"

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

uint64_t sum_exp(std::span<const Candidate> candidates) noexcept {
    uint64_t sum = 0;
    for (const Candidate& c : candidates) sum += c.weight;
    return sum;
}

}  // namespace

uint64_t fixed_weight(const Tempered& tempered, float logit) noexcept {
    const F32x4 e = tempered_exp(all4(logit), tempered.max, 1.0f / tempered.temperature);
    return static_cast<uint64_t>(to_fixed(low_to_f64(e))[0]);
}

// exp(-31.5) * 2^44 is under half a unit: tiles that have no more have no weight.
uint64_t sum_fixed_weights(const Tempered& tempered, const TiledRow& row) noexcept {
    const float inverse = 1.0f / tempered.temperature;
    const float limit = limit_below(tempered, -31.5);
    I64x2 low = {0, 0};
    I64x2 high = {0, 0};
    uint64_t rest = 0;
    for_each_tile_from(row.maxima, limit, [&](size_t t) {
        const std::span<const float> tile = row.tile(t);
        size_t i = 0;
        for (; i + 4 <= tile.size(); i += 4) {
            const F32x4 e = tempered_exp(load4(tile.data() + i), tempered.max, inverse);
            low += to_fixed(low_to_f64(e));
            high += to_fixed(high_to_f64(e));
        }
        for (; i < tile.size(); ++i) rest += fixed_weight(tempered, tile[i]);
        return limit;
    });
    const I64x2 both = low + high;
    return static_cast<uint64_t>(both[0] + both[1]) + rest;
}

// Why 6e-6. A weight is exp4(x), x = (l - max) / T in f32; a term here is exp4(y) exp4(z), y from
// the tile's maximum and z from there to the row's. Each of x, y and z has two roundings, so that
// y + z is within 4 * 2^-24 |x| of x: weighted as in logprob.cpp, 2.4e-7 log(2^19) = 3.2e-6. Three
// exponentials of 4e-7 and the tree of a tile, 2.4e-7, add 1.5e-6. Rounding to units adds half a
// unit a token.
TotalWeight estimate_fixed_weights(const Tempered& tempered, const TiledRow& row,
                                   std::span<const float> sum_exps) noexcept {
    const float inverse = 1.0f / tempered.temperature;
    F64x2 low = {0, 0};
    F64x2 high = {0, 0};
    const auto add = [&](F32x4 maxima, F32x4 sum_exp) {
        const F32x4 e = tempered_exp(maxima, tempered.max, inverse);
        low += low_to_f64(e) * low_to_f64(sum_exp);
        high += high_to_f64(e) * high_to_f64(sum_exp);
    };
    const auto sum_exp_of = [&](size_t t) {
        return row.has_patch(t) ? tile_sum_exp_of(row.tile(t), row.maxima[t], inverse)
                                : sum_exps[t];
    };
    const size_t n_tiles = row.maxima.size();
    size_t t = 0;
    for (; t + 4 <= n_tiles; t += 4) {
        F32x4 sum_exp = load4(&sum_exps[t]);
        if (row.is_patched)
            for (size_t k = 0; k < 4; ++k) sum_exp[k] = sum_exp_of(t + k);
        add(load4(&row.maxima[t]), sum_exp);
    }
    for (; t < n_tiles; ++t) add(all4(row.maxima[t]), F32x4{sum_exp_of(t), 0, 0, 0});
    const F64x2 both = low + high;
    const double estimate = (both[0] + both[1]) * static_cast<double>(1ull << kWeightBits);
    const double error = 6e-6 * estimate + 0.5 * static_cast<double>(row.size()) + 1;
    return {static_cast<uint64_t>(std::max(estimate - error, 1.0)),
            static_cast<uint64_t>(estimate + error)};
}

uint64_t top_p_target(float top_p, uint64_t total) noexcept {
    const double wanted = std::ceil(static_cast<double>(top_p) * static_cast<double>(total));
    return std::clamp(static_cast<uint64_t>(wanted), uint64_t{1}, total);
}

void gather_from(const TiledRow& row, float limit, std::vector<Candidate>& out) {
    out.clear();
    for_each_from(row, limit, [&](TokenId id, float logit) {
        out.push_back({0, logit, id});
        return limit;
    });
}

// Ids ascend, so that once k candidates are held, a later one needs a larger logit than the k-th:
// an equal one has a higher id. The list is cut back to k whenever it has doubled.
void gather_top_k(const TiledRow& row, uint32_t k, float limit, std::vector<Candidate>& out) {
    constexpr size_t kSlack = 256;
    const size_t full = 2 * static_cast<size_t>(k) + kSlack;
    const auto cut = [&] {
        std::nth_element(out.begin(), out.begin() + (k - 1), out.end(), is_before);
        const float kth = out[k - 1].logit;
        out.resize(k);
        return std::nextafter(kth, std::numeric_limits<float>::infinity());
    };
    out.clear();
    for_each_from(row, limit, [&](TokenId id, float logit) {
        out.push_back({0, logit, id});
        if (out.size() == full) limit = cut();
        return limit;
    });
    if (out.size() > k) cut();
}

// Tokens that weigh at most their share of what may be left out, taken together, can all be left
// out: they need not be selected from. The rest is cut at the upper target; if the prefix is under
// the lower one without its last token, which keep_mass leaves at the end, every target between
// cuts there.
void gather_top_p(const TiledRow& row, const Tempered& tempered, float top_p, TotalWeight total,
                  std::vector<Candidate>& out) {
    const uint64_t target = top_p_target(top_p, total.high);
    const uint64_t share = (total.low - std::min(target, total.low)) / row.size();
    // A quarter stands for 0: it rounds to no weight. 1e-5 is more than a weight's relative error.
    const double weight = share == 0 ? 0.25 : static_cast<double>(share);
    const double log_ratio = exact_log(weight / static_cast<double>(1ull << kWeightBits)) - 1e-5;
    gather_from(row, limit_below(tempered, log_ratio), out);
    for (Candidate& c : out) c.weight = fixed_weight(tempered, c.logit);
    keep_mass(target, out);
    if (sum_exp(out) - out.back().weight < top_p_target(top_p, total.low)) return;
    keep_mass(top_p_target(top_p, sum_fixed_weights(tempered, row)), out);
}

void keep_mass(uint64_t target, std::vector<Candidate>& candidates) {
    if (candidates.empty()) return;
    auto low = candidates.begin();
    auto high = candidates.end();
    while (high - low > 1) {  // the token that crosses is in [low, high)
        const auto middle = low + (high - low) / 2;
        std::nth_element(low, middle, high, is_before);
        const uint64_t upper = sum_exp({low, middle});
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
