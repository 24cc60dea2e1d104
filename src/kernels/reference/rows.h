// The scalar reference of what works on one row of floats (R2, R4, R6 of SPEC.md); entries of
// kScalarKernels.
#pragma once

#include "kernels/table.h"

namespace kvik::reference {

int quantize(const float* x, uint32_t n_groups, QuantPanel panel, uint32_t c) noexcept;
float rms_norm(const float* x, const float* w, float eps, uint32_t n, float* y) noexcept;
float layer_norm(const float* x, const float* w, const float* b, float eps, uint32_t n,
                 float* y) noexcept;
void silu_mul(const float* gate, const float* up, uint32_t n, float* out) noexcept;
void gelu_mul(const float* gate, const float* up, uint32_t n, float* out) noexcept;
void gelu(const float* x, uint32_t n, float* out) noexcept;
void rope_adjacent(const float* row, uint32_t n_dims, float* head) noexcept;
void rope_halves(const float* row, uint32_t n_dims, float* head) noexcept;
void to_half(const float* x, uint32_t n, uint16_t* out) noexcept;

}  // namespace kvik::reference
