// The scalar reference of what is noted of tiles of logits (R11 of SPEC.md); entries of
// kScalarKernels.
#pragma once

#include <cstdint>

namespace kvik::reference {

void tile_maxima(const float* x, uint32_t n, float* maxima) noexcept;
void tile_masses(const float* x, uint32_t n, const float* maxima, float inverse_temperature,
                 float* masses) noexcept;

}  // namespace kvik::reference
