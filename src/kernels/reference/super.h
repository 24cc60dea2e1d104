// The scalar reference of the K types (R2 of SPEC.md); entries of kScalarKernels.
#pragma once

#include "kernels/table.h"

namespace kvik::reference {

TileKernels q4_k_kernels() noexcept;
TileKernels q6_k_kernels() noexcept;
void super_matmul_unpacked(TileType type, const UnpackedSuperGroup* tile, uint32_t n_groups,
                           SuperPanel panel, uint32_t c0, uint32_t n, TileOut out) noexcept;
int super_quantize(const float* x, uint32_t n_groups, SuperPanel panel, uint32_t c) noexcept;

}  // namespace kvik::reference
