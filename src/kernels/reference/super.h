// The scalar reference of the K types (R2 of SPEC.md); entries of kScalarKernels.
#pragma once

#include "kernels/super_row.h"
#include "kernels/table.h"

namespace kvik::reference {

// W: a row reader of super_row.h.
template <class W>
struct Super {
    static void matmul(const uint8_t* tile, uint32_t n_groups, SuperPanel panel, uint32_t c0,
                       uint32_t n, TileOut out) noexcept;
    static void unpack(const uint8_t* tile, uint32_t n_groups, UnpackedSuperGroup* groups) noexcept;
    static void decode(const uint8_t* tile, uint32_t n_groups, float* out) noexcept;
    static void matmul_unpacked(const UnpackedSuperGroup* tile, uint32_t n_groups, SuperPanel panel,
                                uint32_t c0, uint32_t n, TileOut out) noexcept;
    static constexpr TileKernels kernels() {
        return {nullptr, nullptr, decode, matmul, unpack, nullptr};
    }
};

void super_matmul_unpacked(TileType type, const UnpackedSuperGroup* tile, uint32_t n_groups,
                           SuperPanel panel, uint32_t c0, uint32_t n, TileOut out) noexcept;
int super_quantize(const float* x, uint32_t n_groups, SuperPanel panel, uint32_t c) noexcept;

}  // namespace kvik::reference
