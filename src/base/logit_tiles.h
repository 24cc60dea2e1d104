// LogitTiles: what is noted of each 16 logits of a row while they are in cache, so that picking a
// token and its log-probability look at a sixteenth of the row.
//
// Shape   maxima, sum_exps, tempered : [n_logit_tiles(vocab_size)] f32; the last tile may be short.
// Owner   whoever asks; an empty span is not asked for. Masses need the maxima.
// Invariant a tile's numbers depend on its own logits alone (kernels/SPEC.md, R11), whoever notes
//         them: a model in the pass over its head, or sampling from a row that was kept.
#pragma once

#include <cstddef>
#include <span>

namespace kvik {

inline constexpr size_t kLogitTile = 16;

inline constexpr size_t n_logit_tiles(size_t vocab_size) noexcept {
    return (vocab_size + kLogitTile - 1) / kLogitTile;
}

struct LogitTiles {
    std::span<float> maxima;    // the largest logit; +inf if one is NaN; never -0
    std::span<float> sum_exps;  // sum of exp(logit - maximum)
    std::span<float> tempered;  // sum of exp((logit - maximum) * inverse_temperature)
    float inverse_temperature = 1;

    // Those of the logits from `first`, a multiple of 16.
    LogitTiles from(size_t first) const {
        const size_t tile = first / kLogitTile;
        const auto cut = [tile](std::span<float> s) { return s.empty() ? s : s.subspan(tile); };
        return {cut(maxima), cut(sum_exps), cut(tempered), inverse_temperature};
    }
};

}  // namespace kvik
