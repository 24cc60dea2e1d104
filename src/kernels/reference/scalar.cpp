// The scalar reference: plain loops in exactly the order that SPEC.md prescribes. It is the oracle
// of every instruction set, and what runs where nothing faster does.
#include <bit>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <utility>

#include "kernels/numerics.h"
#include "kernels/pack.h"
#include "kernels/reference/super.h"
#include "kernels/table.h"
#include "kernels/tile_row.h"
#include "tensor/half.h"

namespace kvik {
namespace {

// R4's tree over 16 lanes: 8, 4, 2, 1.
float tree(float* lanes) noexcept {
    for (int half = 8; half > 0; half /= 2)
        for (int i = 0; i < half; ++i) lanes[i] += lanes[i + half];
    return lanes[0];
}

// R6. fmaf is the correctly rounded fused operation of the standard, whichever way libm does it.
float spec_exp(float x) noexcept {
    if (!(x >= numerics::kExpMin)) return 0.0f;
    if (x > numerics::kExpMax) x = numerics::kExpMax;
    const float n = std::nearbyintf(x * numerics::kLog2E);
    float r = std::fmaf(-n, numerics::kLn2High, x);
    r = std::fmaf(-n, numerics::kLn2Low, r);
    float p = numerics::kExpPoly[0];
    for (int i = 1; i < 7; ++i) p = std::fmaf(p, r, numerics::kExpPoly[i]);
    const auto shift = static_cast<uint32_t>(static_cast<int32_t>(n)) << 23;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(p) + shift);
}

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
    return {matmul<W>, unpack<W>, decode<W>, nullptr, nullptr};
}

void decode_f32(const uint8_t* tile, uint32_t n_groups, float* out) noexcept {
    std::memcpy(out, tile, static_cast<size_t>(n_groups) * 64);
}

void decode_f16(const uint8_t* tile, uint32_t n_groups, float* out) noexcept {
    for (uint64_t i = 0; i < static_cast<uint64_t>(n_groups) * kTileRows; ++i)
        out[i] = tile_half(tile + 2 * i);
}

void matmul_unpacked(const UnpackedGroup* a, const UnpackedGroup* b, uint32_t n_groups,
                     uint32_t zero_shift, uint32_t has_min, QuantPanel panel, uint32_t c0,
                     uint32_t n, TileOut out_a, TileOut out_b) noexcept {
    const int32_t zero = zero_shift == 0 ? 0 : 1 << zero_shift;
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
                    acc = accumulate(acc, row, panel, g * panel.stride + c0 + c, has_min != 0);
                }
                out.out[c * out.ld + r] = acc;
            }
    }
}

void matmul_f32(const float* tile, uint32_t k, const float* x, uint32_t stride, uint32_t n,
                TileOut out) noexcept {
    for (uint32_t c = 0; c < n; ++c)
        for (uint32_t r = 0; r < kTileRows; ++r) {
            float acc = 0.0f;
            for (uint32_t i = 0; i < k; ++i)
                acc = std::fmaf(tile[i * kTileRows + r], x[i * stride + c], acc);
            out.out[c * out.ld + r] = acc;
        }
}

// ---- activations ----------------------------------------------------------------------------

int quantize(const float* x, uint32_t n_groups, QuantPanel panel, uint32_t c) noexcept {
    int finite = 1;
    for (uint32_t g = 0; g < n_groups; ++g, x += kGroup) {
        const uint64_t at = g * panel.stride + c;
        int8_t* q = panel.q + at * kGroup;
        uint32_t top = 0;  // |x| as bits orders like |x|, with infinity and NaN above all numbers
        for (uint32_t k = 0; k < kGroup; ++k) {
            const uint32_t bits = std::bit_cast<uint32_t>(x[k]) & 0x7fffffffu;
            if (bits > top) top = bits;
        }
        const float amax = std::bit_cast<float>(top);
        if (top >= 0x7f800000u) finite = 0;
        if (top >= 0x7f800000u || !(amax >= numerics::kQuantFloor)) {
            std::memset(q, 0, kGroup);
            panel.d[at] = panel.u[at] = 0.0f;
            panel.nsum[at] = 0;
            continue;
        }
        const float d = amax / 127.0f;
        const float inverse = 127.0f / amax;
        int32_t sum = 0;
        for (uint32_t k = 0; k < kGroup; ++k) {
            const float v = std::nearbyintf(x[k] * inverse);
            q[k] = static_cast<int8_t>(v > 127.0f ? 127.0f : v < -127.0f ? -127.0f : v);
            sum += q[k];
        }
        panel.d[at] = d;
        panel.u[at] = d * static_cast<float>(sum);
        panel.nsum[at] = -sum;
    }
    return finite;
}

