#include <bit>
#include <cmath>
#include <cstring>

#include "kernels/numerics.h"
#include "kernels/reference/entries.h"
#include "kernels/super_row.h"

namespace kvik::reference {
namespace {

// R2's step for one 256-group: minimums first, then sub-groups in order, then the token's scale.
template <class W>
float accumulate(float acc, const SuperRow& row, SuperPanel panel, uint64_t at) noexcept {
    const int8_t* q = panel.q + at * kSuperGroup;
    float f = 0.0f;
    if constexpr (W::kMinGroup != 0) {
        int32_t sum = 0;
        for (uint32_t i = 0; i < kSuperGroup / W::kMinGroup; ++i)
            sum += row.min[i] *
                   (W::kMinGroup == 16 ? panel.nsum16[at * 16 + i] : panel.nsum32[at * 8 + i]);
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

// Where an unpacked group keeps the minimum of sub-group i of row r.
template <class W>
uint8_t* min_at(UnpackedSuperGroup& group, uint32_t i, uint32_t r) noexcept {
    return group.min + (W::kMinGroup == 16 ? 16 * i + r : 64 * (i / 2) + 4 * r + 2 * (i % 2));
}

}  // namespace

template <class W>
void Super<W>::matmul(const uint8_t* tile, uint32_t n_groups, SuperPanel panel, uint32_t c0,
                      uint32_t n, TileOut out) noexcept {
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
void Super<W>::unpack(const uint8_t* tile, uint32_t n_groups, UnpackedSuperGroup* groups) noexcept {
    for (uint32_t g = 0; g < n_groups; ++g)
        for (uint32_t r = 0; r < kTileRows; ++r) {
            const SuperRow row = W::read(tile + uint64_t{g} * W::kBytes, r);
            UnpackedSuperGroup& out = groups[g];
            for (uint32_t k = 0; k < kSuperGroup; ++k)
                out.w[64 * (k / 4) + 4 * r + k % 4] = static_cast<uint8_t>(row.w[k] + W::kZero);
            for (uint32_t sub = 0; sub < kSuperGroup / W::kSubGroup; ++sub)
                out.scale[sub][r] = row.scale[sub];
            if constexpr (W::kMinGroup != 0)
                for (uint32_t i = 0; i < kSuperGroup / W::kMinGroup; ++i) {
                    uint8_t* min = min_at<W>(out, i, r);
                    min[0] = static_cast<uint8_t>(row.min[i]);
                    if (W::kMinGroup == 32) min[1] = 0;
                }
            out.min_scale[r] = row.min_scale;
        }
}

template <class W>
void Super<W>::decode(const uint8_t* tile, uint32_t n_groups, float* out) noexcept {
    for (uint32_t g = 0; g < n_groups; ++g)
        for (uint32_t r = 0; r < kTileRows; ++r) {
            const SuperRow row = W::read(tile + uint64_t{g} * W::kBytes, r);
            for (uint32_t k = 0; k < kSuperGroup; ++k) {
                float v = row.scale[k / W::kSubGroup] * static_cast<float>(row.w[k]);
                if constexpr (W::kMinGroup != 0) {
                    const int32_t min = row.min[k / W::kMinGroup];
                    v = v - row.min_scale * static_cast<float>(min);
                }
                out[(uint64_t{g} * kSuperGroup + k) * kTileRows + r] = v;
            }
        }
}

template <class W>
void Super<W>::matmul_unpacked(const UnpackedSuperGroup* tile, uint32_t n_groups, SuperPanel panel,
                               uint32_t c0, uint32_t n, TileOut out) noexcept {
    for (uint32_t r = 0; r < kTileRows; ++r)
        for (uint32_t c = 0; c < n; ++c) {
            float acc = 0.0f;
            for (uint32_t g = 0; g < n_groups; ++g) {
                UnpackedSuperGroup group = tile[g];
                SuperRow row = {};
                for (uint32_t k = 0; k < kSuperGroup; ++k)
                    row.w[k] = group.w[64 * (k / 4) + 4 * r + k % 4] - W::kZero;
                for (uint32_t sub = 0; sub < kSuperGroup / W::kSubGroup; ++sub)
                    row.scale[sub] = group.scale[sub][r];
                if constexpr (W::kMinGroup != 0)
                    for (uint32_t i = 0; i < kSuperGroup / W::kMinGroup; ++i)
                        row.min[i] = *min_at<W>(group, i, r);
                row.min_scale = group.min_scale[r];
                acc = accumulate<W>(acc, row, panel, g * panel.stride + c0 + c);
            }
            out.out[c * out.ld + r] = acc;
        }
}

template struct Super<tile_row::Q2_K>;
template struct Super<tile_row::Q3_K>;
template struct Super<tile_row::Q4_K>;
template struct Super<tile_row::Q5_K>;
template struct Super<tile_row::Q6_K>;

void super_matmul_unpacked(TileType type, const UnpackedSuperGroup* tile, uint32_t n_groups,
                           SuperPanel panel, uint32_t c0, uint32_t n, TileOut out) noexcept {
    const auto run = [&]<class W>(W) {
        Super<W>::matmul_unpacked(tile, n_groups, panel, c0, n, out);
    };
    if (type == TileType::q2_k) return run(tile_row::Q2_K{});
    if (type == TileType::q3_k) return run(tile_row::Q3_K{});
    if (type == TileType::q4_k) return run(tile_row::Q4_K{});
    if (type == TileType::q5_k) return run(tile_row::Q5_K{});
    run(tile_row::Q6_K{});
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
