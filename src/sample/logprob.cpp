#include "sample/logprob.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/check.h"
#include "base/exact_math.h"
#include "sample/lanes.h"
#include "sample/row.h"
#include "sample/tiles.h"

namespace kvik {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr size_t kTilesAtOnce = 16;

// Sixteen f64 lanes: tile t goes to lane t % 16, ascending.
//
// Why the logarithm of it is within 2e-6 of the exact one. With m the maximum of a tile, x = (l - m)
// and z = (m - max), each rounded to f32, and p the exact softmax, the error of the logarithm is at
// most sum p * (|x + z| * 2^-24 + 2 * 4e-7 + 4 * 2^-24): the rounding of x and z, of one sign; two
// exponentials; the four levels of a tile's tree. Since |x + z| = -log p - log Z and Z >= 1, sum p
// |x + z| <= the entropy <= log(vocab_size) <= 12.5 for 262144 tokens: 7.5e-7 + 8e-7 + 2.4e-7.
// The f64 sums and the final logarithm add 1e-12; terms under exp(-86) that exp4 drops add 1e-31.
class TileSum {
  public:
    explicit TileSum(float max) : max_(max) {}

    void add(const float* maxima, const float* sum_exps) {  // of 16 tiles
        for (int v = 0; v < 4; ++v) {
            const F32x4 e = exp4(load4(maxima + 4 * v) - max_);
            const F32x4 sum_exp = load4(sum_exps + 4 * v);
            lanes_[2 * v] += low_to_f64(e) * low_to_f64(sum_exp);
            lanes_[2 * v + 1] += high_to_f64(e) * high_to_f64(sum_exp);
        }
    }
    double log() const {  // tree 8, 4, 2, 1
        std::array<F64x2, 8> s = lanes_;
        for (int half = 4; half >= 1; half /= 2)
            for (int v = 0; v < half; ++v) s[v] += s[v + half];
        return static_cast<double>(max_) + exact_log(s[0][0] + s[0][1]);
    }

  private:
    float max_;
    std::array<F64x2, 8> lanes_ = {};
};

// Sixteen tiles, of which the last ones may not be there: they weigh nothing.
struct SomeTiles {
    std::array<float, kTilesAtOnce> maxima;
    std::array<float, kTilesAtOnce> sum_exps = {};

    SomeTiles() { maxima.fill(-kInf); }
};

}  // namespace

double log_sum_exp(const LogitTiles& tiles) noexcept {
    const size_t n_tiles = tiles.maxima.size();
    KVIK_CHECK(tiles.sum_exps.size() == n_tiles,
               "a log-probability needs the sum_exps of all tiles");
    const float max = largest({{}, tiles.maxima});
    if (!is_sampleable(max)) return std::numeric_limits<double>::quiet_NaN();
    TileSum sum(max);
    size_t t = 0;
    for (; t + kTilesAtOnce <= n_tiles; t += kTilesAtOnce)
        sum.add(&tiles.maxima[t], &tiles.sum_exps[t]);
    if (t < n_tiles) {
        SomeTiles rest;
        std::copy(tiles.maxima.begin() + static_cast<std::ptrdiff_t>(t), tiles.maxima.end(),
                  rest.maxima.begin());
        std::copy(tiles.sum_exps.begin() + static_cast<std::ptrdiff_t>(t), tiles.sum_exps.end(),
                  rest.sum_exps.begin());
        sum.add(rest.maxima.data(), rest.sum_exps.data());
    }
    return sum.log();
}

double log_sum_exp(std::span<const float> row) noexcept {
    constexpr size_t kAtOnce = kTilesAtOnce * kLogitTile;
    const auto part = [&](size_t i) { return row.subspan(i, std::min(kAtOnce, row.size() - i)); };
    float max = -kInf;
    for (size_t i = 0; i < row.size(); i += kAtOnce) {
        SomeTiles some;
        note_maxima(part(i), std::span(some.maxima).first(n_logit_tiles(part(i).size())));
        max = std::max(max, largest({{}, some.maxima}));
    }
    if (!is_sampleable(max)) return std::numeric_limits<double>::quiet_NaN();
    TileSum sum(max);
    for (size_t i = 0; i < row.size(); i += kAtOnce) {
        SomeTiles some;
        const auto maxima = std::span(some.maxima).first(n_logit_tiles(part(i).size()));
        note_maxima(part(i), maxima);
        note_sum_exp(part(i), maxima, 1.0f, std::span(some.sum_exps).first(maxima.size()));
        sum.add(some.maxima.data(), some.sum_exps.data());
    }
    return sum.log();
}

double log_softmax_at(std::span<const float> row, TokenId token, const LogitTiles& tiles) noexcept {
    KVIK_CHECK(token >= 0 && static_cast<size_t>(token) < row.size(),
               "a token's log-probability is asked of a row that has the token");
    const double sum = tiles.sum_exps.empty() ? log_sum_exp(row) : log_sum_exp(tiles);
    return static_cast<double>(row[static_cast<size_t>(token)]) - sum;
}

}  // namespace kvik
