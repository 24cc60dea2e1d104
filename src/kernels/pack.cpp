#include "kernels/pack.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/check.h"
#include "kernels/super_row.h"
#include "kernels/tile_row.h"
#include "tensor/quant/q2_k.h"
#include "tensor/quant/q3_k.h"
#include "tensor/quant/q4_0.h"
#include "tensor/quant/q4_1.h"
#include "tensor/quant/q4_k.h"
#include "tensor/quant/q5_0.h"
#include "tensor/quant/q5_1.h"
#include "tensor/quant/q5_k.h"
#include "tensor/quant/q6_k.h"
#include "tensor/quant/q8_0.h"

namespace kvik {
namespace {

constexpr std::array<TileTraits, kTileTypes> kTraits = {{
    {TileType::f32, DType::f32, 1, 64, 0, 0},
    {TileType::f16, DType::f16, 1, 32, 0, 0},
    {TileType::bf16, DType::bf16, 1, 32, 0, 0},
    {TileType::q4_0, DType::q4_0, 32, 288, 3, 0},
    {TileType::q4_1, DType::q4_1, 32, 320, 0, 1},
    {TileType::q5_0, DType::q5_0, 32, 352, 4, 0},
    {TileType::q5_1, DType::q5_1, 32, 384, 0, 1},
    {TileType::q8_0, DType::q8_0, 32, 544, 7, 0},
    {TileType::iq4_nl, DType::iq4_nl, 32, 288, 7, 0},
    {TileType::q2_k, DType::q2_k, 256, 1344, 0, 1},
    {TileType::q3_k, DType::q3_k, 256, 1824, 2, 0},
    {TileType::q4_k, DType::q4_k, 256, 2368, 0, 1},
    {TileType::q5_k, DType::q5_k, 256, 2880, 0, 1},
    {TileType::q6_k, DType::q6_k, 256, 3360, 5, 0},
}};

// Nibbles of one row: 4 vectors, then its scale and, where there is one, its minimum behind `at`.
void pack_nibbles(const uint8_t* qs, uint32_t r, uint8_t* out) {
    for (uint32_t k = 0; k < 16; k += 4) std::memcpy(out + 16 * k + 4 * r, qs + k, 4);
}

// Q4_0 and IQ4_NL.
void pack_q4_0(const uint8_t* src, uint32_t r, uint8_t* out) {
    Q4_0Group group;
    std::memcpy(&group, src, sizeof group);
    pack_nibbles(group.qs, r, out);
    std::memcpy(out + 256 + 2 * r, &group.d, 2);
}

void pack_q4_1(const uint8_t* src, uint32_t r, uint8_t* out) {
    Q4_1Group group;
    std::memcpy(&group, src, sizeof group);
    pack_nibbles(group.qs, r, out);
    std::memcpy(out + 256 + 2 * r, &group.d, 2);
    std::memcpy(out + 288 + 2 * r, &group.m, 2);
}

// A bit of each of 32 weights, bit(k): bit j of byte i in lane r belongs to k = 4j + i.
template <class Bit>
void pack_bit_plane(const Bit& bit, uint32_t r, uint8_t* plane) {
    for (uint32_t i = 0; i < 4; ++i) {
        uint32_t byte = 0;
        for (uint32_t j = 0; j < 8; ++j) byte |= (bit(4 * j + i) & 1u) << j;
        plane[4 * r + i] = static_cast<uint8_t>(byte);
    }
}

void pack_fifth_bits(const uint8_t* bits, uint32_t r, uint8_t* plane) {
    uint32_t qh = 0;
    std::memcpy(&qh, bits, 4);
    pack_bit_plane([qh](uint32_t k) { return qh >> k; }, r, plane);
}

void pack_q5_0(const uint8_t* src, uint32_t r, uint8_t* out) {
    Q5_0Group group;
    std::memcpy(&group, src, sizeof group);
    pack_nibbles(group.qs, r, out);
    pack_fifth_bits(group.qh, r, out + 256);
    std::memcpy(out + 320 + 2 * r, &group.d, 2);
}

void pack_q5_1(const uint8_t* src, uint32_t r, uint8_t* out) {
    Q5_1Group group;
    std::memcpy(&group, src, sizeof group);
    pack_nibbles(group.qs, r, out);
    pack_fifth_bits(group.qh, r, out + 256);
    std::memcpy(out + 320 + 2 * r, &group.d, 2);
    std::memcpy(out + 352 + 2 * r, &group.m, 2);
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

// Bit pairs of 256 weights, two_bits(i): sub-group h of a quarter has bits 2h, 2h + 1 of its vectors.
template <class TwoBits>
void pack_bit_pairs(const TwoBits& two_bits, uint32_t r, uint8_t* out) {
    for (uint32_t quarter = 0; quarter < 4; ++quarter)
        for (uint32_t k = 0; k < 16; ++k) {
            uint32_t byte = 0;
            for (uint32_t h = 0; h < 4; ++h)
                byte |= (two_bits(64 * quarter + 16 * h + k) & 3u) << (2 * h);
            out[256 * quarter + 64 * (k / 4) + 4 * r + k % 4] = static_cast<uint8_t>(byte);
        }
}

void pack_q2_k(const uint8_t* src, uint32_t r, uint8_t* out) {
    Q2_KGroup group;
    std::memcpy(&group, src, sizeof group);
    pack_bit_pairs([&](uint32_t i) { return two_bits(group, static_cast<int>(i)); }, r, out);
    for (uint32_t sub = 0; sub < 16; ++sub) out[1024 + 16 * sub + r] = group.scales[sub];
    std::memcpy(out + 1280 + 2 * r, &group.d, 2);
    std::memcpy(out + 1312 + 2 * r, &group.dmin, 2);
}

void pack_q3_k(const uint8_t* src, uint32_t r, uint8_t* out) {
    Q3_KGroup group;
    std::memcpy(&group, src, sizeof group);
    const auto bits = [&](uint32_t i) {
        return static_cast<uint32_t>(three_bits(group, static_cast<int>(i)));
    };
    pack_bit_pairs(bits, r, out);
    for (uint32_t pair = 0; pair < 8; ++pair)
        pack_bit_plane([&](uint32_t k) { return bits(32 * pair + k) >> 2; }, r,
                       out + 1024 + 64 * pair);
    for (uint32_t sub = 0; sub < 16; ++sub)
        out[1536 + 16 * sub + r] =
            static_cast<uint8_t>(q3_k_scale(group.scales, static_cast<int>(sub)));
    std::memcpy(out + 1792 + 2 * r, &group.d, 2);
}

// Q4_K and Q5_K: nibbles, and from `at` on what is scaled by what.
template <class Group>
void pack_scaled_nibbles(const Group& group, uint32_t r, uint8_t* out, uint32_t at) {
    for (uint32_t pair = 0; pair < 4; ++pair)
        for (uint32_t k = 0; k < 32; k += 4)
            std::memcpy(out + 512 * pair + 16 * k + 4 * r, group.qs + 32 * pair + k, 4);
    for (uint32_t i = 0; i < 8; ++i) {
        const ScaleMin s = k_scale_min(group.scales, static_cast<int>(i));
        out[at + 16 * i + r] = s.scale;
        out[at + 128 + 32 * (i / 2) + 2 * r + i % 2] = s.min;
    }
    std::memcpy(out + at + 256 + 2 * r, &group.d, 2);
    std::memcpy(out + at + 288 + 2 * r, &group.dmin, 2);
}

void pack_q4_k(const uint8_t* src, uint32_t r, uint8_t* out) {
    Q4_KGroup group;
    std::memcpy(&group, src, sizeof group);
    pack_scaled_nibbles(group, r, out, 2048);
}

void pack_q5_k(const uint8_t* src, uint32_t r, uint8_t* out) {
    Q5_KGroup group;
    std::memcpy(&group, src, sizeof group);
    pack_scaled_nibbles(group, r, out, 2560);
    for (uint32_t sub = 0; sub < 8; ++sub)
        pack_bit_plane([&](uint32_t k) { return uint32_t{group.qh[k]} >> sub; }, r,
                       out + 2048 + 64 * sub);
}

void pack_q6_k(const uint8_t* src, uint32_t r, uint8_t* out) {
    Q6_KGroup group;
    std::memcpy(&group, src, sizeof group);
    for (uint32_t sub = 0; sub < 16; ++sub) {
        const uint32_t h = sub % 4;
        uint8_t* quarter = out + 768 * (sub / 4);
        for (uint32_t k = 0; k < 16; ++k) {
            const int q = six_bits(group, static_cast<int>(16 * sub + k));
            uint8_t& low = quarter[64 * (4 * (h % 2) + k / 4) + 4 * r + k % 4];
            uint8_t& high = quarter[512 + 64 * (k / 4) + 4 * r + k % 4];
            const int keep_low = h < 2 ? 0 : low & 15, keep_high = h == 0 ? 0 : high;
            low = static_cast<uint8_t>(keep_low | (q & 15) << (h < 2 ? 0 : 4));
            high = static_cast<uint8_t>(keep_high | (q >> 4) << (2 * h));
        }
        out[3072 + 16 * sub + r] = static_cast<uint8_t>(group.scales[sub]);
    }
    std::memcpy(out + 3328 + 2 * r, &group.d, 2);
}

void pack_f32(const uint8_t* src, uint32_t r, uint8_t* out) {
    std::memcpy(out + 4 * r, src, 4);
}
// F16 and BF16.
void pack_f16(const uint8_t* src, uint32_t r, uint8_t* out) {
    std::memcpy(out + 2 * r, src, 2);
}

// One row of one group as f32: mul, then add, each rounded, as tensor/quant decodes.
template <class W>
void decode_group(const uint8_t* group, uint32_t r, float* out) {
    const GroupRow row = W::read(group, r);
    const bool has_min = kTraits[static_cast<size_t>(W::kType)].has_min != 0;
    for (uint32_t k = 0; k < kGroup; ++k) {
        const float product = static_cast<float>(row.w[k]) * row.scale;
        out[k] = has_min ? product + row.min : product;
    }
}

template <class W>
void decode_super_group(const uint8_t* group, uint32_t r, float* out) {
    const SuperRow row = W::read(group, r);
    for (uint32_t k = 0; k < kSuperGroup; ++k) {
        const float v = row.scale[k / W::kSubGroup] * static_cast<float>(row.w[k]);
        out[k] = v;
        if constexpr (W::kMinGroup != 0) {
            const int32_t min = row.min[k / W::kMinGroup];
            out[k] = v - row.min_scale * static_cast<float>(min);
        }
    }
}

void decode_f32(const uint8_t* group, uint32_t r, float* out) {
    std::memcpy(out, group + 4 * r, 4);
}
void decode_f16(const uint8_t* group, uint32_t r, float* out) {
    *out = tile_half(group + 2 * r);
}
void decode_bf16(const uint8_t* group, uint32_t r, float* out) {
    *out = tile_bfloat(group + 2 * r);
}

// How one row's group goes into a tile and comes out again; by TileType.
struct Codec {
    void (*pack)(const uint8_t* src, uint32_t r, uint8_t* out);
    void (*decode)(const uint8_t* group, uint32_t r, float* out);
};
constexpr std::array<Codec, kTileTypes> kCodecs = {{
    {pack_f32, decode_f32},
    {pack_f16, decode_f16},
    {pack_f16, decode_bf16},
    {pack_q4_0, decode_group<tile_row::Q4_0>},
    {pack_q4_1, decode_group<tile_row::Q4_1>},
    {pack_q5_0, decode_group<tile_row::Q5_0>},
    {pack_q5_1, decode_group<tile_row::Q5_1>},
    {pack_q8_0, decode_group<tile_row::Q8_0>},
    {pack_q4_0, decode_group<tile_row::IQ4_NL>},
    {pack_q2_k, decode_super_group<tile_row::Q2_K>},
    {pack_q3_k, decode_super_group<tile_row::Q3_K>},
    {pack_q4_k, decode_super_group<tile_row::Q4_K>},
    {pack_q5_k, decode_super_group<tile_row::Q5_K>},
    {pack_q6_k, decode_super_group<tile_row::Q6_K>},
}};

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
    const Codec& codec = kCodecs[static_cast<size_t>(type)];
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
            for (uint32_t g = 0; g < n_groups; ++g) {
                codec.pack(src, r, dst);
                src += group_bytes;
                dst += traits.tile_group_bytes;
            }
        }
        out += static_cast<uint64_t>(n_groups) * traits.tile_group_bytes;
    }
}

void decode_packed_row(const PackedMatrix& matrix, uint32_t row, float* out) {
    KVIK_CHECK(row < matrix.n_rows, "a row of the matrix");
    const TileTraits& traits = tile_traits(matrix.type);
    const Codec& codec = kCodecs[static_cast<size_t>(matrix.type)];
    const uint8_t* p = matrix.tile(row / kTileRows);
    for (uint32_t g = 0; g < matrix.n_groups(); ++g, p += traits.tile_group_bytes)
        codec.decode(p, row % kTileRows, out + uint64_t{g} * traits.group);
}

}  // namespace kvik
