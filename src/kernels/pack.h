// Packing: rows of a weight matrix -> tiles of 16 output rows, the one layout of every kernel.
//
// Shape   a tile holds 16 rows x all k. Lane r of every 64-byte vector is row r.
//           SPEC.md, "The layout", lists what the group of each quantised type holds.
//           F16, BF16, F32: per k, 16 values.
//         Rows past the end are zero.
// Source  the layout is derived in SPEC.md.
// Adding  a type: a TileType, a row in both tables of pack.cpp, its row reader (tile_row.h or
//         super_row.h), its unpacking in body/.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/table.h"
#include "tensor/view.h"

namespace kvik {

struct TileTraits {
    TileType type;
    DType dtype;
    uint32_t group;             // k of a group: 32, 256 for the K types, 1 for F16, BF16 and F32
    uint32_t tile_group_bytes;  // bytes of one group of a 16-row tile
    uint32_t zero_shift;        // the zero point is 1 << zero_shift; 0: none
    uint32_t has_min;
};

const TileTraits& tile_traits(TileType type);
std::optional<TileType> tile_type_of(DType dtype);

// A packed matrix: borrowed memory of an arena.
struct PackedMatrix {
    TileType type = TileType::f32;
    uint32_t n_rows = 0;  // outputs
    uint32_t n_cols = 0;  // k, a multiple of the group
    const uint8_t* data = nullptr;

    uint32_t n_tiles() const { return (n_rows + kTileRows - 1) / kTileRows; }
    uint32_t n_groups() const { return n_cols / tile_traits(type).group; }
    uint64_t tile_bytes() const {
        return static_cast<uint64_t>(n_groups()) * tile_traits(type).tile_group_bytes;
    }
    uint64_t n_bytes() const { return n_tiles() * tile_bytes(); }
    const uint8_t* tile(uint32_t t) const { return data + t * tile_bytes(); }
};

// Bytes that pack_tiles writes for a matrix of this type and shape.
uint64_t packed_bytes(TileType type, uint32_t n_rows, uint32_t n_cols);

// Packs rows [16 * tile, 16 * (tile + n_tiles)) of `rows` (row-major in the file's layout, n_rows
// of n_cols elements) to `out`.
void pack_tiles(TileType type, const uint8_t* rows, uint32_t n_rows, uint32_t n_cols, uint32_t tile,
                uint32_t n_tiles, uint8_t* out);

// One row back as f32, exactly the type's decode: [n_cols].
void decode_packed_row(const PackedMatrix& matrix, uint32_t row, float* out);

}  // namespace kvik
