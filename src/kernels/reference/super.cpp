#include "kernels/reference/super.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "kernels/numerics.h"
#include "kernels/super_row.h"

namespace kvik::reference {
namespace {

// R2's step for one 256-group: minimums first, then sub-groups in order, then the token's scale.
template <class W>
float accumulate(float acc, const SuperRow& row, SuperPanel panel, uint64_t at) noexcept {
    const int8_t* q = panel.q + at * kSuperGroup;
    float f = 0.0f;
    if (W::kMin) {
        int32_t sum = 0;
        for (uint32_t i = 0; i < 8; ++i) sum += row.min[i] * panel.nsum32[at * 8 + i];
        f = static_cast<float>(sum) * row.min_scale;
    }
    for (uint32_t sub = 0; sub < kSuperGroup / W::kSubGroup; ++sub) {
        int32_t isum = 0;
        for (uint32_t k = sub * W::kSubGroup; k < (sub + 1) * W::kSubGroup; ++k)
            isum += row.w[k] * q[k];
        f = std::fmaf(static_cast<float>(isum), row.scale[sub], f);
    }
    return std::fmaf(f, panel.d[at], acc);
}

template <class W>
void matmul(const uint8_t* tile, uint32_t n_groups, SuperPanel panel, uint32_t c0, uint32_t n,
            TileOut out) noexcept {
    for (uint32_t r = 0; r < kTileRows; ++r) {
        float acc[kPanelCols] = {};
        for (uint32_t g = 0; g < n_groups; ++g) {
            const SuperRow row = W::read(tile + uint64_t{g} * W::kBytes, r);
            for (uint32_t c = 0; c < n; ++c)
                acc[c] = accumulate<W>(acc[c], row, panel, g * panel.stride + c0 + c);
        }
        for (uint32_t c = 0; c < n; ++c) out.out[c * out.ld + r] = acc[c];
    }
}

template <class W>
void unpack(const uint8_t* tile, uint32_t n_groups, UnpackedSuperGroup* groups) noexcept {
    for (uint32_t g = 0; g < n_groups; ++g)
        for (uint32_t r = 0; r < kTileRows; ++r) {
            const SuperRow row = W::read(tile + uint64_t{g} * W::kBytes, r);
            UnpackedSuperGroup& out = groups[g];
            for (uint32_t k = 0; k < kSuperGroup; ++k)
                out.w[64 * (k / 4) + 4 * r + k % 4] = static_cast<uint8_t>(row.w[k] + W::kZero);
            for (uint32_t sub = 0; sub < kSuperGroup / W::kSubGroup; ++sub)
                out.scale[sub][r] = row.scale[sub];
            for (uint32_t i = 0; i < 8; ++i)
                out.min[i / 2][r][i % 2] = static_cast<int16_t>(row.min[i]);
            out.min_scale[r] = row.min_scale;
        }
}

template <class W>
void decode(const uint8_t* tile, uint32_t n_groups, float* out) noexcept {
    for (uint32_t g = 0; g < n_groups; ++g)
        for (uint32_t r = 0; r < kTileRows; ++r) {
            const SuperRow row = W::read(tile + uint64_t{g} * W::kBytes, r);
            for (uint32_t k = 0; k < kSuperGroup; ++k) {
                float v = row.scale[k / W::kSubGroup] * static_cast<float>(row.w[k]);
                const int32_t min = row.min[k / 32];
                if (W::kMin) v = v - row.min_scale * static_cast<float>(min);
                out[(uint64_t{g} * kSuperGroup + k) * kTileRows + r] = v;
            }
        }
}

template <class W>
void matmul_unpacked(const UnpackedSuperGroup* tile, uint32_t n_groups, SuperPanel panel,
                     uint32_t c0, uint32_t n, TileOut out) noexcept {
    for (uint32_t r = 0; r < kTileRows; ++r)
        for (uint32_t c = 0; c < n; ++c) {
            float acc = 0.0f;
            for (uint32_t g = 0; g < n_groups; ++g) {
                SuperRow row = {};
                for (uint32_t k = 0; k < kSuperGroup; ++k)
                    row.w[k] = tile[g].w[64 * (k / 4) + 4 * r + k % 4] - W::kZero;
                for (uint32_t sub = 0; sub < kSuperGroup / W::kSubGroup; ++sub)
                    row.scale[sub] = tile[g].scale[sub][r];
                for (uint32_t i = 0; W::kMin && i < 8; ++i)
                    row.min[i] = tile[g].min[i / 2][r][i % 2];
                row.min_scale = tile[g].min_scale[r];
                acc = accumulate<W>(acc, row, panel, g * panel.stride + c0 + c);
            }
            out.out[c * out.ld + r] = acc;
        }
}

template <class W>
TileKernels kernels_of() noexcept {
    return {nullptr, nullptr, decode<W>, matmul<W>, unpack<W>};
}

}  // namespace

TileKernels q4_k_kernels() noexcept {
    return kernels_of<tile_row::Q4_K>();
}
TileKernels q6_k_kernels() noexcept {
    return kernels_of<tile_row::Q6_K>();
}

void super_matmul_unpacked(TileType type, const UnpackedSuperGroup* tile, uint32_t n_groups,
                           SuperPanel panel, uint32_t c0, uint32_t n, TileOut out) noexcept {
    if (type == TileType::q4_k)
        matmul_unpacked<tile_row::Q4_K>(tile, n_groups, panel, c0, n, out);
    else
        matmul_unpacked<tile_row::Q6_K>(tile, n_groups, panel, c0, n, out);
}

int super_quantize(const float* x, uint32_t n_groups, SuperPanel panel, uint32_t c) noexcept {
    int finite = 1;
    for (uint32_t g = 0; g < n_groups; ++g, x += kSuperGroup) {
        const uint64_t at = g * panel.stride + c;
        int8_t* q = panel.q + at * kSuperGroup;
        uint32_t top = 0;
        for (uint32_t k = 0; k < kSuperGroup; ++k) {
            const uint32_t bits = std::bit_cast<uint32_t>(x[k]) & 0x7fffffffu;
            if (bits > top) top = bits;
        }
        const float amax = std::bit_cast<float>(top);
        if (top >= 0x7f800000u) finite = 0;
        const bool dead = top >= 0x7f800000u || !(amax >= numerics::kQuantFloor);
        panel.d[at] = dead ? 0.0f : amax / 127.0f;
        const float inverse = dead ? 0.0f : 127.0f / amax;
        for (uint32_t k = 0; k < kSuperGroup; ++k) {
            const float v = dead ? 0.0f : std::nearbyintf(x[k] * inverse);
            q[k] = static_cast<int8_t>(v > 127.0f ? 127.0f : v < -127.0f ? -127.0f : v);
        }
        for (uint32_t i = 0; i < 16; ++i) {
            int32_t sum = 0;
            for (uint32_t k = 0; k < 16; ++k) sum += q[16 * i + k];
            panel.nsum16[at * 16 + i] = -sum;
        }
        for (uint32_t i = 0; i < 8; ++i)
            panel.nsum32[at * 8 + i] = static_cast<int16_t>(panel.nsum16[at * 16 + 2 * i] +
                                                            panel.nsum16[at * 16 + 2 * i + 1]);
    }
    return finite;
}

}  // namespace kvik::reference
