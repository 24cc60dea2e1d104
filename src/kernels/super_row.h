// One row of one 256-group of a K type's tile in plain numbers: what the scalar reference and the
// row decoder read.
#pragma once

#include <cstdint>

#include "kernels/table.h"
#include "kernels/tile_row.h"

namespace kvik {

struct SuperRow {
    int32_t w[kSuperGroup];  // zero point taken off
    float scale[16];         // d * sc of each sub-group, rounded once
    int32_t min[8];          // of each sub-group of 32; types without minimums: 0
    float min_scale;
};

namespace tile_row {

struct Q4_K {
    static constexpr TileType kType = TileType::q4_k;
    static constexpr uint32_t kBytes = 2368, kSubGroup = 32;
    static constexpr int32_t kZero = 0;
    static constexpr bool kMin = true;
    static SuperRow read(const uint8_t* group, uint32_t r) noexcept {
        SuperRow row;
        const float d = tile_half(group + 2304 + 2 * r);
        row.min_scale = tile_half(group + 2336 + 2 * r);
        for (uint32_t sub = 0; sub < 8; ++sub) {
            row.scale[sub] = d * static_cast<float>(group[2048 + 16 * sub + r]);
            row.min[sub] = group[2176 + 32 * (sub / 2) + 2 * r + sub % 2];
            for (uint32_t k = 0; k < 32; ++k) {
                const uint8_t byte = group[512 * (sub / 2) + 64 * (k / 4) + 4 * r + k % 4];
                row.w[32 * sub + k] = sub % 2 == 0 ? byte & 15 : byte >> 4;
            }
        }
        return row;
    }
};

struct Q6_K {
    static constexpr TileType kType = TileType::q6_k;
    static constexpr uint32_t kBytes = 3360, kSubGroup = 16;
    static constexpr int32_t kZero = 32;
    static constexpr bool kMin = false;
    static SuperRow read(const uint8_t* group, uint32_t r) noexcept {
        SuperRow row = {};
        const float d = tile_half(group + 3328 + 2 * r);
        for (uint32_t sub = 0; sub < 16; ++sub) {
            const uint32_t h = sub % 4;
            const uint8_t* quarter = group + 768 * (sub / 4);
            row.scale[sub] =
                d * static_cast<float>(static_cast<int8_t>(group[3072 + 16 * sub + r]));
            for (uint32_t k = 0; k < 16; ++k) {
                const uint32_t j = k / 4, at = 4 * r + k % 4;
                const uint8_t low = quarter[64 * (4 * (h % 2) + j) + at];
                const int high = quarter[512 + 64 * j + at] >> (2 * h) & 3;
                row.w[16 * sub + k] = ((h < 2 ? low & 15 : low >> 4) | high << 4) - 32;
            }
        }
        return row;
    }
};

}  // namespace tile_row
}  // namespace kvik
