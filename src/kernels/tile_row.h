// One row of one group of a tile in plain numbers: what the scalar reference and the row decoder
// read. Scalar on purpose; the instruction sets have their own unpacking.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "kernels/table.h"
#include "tensor/half.h"
#include "tensor/quant/iq4_nl.h"

namespace kvik {

// The integers with the zero point taken off, the scale, the minimum.
struct GroupRow {
    int32_t w[kGroup];
    float scale, min;
};

inline float tile_half(const uint8_t* p) noexcept {
    uint16_t h = 0;
    std::memcpy(&h, p, 2);
    return half_to_float(h);
}

inline float tile_bfloat(const uint8_t* p) noexcept {
    uint16_t h = 0;
    std::memcpy(&h, p, 2);
    return std::bit_cast<float>(uint32_t{h} << 16);
}

namespace tile_row {

inline void nibbles(const uint8_t* group, uint32_t r, int32_t zero, GroupRow& row) noexcept {
    for (uint32_t k = 0; k < 16; ++k) {
        const uint8_t byte = group[64 * (k / 4) + 4 * r + k % 4];
        row.w[k] = (byte & 15) - zero;
        row.w[k + 16] = (byte >> 4) - zero;
    }
}

inline void fifth_bits(const uint8_t* plane, uint32_t r, GroupRow& row) noexcept {
    for (uint32_t k = 0; k < kGroup; ++k) row.w[k] += (plane[4 * r + k % 4] >> (k / 4) & 1) << 4;
}

struct Q4_0 {
    static constexpr TileType kType = TileType::q4_0;
    static GroupRow read(const uint8_t* group, uint32_t r) noexcept {
        GroupRow row;
        nibbles(group, r, 8, row);
        row.scale = tile_half(group + 256 + 2 * r);
        row.min = 0.0f;
        return row;
    }
};

struct Q4_1 {
    static constexpr TileType kType = TileType::q4_1;
    static GroupRow read(const uint8_t* group, uint32_t r) noexcept {
        GroupRow row;
        nibbles(group, r, 0, row);
        row.scale = tile_half(group + 256 + 2 * r);
        row.min = tile_half(group + 288 + 2 * r);
        return row;
    }
};

struct Q5_0 {
    static constexpr TileType kType = TileType::q5_0;
    static GroupRow read(const uint8_t* group, uint32_t r) noexcept {
        GroupRow row;
        nibbles(group, r, 16, row);
        fifth_bits(group + 256, r, row);
        row.scale = tile_half(group + 320 + 2 * r);
        row.min = 0.0f;
        return row;
    }
};

struct Q5_1 {
    static constexpr TileType kType = TileType::q5_1;
    static GroupRow read(const uint8_t* group, uint32_t r) noexcept {
        GroupRow row;
        nibbles(group, r, 0, row);
        fifth_bits(group + 256, r, row);
        row.scale = tile_half(group + 320 + 2 * r);
        row.min = tile_half(group + 352 + 2 * r);
        return row;
    }
};

struct Q8_0 {
    static constexpr TileType kType = TileType::q8_0;
    static GroupRow read(const uint8_t* group, uint32_t r) noexcept {
        GroupRow row;
        for (uint32_t k = 0; k < kGroup; ++k)
            row.w[k] = static_cast<int32_t>(group[64 * (k / 4) + 4 * r + k % 4]) - 128;
        row.scale = tile_half(group + 512 + 2 * r);
        row.min = 0.0f;
        return row;
    }
};

struct IQ4_NL {
    static constexpr TileType kType = TileType::iq4_nl;
    static GroupRow read(const uint8_t* group, uint32_t r) noexcept {
        GroupRow row;
        nibbles(group, r, 0, row);
        for (int32_t& w : row.w) w = kIq4NlValues[w];
        row.scale = tile_half(group + 256 + 2 * r);
        row.min = 0.0f;
        return row;
    }
};

}  // namespace tile_row
}  // namespace kvik
