// One row of one 256-group of a K type's tile in plain numbers: what the scalar reference and the
// row decoder read.
//
// Adding  a type: its constants (bytes of a 16-row group; elements under one scale, and under one
//         minimum, 0: it has none; what weight bytes have too much) and how a row is read.
#pragma once

#include <cstdint>

#include "kernels/table.h"
#include "kernels/tile_row.h"

namespace kvik {

struct SuperRow {
    int32_t w[kSuperGroup];  // zero point taken off
    float scale[16];         // d * sc of each sub-group, rounded once
    int32_t min[16];         // of each sub-group
    float min_scale;
};

namespace tile_row {

// Bits 2h, 2h + 1 of element k of a quarter's sub-group h.
inline int bit_pair(const uint8_t* quarter, uint32_t h, uint32_t k, uint32_t r) noexcept {
    return quarter[64 * (k / 4) + 4 * r + k % 4] >> (2 * h) & 3;
}

// The bit of element k of 32.
inline int plane_bit(const uint8_t* plane, uint32_t k, uint32_t r) noexcept {
    return plane[4 * r + k % 4] >> (k / 4) & 1;
}

// Of Q4_K and Q5_K: nibbles, and scales and minimums from `at` on.
inline void scaled_nibbles(const uint8_t* group, uint32_t r, uint32_t at, SuperRow& row) noexcept {
    const float d = tile_half(group + at + 256 + 2 * r);
    row.min_scale = tile_half(group + at + 288 + 2 * r);
    for (uint32_t sub = 0; sub < 8; ++sub) {
        row.scale[sub] = d * static_cast<float>(group[at + 16 * sub + r]);
        row.min[sub] = group[at + 128 + 32 * (sub / 2) + 2 * r + sub % 2];
        for (uint32_t k = 0; k < 32; ++k) {
            const uint8_t byte = group[512 * (sub / 2) + 64 * (k / 4) + 4 * r + k % 4];
            row.w[32 * sub + k] = sub % 2 == 0 ? byte & 15 : byte >> 4;
        }
    }
}

// Of Q3_K and Q6_K: signed scales of 16 sub-groups, then d.
inline void signed_scales(const uint8_t* scales, uint32_t r, SuperRow& row) noexcept {
    const float d = tile_half(scales + 256 + 2 * r);
    for (uint32_t sub = 0; sub < 16; ++sub)
        row.scale[sub] = d * static_cast<float>(static_cast<int8_t>(scales[16 * sub + r]));
}

struct Q2_K {
    static constexpr uint32_t kBytes = 1344, kSubGroup = 16, kMinGroup = 16;
    static constexpr int32_t kZero = 0;
    static SuperRow read(const uint8_t* group, uint32_t r) noexcept {
        SuperRow row = {};
        const float d = tile_half(group + 1280 + 2 * r);
        row.min_scale = tile_half(group + 1312 + 2 * r);
        for (uint32_t sub = 0; sub < 16; ++sub) {
            const uint8_t byte = group[1024 + 16 * sub + r];
            row.scale[sub] = d * static_cast<float>(byte & 15);
            row.min[sub] = byte >> 4;
            for (uint32_t k = 0; k < 16; ++k)
                row.w[16 * sub + k] = bit_pair(group + 256 * (sub / 4), sub % 4, k, r);
        }
        return row;
    }
};

struct Q3_K {
    static constexpr uint32_t kBytes = 1824, kSubGroup = 16, kMinGroup = 0;
    static constexpr int32_t kZero = 4;
    static SuperRow read(const uint8_t* group, uint32_t r) noexcept {
        SuperRow row = {};
        signed_scales(group + 1536, r, row);
        for (uint32_t i = 0; i < kSuperGroup; ++i) {
            const int low = bit_pair(group + 256 * (i / 64), i / 16 % 4, i % 16, r);
            const int high = plane_bit(group + 1024 + 64 * (i / 32), i % 32, r);
            row.w[i] = (low | high << 2) - kZero;
        }
        return row;
    }
};

struct Q4_K {
    static constexpr uint32_t kBytes = 2368, kSubGroup = 32, kMinGroup = 32;
    static constexpr int32_t kZero = 0;
    static SuperRow read(const uint8_t* group, uint32_t r) noexcept {
        SuperRow row = {};
        scaled_nibbles(group, r, 2048, row);
        return row;
    }
};

struct Q5_K {
    static constexpr uint32_t kBytes = 2880, kSubGroup = 32, kMinGroup = 32;
    static constexpr int32_t kZero = 0;
    static SuperRow read(const uint8_t* group, uint32_t r) noexcept {
        SuperRow row = {};
        scaled_nibbles(group, r, 2560, row);
        for (uint32_t i = 0; i < kSuperGroup; ++i)
            row.w[i] |= plane_bit(group + 2048 + 64 * (i / 32), i % 32, r) << 4;
        return row;
    }
};

// Low nibbles of a quarter's sub-groups h: vectors 4 (h % 2) + j, low for h < 2; then bit pairs.
struct Q6_K {
    static constexpr uint32_t kBytes = 3360, kSubGroup = 16, kMinGroup = 0;
    static constexpr int32_t kZero = 32;
    static SuperRow read(const uint8_t* group, uint32_t r) noexcept {
        SuperRow row = {};
        signed_scales(group + 3072, r, row);
        for (uint32_t i = 0; i < kSuperGroup; ++i) {
            const uint32_t h = i / 16 % 4, k = i % 16;
            const uint8_t* quarter = group + 768 * (i / 64);
            const uint8_t low = quarter[64 * (4 * (h % 2) + k / 4) + 4 * r + k % 4];
            const int high = bit_pair(quarter + 512, h, k, r);
            row.w[i] = ((h < 2 ? low & 15 : low >> 4) | high << 4) - kZero;
        }
        return row;
    }
};

}  // namespace tile_row
}  // namespace kvik