float rms_norm(const float* x, const float* w, float eps, uint32_t n, float* y) noexcept {
    float lanes[16] = {};
    for (uint32_t i = 0; i < n; ++i) lanes[i % 16] = std::fmaf(x[i], x[i], lanes[i % 16]);
    const float ss = tree(lanes);
    const float inverse = 1.0f / std::sqrt(ss / static_cast<float>(n) + eps);
    for (uint32_t i = 0; i < n; ++i) y[i] = x[i] * inverse * w[i];
    return ss;
}

void silu_mul(const float* gate, const float* up, uint32_t n, float* out) noexcept {
    for (uint32_t i = 0; i < n; ++i) out[i] = gate[i] / (1.0f + spec_exp(-gate[i])) * up[i];
}

void to_half(const float* x, uint32_t n, uint16_t* out) noexcept {
    for (uint32_t i = 0; i < n; ++i) {
        const float v = x[i] > numerics::kHalfMax    ? numerics::kHalfMax
                        : x[i] < -numerics::kHalfMax ? -numerics::kHalfMax
                                                     : x[i];
        out[i] = float_to_half(v);
    }
}

// ---- attention (R5) -------------------------------------------------------------------------

float kv_value(const float* p, uint64_t i) noexcept {
    return p[i];
}
float kv_value(const uint16_t* p, uint64_t i) noexcept {
    return half_to_float(p[i]);
}

template <class T>
void attend(const AttentionChunk& chunk) noexcept {
    const uint32_t dim = chunk.head_dim;
    for (uint32_t r = 0; r < chunk.n_queries; ++r) {
        const uint32_t begin = chunk.begin[r], end = chunk.end[r];
        if (begin >= end) continue;
        const float* q = chunk.q + static_cast<uint64_t>(r) * kMaxHeadDim;
        float* p = chunk.scores + static_cast<uint64_t>(r) * kChunkTokens;
        float top = -INFINITY;
        for (uint32_t t = begin; t < end; ++t) {
            const T* k = static_cast<const T*>(chunk.k_tiles[t / 16]);
            float s = 0.0f;
            for (uint32_t d = 0; d < dim; ++d) s = std::fmaf(q[d], kv_value(k, d * 16 + t % 16), s);
            p[t] = s * chunk.scale;
            if (p[t] > top) top = p[t];
        }
        float lanes[16] = {};
        for (uint32_t t = begin; t < end; ++t) {
            p[t] = spec_exp(p[t] - top);
            lanes[t % 16] += p[t];
        }
        const float sum = tree(lanes);
        const float before = chunk.m[r];
        const float now = before > top ? before : top;
        const float a = spec_exp(before - now);
        const float b = spec_exp(top - now);
        chunk.m[r] = now;
        chunk.l[r] = std::fmaf(chunk.l[r], a, sum * b);
        float* o = chunk.o + static_cast<uint64_t>(r) * kMaxHeadDim;
        for (uint32_t d = 0; d < dim; ++d) {
            float value = 0.0f;
            for (uint32_t t = begin; t < end; ++t)
                value = std::fmaf(
                    p[t], kv_value(static_cast<const T*>(chunk.v_tiles[t / 16]), t % 16 * dim + d),
                    value);
            o[d] = std::fmaf(o[d], a, value * b);
        }
    }
}

void merge_state(float m, float l, const float* o, uint32_t head_dim, float* into_m, float* into_l,
                 float* into_o) noexcept {
    if (m == -INFINITY) return;
    const float now = *into_m > m ? *into_m : m;
    const float a = spec_exp(*into_m - now);
    const float b = spec_exp(m - now);
    *into_m = now;
    *into_l = std::fmaf(*into_l, a, l * b);
    for (uint32_t d = 0; d < head_dim; ++d) into_o[d] = std::fmaf(into_o[d], a, o[d] * b);
}

}  // namespace

const KernelTable kScalarKernels = {
    "scalar",
    {{nullptr, nullptr, decode_f32, nullptr, nullptr},
     {nullptr, nullptr, decode_f16, nullptr, nullptr},
     kernels_of<tile_row::Q4_0>(),
     kernels_of<tile_row::Q4_1>(),
     kernels_of<tile_row::Q5_0>(),
     kernels_of<tile_row::Q5_1>(),
     kernels_of<tile_row::Q8_0>(),
     kernels_of<tile_row::IQ4_NL>(),
     reference::q4_k_kernels(),
     reference::q6_k_kernels()},
    matmul_unpacked,
    reference::super_matmul_unpacked,
    matmul_f32,
    quantize,
    reference::super_quantize,
    rms_norm,
    silu_mul,
    to_half,
    attend<uint16_t>,
    attend<float>,
    merge_state,
};

}  // namespace kvik
