// Tiles of logits for rows that come without: the definition of LogitTiles in portable code.
//
// Shape   row : [vocab_size] f32; maxima, sum_exps : [n_logit_tiles(vocab_size)] f32
// Cost    about 0.2 ns a logit for the maxima, 1 ns for the sum_exps.
// Invariant the bits of the kernels' tile_maxima and tile_sum_exp.
#pragma once

#include <span>

#include "base/logit_tiles.h"

namespace kvik {

void note_maxima(std::span<const float> row, std::span<float> maxima) noexcept;
void note_sum_exp(std::span<const float> row, std::span<const float> maxima,
                  float inverse_temperature, std::span<float> sum_exps) noexcept;

// Of one tile of at most 16 logits.
float tile_maximum(std::span<const float> tile) noexcept;
float tile_sum_exp_of(std::span<const float> tile, float maximum,
                      float inverse_temperature) noexcept;

}  // namespace kvik
