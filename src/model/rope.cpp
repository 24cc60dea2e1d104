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

void Rope::apply(const KernelTable& kernels, const float* row, float* head) const {
    config_.layout == RopeLayout::adjacent ? kernels.rope_adjacent(row, config_.n_dims, head)
                                           : kernels.rope_halves(row, config_.n_dims, head);
}

}  // namespace kvik
