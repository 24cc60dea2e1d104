#include "kernels/pack.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/check.h"
#include "tensor/half.h"
#include "tensor/quant/q4_1.h"
#include "tensor/quant/q8_0.h"

namespace kvik {
namespace {

constexpr std::array<TileTraits, kTileTypes> kTraits = {{
    {TileType::f32, DType::f32, 1, 64, 0, 0},
    {TileType::f16, DType::f16, 1, 32, 0, 0},
    {TileType::q4_1, DType::q4_1, 32, 320, 0, 1},
    {TileType::q8_0, DType::q8_0, 32, 544, 7, 0},
}};

void pack_q4_1(const uint8_t* src, uint32_t r, uint8_t* out) {
    Q4_1Group group;
    std::memcpy(&group, src, sizeof group);
    for (uint32_t k = 0; k < 16; ++k) out[64 * (k / 4) + 4 * r + k % 4] = group.qs[k];
    std::memcpy(out + 256 + 2 * r, &group.d, 2);
    std::memcpy(out + 288 + 2 * r, &group.m, 2);
}

void pack_q8_0(const uint8_t* src, uint32_t r, uint8_t* out) {
    Q8_0Group group;
    std::memcpy(&group, src, sizeof group);
    for (uint32_t k = 0; k < 32; k += 4) {
        uint32_t four = 0;
        std::memcpy(&four, group.q + k, 4);
        four ^= 0x80808080u;
        std::memcpy(out + 16 * k + 4 * r, &four, 4);
    }
    std::memcpy(out + 512 + 2 * r, &group.d, 2);
}

uint16_t load_u16(const uint8_t* p) {
    uint16_t v = 0;
    std::memcpy(&v, p, 2);
    return v;
}

}  // namespace

const TileTraits& tile_traits(TileType type) {
    return kTraits[static_cast<size_t>(type)];
}

std::optional<TileType> tile_type_of(DType dtype) {
    for (const TileTraits& traits : kTraits)
        if (traits.dtype == dtype) return traits.type;
    return std::nullopt;
}

uint64_t packed_bytes(TileType type, uint32_t n_rows, uint32_t n_cols) {
    return PackedMatrix{type, n_rows, n_cols, nullptr}.n_bytes();
}

void pack_tiles(TileType type, const uint8_t* rows, uint32_t n_rows, uint32_t n_cols, uint32_t tile,
                uint32_t n_tiles, uint8_t* out) {
    const TileTraits& traits = tile_traits(type);
    KVIK_CHECK(n_cols % traits.group == 0, "a packed row is whole groups");
    const uint32_t n_groups = n_cols / traits.group;
    const uint64_t row_bytes = dtype_bytes(traits.dtype, n_cols);
    const uint32_t group_bytes = dtype_info(traits.dtype).group_bytes;
    for (uint32_t t = tile; t < tile + n_tiles; ++t) {
        const uint32_t first = t * kTileRows;
        const uint32_t n = std::min(kTileRows, n_rows - first);
        if (n < kTileRows)
            std::memset(out, 0, static_cast<size_t>(n_groups) * traits.tile_group_bytes);
        for (uint32_t r = 0; r < n; ++r) {
            const uint8_t* src = rows + (first + r) * row_bytes;
            uint8_t* dst = out;
            for (uint32_t g = 0; g < n_groups;
                 ++g, src += group_bytes, dst += traits.tile_group_bytes)
                switch (type) {
                    case TileType::f32:
                        std::memcpy(dst + 4 * r, src, 4);
                        break;
                    case TileType::f16:
                        std::memcpy(dst + 2 * r, src, 2);
                        break;
                    case TileType::q4_1:
                        pack_q4_1(src, r, dst);
                        break;
                    case TileType::q8_0:
                        pack_q8_0(src, r, dst);
                        break;
                }
        }
        out += static_cast<uint64_t>(n_groups) * traits.tile_group_bytes;
    }
}

void decode_packed_row(const PackedMatrix& matrix, uint32_t row, float* out) {
    KVIK_CHECK(row < matrix.n_rows, "a row of the matrix");
    const uint32_t r = row % kTileRows;
    const uint8_t* p = matrix.tile(row / kTileRows);
    const uint32_t step = tile_traits(matrix.type).tile_group_bytes;
    for (uint32_t g = 0; g < matrix.n_groups(); ++g, p += step) switch (matrix.type) {
            case TileType::f32:
                std::memcpy(out + g, p + 4 * r, 4);
                break;
            case TileType::f16:
                out[g] = half_to_float(load_u16(p + 2 * r));
                break;
            case TileType::q4_1: {
                const float d = half_to_float(load_u16(p + 256 + 2 * r));
                const float m = half_to_float(load_u16(p + 288 + 2 * r));
                for (uint32_t k = 0; k < 16; ++k) {
                    const uint8_t byte = p[64 * (k / 4) + 4 * r + k % 4];
                    out[32 * g + k] = static_cast<float>(byte & 15) * d + m;
                    out[32 * g + 16 + k] = static_cast<float>(byte >> 4) * d + m;
                }
                break;
            }
            case TileType::q8_0: {
                const float d = half_to_float(load_u16(p + 512 + 2 * r));
                for (uint32_t k = 0; k < 32; ++k)
                    out[32 * g + k] = static_cast<float>(p[64 * (k / 4) + 4 * r + k % 4] - 128) * d;
                break;
            }
        }
}

}  // namespace kvik
