#include <bit>
#include <cmath>
#include <cstring>

#include "kernels/numerics.h"
#include "kernels/reference/entries.h"
#include "kernels/reference/functions.h"
#include "tensor/half.h"

namespace kvik::reference {

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

float layer_norm(const float* x, const float* w, const float* b, float eps, uint32_t n,
                 float* y) noexcept {
    float lanes[16] = {};
    for (uint32_t i = 0; i < n; ++i) lanes[i % 16] += x[i];
    const float mean = tree(lanes) / static_cast<float>(n);
    float squares[16] = {};
    for (uint32_t i = 0; i < n; ++i) {
        const float v = x[i] - mean;
        squares[i % 16] = std::fmaf(v, v, squares[i % 16]);
    }
    const float ss = tree(squares);
    const float inverse = 1.0f / std::sqrt(ss / static_cast<float>(n) + eps);
    for (uint32_t i = 0; i < n; ++i) y[i] = std::fmaf((x[i] - mean) * inverse, w[i], b[i]);
    return ss;
}

void silu_mul(const float* gate, const float* up, uint32_t n, float* out) noexcept {
    for (uint32_t i = 0; i < n; ++i) out[i] = gate[i] / (1.0f + spec_exp(-gate[i])) * up[i];
}

void gelu_mul(const float* gate, const float* up, uint32_t n, float* out) noexcept {
    for (uint32_t i = 0; i < n; ++i) out[i] = spec_gelu(gate[i]) * up[i];
}

void gelu(const float* x, uint32_t n, float* out) noexcept {
    for (uint32_t i = 0; i < n; ++i) out[i] = spec_gelu(x[i]);
}

namespace {

void turn(float cosine, float sine, float& a, float& b) noexcept {
    const float x0 = a, x1 = b;
    a = x0 * cosine - x1 * sine;
    b = x0 * sine + x1 * cosine;
}

}  // namespace

void rope_adjacent(const float* row, uint32_t n_dims, float* head) noexcept {
    const uint32_t half = n_dims / 2;
    for (uint32_t i = 0; i < half; ++i) turn(row[i], row[half + i], head[2 * i], head[2 * i + 1]);
}

void rope_halves(const float* row, uint32_t n_dims, float* head) noexcept {
    const uint32_t half = n_dims / 2;
    for (uint32_t i = 0; i < half; ++i) turn(row[i], row[half + i], head[i], head[half + i]);
}

void to_half(const float* x, uint32_t n, uint16_t* out) noexcept {
    for (uint32_t i = 0; i < n; ++i) {
        const float v = x[i] > numerics::kHalfMax    ? numerics::kHalfMax
                        : x[i] < -numerics::kHalfMax ? -numerics::kHalfMax
                                                     : x[i];
        out[i] = float_to_half(v);
    }
}

}  // namespace kvik::reference
