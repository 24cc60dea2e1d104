// The entries of kScalarKernels, the scalar reference of every kernel: the oracle in tests and the
// fallback on CPUs without AVX2. SPEC.md numbers the rules.
//
// Threads pure functions of their arguments.   Cost  none allocates; table.h gives the shapes.
#pragma once

#include <cstdint>

#include "kernels/super_row.h"
#include "kernels/table.h"

namespace kvik::reference {

// ---- one row of floats: R2, R4 and R6
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

// ---- the K types: R2

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

// ---- attention over each type of KV: R5 and R10

void attend_f16(const AttentionChunk& chunk) noexcept;
void attend_f32(const AttentionChunk& chunk) noexcept;
void attend_q8(const AttentionChunk& chunk) noexcept;
int quantize_group(const float* x, uint32_t n, int8_t* q, float* d) noexcept;
void merge_state(float m, float l, const float* o, uint32_t head_dim, float* into_m, float* into_l,
                 float* into_o) noexcept;

// ---- the maximum and sum of exp per tile of logits: R11

void tile_maxima(const float* x, uint32_t n, float* maxima) noexcept;
void tile_sum_exp(const float* x, uint32_t n, const float* maxima, float inverse_temperature,
                  float* sum_exps) noexcept;

}  // namespace kvik::reference
