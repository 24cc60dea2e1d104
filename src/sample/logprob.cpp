#include "sample/logprob.h"

#include <array>
#include <limits>

#include "base/check.h"
#include "base/exact_math.h"
#include "sample/lanes.h"
#include "sample/row.h"

namespace kvik {
namespace {

// Sixteen f64 lanes: element i goes to lane i % 16, ascending.
struct Sum16 {
    std::array<F64x2, 8> lanes = {};

    void add(int vector, F32x4 x) {
        lanes[2 * vector] += low_to_f64(x);
        lanes[2 * vector + 1] += high_to_f64(x);
    }
    double total() const {  // tree 8, 4, 2, 1
        std::array<F64x2, 8> s = lanes;
        for (int half = 4; half >= 1; half /= 2)
            for (int v = 0; v < half; ++v) s[v] += s[v + half];
        return s[0][0] + s[0][1];
    }
};

// Why it is within 2e-6 of the exact logarithm of the sum. With x = l - max rounded to f32 and p
// the exact softmax, the error of the logarithm is at most sum p * (|x| * 2^-24 + 4e-7): the
// rounding of x and exp4's relative error, weighted by what each term contributes. Since |x| = -log
// p - log Z and Z >= 1, sum p |x| <= the entropy <= log(vocab_size) <= 12.5 for 262144
// tokens: 7.5e-7 + 4e-7. The f64 sums and the final logarithm add 1e-12; terms under exp(-86) that
// exp4 drops add 1e-31.
double sum_exp(std::span<const float> row, float max) noexcept {
    const size_t n = row.size();
    Sum16 sum;
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        for (int v = 0; v < 4; ++v) sum.add(v, exp4(load4(row.data() + i + 4 * v) - max));
    if (i < n) {
        std::array<float, 16> rest;
        rest.fill(-std::numeric_limits<float>::infinity());
        for (size_t k = i; k < n; ++k) rest[k - i] = row[k];
        for (int v = 0; v < 4; ++v) sum.add(v, exp4(load4(rest.data() + 4 * v) - max));
    }
    return sum.total();
}

}  // namespace

double log_sum_exp(std::span<const float> row) noexcept {
    const RowMax max = row_max(row);
    if (!max.is_finite()) return std::numeric_limits<double>::quiet_NaN();
    return static_cast<double>(max.max) + exact_log(sum_exp(row, max.max));
}

double log_softmax_at(std::span<const float> row, TokenId token) noexcept {
    KVIK_CHECK(token >= 0 && static_cast<size_t>(token) < row.size(),
               "a token's log-probability is asked of a row that has the token");
    return static_cast<double>(row[static_cast<size_t>(token)]) - log_sum_exp(row);
}

}  // namespace kvik
