// The scalar reference: plain loops in exactly the order that SPEC.md prescribes. It is the oracle
// of every instruction set, and what runs where nothing faster does.
#include <bit>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <utility>

#include "kernels/pack.h"
#include "kernels/reference/entries.h"
#include "kernels/reference/functions.h"
#include "kernels/table.h"
#include "kernels/tile_row.h"
#include "tensor/half.h"

namespace kvik {
namespace {

// ---- weights --------------------------------------------------------------------------------

// R2's step for one group: acc = fma(float(isum) * da, dw, acc), then the minimum.
float accumulate(float acc, const GroupRow& row, QuantPanel panel, uint64_t at,
                 bool has_min) noexcept {
    const int8_t* q = panel.q + at * kGroup;
    int32_t isum = 0;
    for (uint32_t k = 0; k < kGroup; ++k) isum += row.w[k] * q[k];
    acc = std::fmaf(static_cast<float>(isum) * panel.d[at], row.scale, acc);
    if (has_min) acc = std::fmaf(row.min, panel.u[at], acc);
    return acc;
}

template <class W>
void matmul(const uint8_t* tile, uint32_t n_groups, QuantPanel panel, uint32_t c0, uint32_t n,
            TileOut out) noexcept {
    const TileTraits& traits = tile_traits(W::kType);
    for (uint32_t r = 0; r < kTileRows; ++r) {
        float acc[kPanelCols] = {};
        for (uint32_t g = 0; g < n_groups; ++g) {
            const GroupRow row = W::read(tile + uint64_t{g} * traits.tile_group_bytes, r);
            for (uint32_t c = 0; c < n; ++c)
                acc[c] =
                    accumulate(acc[c], row, panel, g * panel.stride + c0 + c, traits.has_min != 0);
        }
        for (uint32_t c = 0; c < n; ++c) out.out[c * out.ld + r] = acc[c];
    }
}

template <class W>
void unpack(const uint8_t* tile, uint32_t n_groups, UnpackedGroup* groups) noexcept {
    const TileTraits& traits = tile_traits(W::kType);
    const int32_t zero = traits.zero_shift == 0 ? 0 : 1 << traits.zero_shift;
    for (uint32_t g = 0; g < n_groups; ++g)
        for (uint32_t r = 0; r < kTileRows; ++r) {
            const GroupRow row = W::read(tile + uint64_t{g} * traits.tile_group_bytes, r);
            for (uint32_t k = 0; k < kGroup; ++k)
                groups[g].w[64 * (k / 4) + 4 * r + k % 4] = static_cast<uint8_t>(row.w[k] + zero);
            groups[g].scale[r] = row.scale;
            groups[g].min[r] = row.min;
        }
}

template <class W>
void decode(const uint8_t* tile, uint32_t n_groups, float* out) noexcept {
    const TileTraits& traits = tile_traits(W::kType);
    for (uint32_t g = 0; g < n_groups; ++g)
        for (uint32_t r = 0; r < kTileRows; ++r) {
            const GroupRow row = W::read(tile + uint64_t{g} * traits.tile_group_bytes, r);
            for (uint32_t k = 0; k < kGroup; ++k) {
                const float product = static_cast<float>(row.w[k]) * row.scale;
                out[(g * kGroup + k) * kTileRows + r] =
                    traits.has_min != 0 ? product + row.min : product;
            }
        }
}

template <class W>
constexpr TileKernels kernels_of() {
    return {matmul<W>, unpack<W>, decode<W>, nullptr, nullptr, nullptr};
}

void decode_f32(const uint8_t* tile, uint32_t n_groups, float* out) noexcept {
    std::memcpy(out, tile, static_cast<size_t>(n_groups) * 64);
}

void decode_f16(const uint8_t* tile, uint32_t n_groups, float* out) noexcept {
    for (uint64_t i = 0; i < static_cast<uint64_t>(n_groups) * kTileRows; ++i)
        out[i] = tile_half(tile + 2 * i);
}

void decode_bf16(const uint8_t* tile, uint32_t n_groups, float* out) noexcept {
    for (uint64_t i = 0; i < static_cast<uint64_t>(n_groups) * kTileRows; ++i)
        out[i] = tile_bfloat(tile + 2 * i);
}

void matmul_unpacked(TileType type, const UnpackedGroup* a, const UnpackedGroup* b,
                     uint32_t n_groups, QuantPanel panel, uint32_t c0, uint32_t n, TileOut out_a,
                     TileOut out_b) noexcept {
    const TileTraits& traits = tile_traits(type);
    const int32_t zero = traits.zero_shift == 0 ? 0 : 1 << traits.zero_shift;
    for (const auto& [groups, out] : {std::pair{a, out_a}, std::pair{b, out_b}}) {
        if (!groups) continue;
        for (uint32_t r = 0; r < kTileRows; ++r)
            for (uint32_t c = 0; c < n; ++c) {
                float acc = 0.0f;
                for (uint32_t g = 0; g < n_groups; ++g) {
                    GroupRow row;
                    for (uint32_t k = 0; k < kGroup; ++k)
                        row.w[k] = groups[g].w[64 * (k / 4) + 4 * r + k % 4] - zero;
                    row.scale = groups[g].scale[r];
                    row.min = groups[g].min[r];
                    acc =
                        accumulate(acc, row, panel, g * panel.stride + c0 + c, traits.has_min != 0);
                }
                out.out[c * out.ld + r] = acc;
            }
    }
}

// R3 over weights [k][16] that `decode` makes f32, four bytes a value or two.
template <void (*kDecode)(const uint8_t*, uint32_t, float*), uint32_t kBytes>
void matmul_floats(const uint8_t* tile, uint32_t k, const float* x, uint32_t stride, uint32_t n,
                   TileOut out) noexcept {
    float acc[kPanelCols][kTileRows] = {};
    for (uint32_t i = 0; i < k; ++i) {
        float w[kTileRows];
        kDecode(tile + uint64_t{i} * kTileRows * kBytes, 1, w);
        for (uint32_t c = 0; c < n; ++c)
            for (uint32_t r = 0; r < kTileRows; ++r)
                acc[c][r] = std::fmaf(w[r], x[uint64_t{i} * stride + c], acc[c][r]);
    }
    for (uint32_t c = 0; c < n; ++c)
        for (uint32_t r = 0; r < kTileRows; ++r) out.out[c * out.ld + r] = acc[c][r];
}

void matmul_f32(const float* tile, uint32_t k, const float* x, uint32_t stride, uint32_t n,
                TileOut out) noexcept {
    matmul_floats<decode_f32, 4>(reinterpret_cast<const uint8_t*>(tile), k, x, stride, n, out);
}

}  // namespace

constinit const KernelTable kScalarKernels = {
    "scalar",
    {{nullptr, nullptr, decode_f32, nullptr, nullptr, matmul_floats<decode_f32, 4>},
     {nullptr, nullptr, decode_f16, nullptr, nullptr, matmul_floats<decode_f16, 2>},
     {nullptr, nullptr, decode_bf16, nullptr, nullptr, matmul_floats<decode_bf16, 2>},
     kernels_of<tile_row::Q4_0>(),
     kernels_of<tile_row::Q4_1>(),
     kernels_of<tile_row::Q5_0>(),
     kernels_of<tile_row::Q5_1>(),
     kernels_of<tile_row::Q8_0>(),
     kernels_of<tile_row::IQ4_NL>(),
     reference::Super<tile_row::Q2_K>::kernels(),
     reference::Super<tile_row::Q3_K>::kernels(),
     reference::Super<tile_row::Q4_K>::kernels(),
     reference::Super<tile_row::Q5_K>::kernels(),
     reference::Super<tile_row::Q6_K>::kernels()},
    matmul_unpacked,
    reference::super_matmul_unpacked,
    matmul_f32,
    reference::quantize,
    reference::super_quantize,
    reference::rms_norm,
    reference::layer_norm,
    reference::silu_mul,
    reference::gelu_mul,
    reference::gelu,
    reference::rope_adjacent,
    reference::rope_halves,
    reference::to_half,
    reference::attend_f16,
    reference::attend_f32,
    reference::attend_q8,
    reference::quantize_group,
    reference::merge_state,
    reference::tile_maxima,
    reference::tile_sum_exp,
};

}  // namespace kvik
