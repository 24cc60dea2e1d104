// What is asked for of some logits' tiles (base/logit_tiles.h), noted by a table's kernels.
//
// Shape   logits : [n] f32, whole tiles but for the end of a row; `tiles` begins at the first.
#pragma once

#include "base/logit_tiles.h"
#include "kernels/table.h"

namespace kvik {

inline void note_tiles(const KernelTable& kernels, const float* logits, uint32_t n,
                       const LogitTiles& tiles) noexcept {
    float* maxima = tiles.maxima.data();
    if (!tiles.maxima.empty()) kernels.tile_maxima(logits, n, maxima);
    if (!tiles.sum_exps.empty())
        kernels.tile_sum_exp(logits, n, maxima, 1.0f, tiles.sum_exps.data());
    if (!tiles.tempered.empty())
        kernels.tile_sum_exp(logits, n, maxima, tiles.inverse_temperature, tiles.tempered.data());
}

}  // namespace kvik
