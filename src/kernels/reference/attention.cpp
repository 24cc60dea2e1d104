#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/numerics.h"
#include "kernels/reference/entries.h"
#include "kernels/reference/functions.h"
#include "tensor/half.h"

namespace kvik::reference {
namespace {

float kv_value(float x) noexcept {
    return x;
}
float kv_value(uint16_t x) noexcept {
    return half_to_float(x);
}

// f16 or f32: the score of query row r and token t, the weight of a value, and the value.
template <class T>
struct FloatKv {
    const AttentionChunk& chunk;

    float score(uint32_t r, uint32_t t) const noexcept {
        const float* q = chunk.q + uint64_t{r} * kMaxHeadDim;
        const T* k = static_cast<const T*>(chunk.k_tiles[t / 16]) + t % 16;
        float s = 0.0f;
        for (uint32_t d = 0; d < chunk.head_dim; ++d) s = std::fmaf(q[d], kv_value(k[d * 16]), s);
        return s;
    }
    float weight(float p, uint32_t) const noexcept { return p; }
    float value(uint32_t t, uint32_t d) const noexcept {
        return kv_value(static_cast<const T*>(chunk.v_tiles[t / 16])[t % 16 * chunk.head_dim + d]);
    }
};

struct QuantKv {
    const AttentionChunk& chunk;

    static float scale(const void* tile, uint32_t n_bytes, uint32_t i) noexcept {
        float value;
        std::memcpy(&value, static_cast<const uint8_t*>(tile) + n_bytes + 4 * i, 4);
        return value;
    }
    float score(uint32_t r, uint32_t t) const noexcept {
        const uint32_t dim = chunk.head_dim;
        const auto* k = static_cast<const uint8_t*>(chunk.k_tiles[t / 16]);
        const int8_t* q = chunk.quant.q + uint64_t{r} * kMaxHeadDim;
        float s = 0.0f;
        for (uint32_t g = 0; g * kGroup < dim; ++g) {
            int32_t isum = 0;
            for (uint32_t d = g * kGroup; d < std::min((g + 1) * kGroup, dim); ++d)
                isum += (k[d / 4 * 64 + t % 16 * 4 + d % 4] - 128) * q[d];
            s = std::fmaf(static_cast<float>(isum) * chunk.quant.d[r * kMaxQueryGroups + g],
                          scale(k, 16 * dim, g * 16 + t % 16), s);
        }
        return s;
    }
    float weight(float p, uint32_t t) const noexcept {
        return p * scale(chunk.v_tiles[t / 16], 16 * chunk.head_dim, t % 16);
    }
    float value(uint32_t t, uint32_t d) const noexcept {
        const auto* v = static_cast<const int8_t*>(chunk.v_tiles[t / 16]);
        return static_cast<float>(v[t % 16 * chunk.head_dim + d]);
    }
};

template <class Kv>
void attend(const AttentionChunk& chunk) noexcept {
    const Kv kv{chunk};
    for (uint32_t r = 0; r < chunk.n_queries; ++r) {
        const uint32_t begin = chunk.begin[r], end = chunk.end[r];
        if (begin >= end) continue;
        float* p = chunk.scores + uint64_t{r} * kChunkTokens;
        float top = -INFINITY;
        for (uint32_t t = begin; t < end; ++t) {
            p[t] = kv.score(r, t) * chunk.scale;
            if (p[t] > top) top = p[t];
        }
        float lanes[16] = {};
        for (uint32_t t = begin; t < end; ++t) {
            p[t] = spec_exp(p[t] - top);
            lanes[t % 16] += p[t];
            p[t] = kv.weight(p[t], t);
        }
        const float sum = tree(lanes);
        const float before = chunk.m[r];
        const float now = before > top ? before : top;
        const float a = spec_exp(before - now);
        const float b = spec_exp(top - now);
        chunk.m[r] = now;
        chunk.l[r] = std::fmaf(chunk.l[r], a, sum * b);
        float* o = chunk.o + uint64_t{r} * kMaxHeadDim;
        for (uint32_t d = 0; d < chunk.head_dim; ++d) {
            float value = 0.0f;
            for (uint32_t t = begin; t < end; ++t) value = std::fmaf(p[t], kv.value(t, d), value);
            o[d] = std::fmaf(o[d], a, value * b);
        }
    }
}

}  // namespace

void attend_f16(const AttentionChunk& chunk) noexcept {
    attend<FloatKv<uint16_t>>(chunk);
}
void attend_f32(const AttentionChunk& chunk) noexcept {
    attend<FloatKv<float>>(chunk);
}
void attend_q8(const AttentionChunk& chunk) noexcept {
    attend<QuantKv>(chunk);
}

int quantize_group(const float* x, uint32_t n, int8_t* q, float* d) noexcept {
    std::memset(q, 0, n);
    *d = 0.0f;
    float amax = 0.0f;
    for (uint32_t i = 0; i < n; ++i) {
        if (!std::isfinite(x[i])) return 0;
        amax = std::max(amax, std::fabs(x[i]));
    }
    if (!(amax >= numerics::kQuantFloor)) return 1;
    *d = amax / 127.0f;
    const float inverse = 127.0f / amax;
    for (uint32_t i = 0; i < n; ++i)
        q[i] = static_cast<int8_t>(std::clamp(std::nearbyintf(x[i] * inverse), -127.0f, 127.0f));
    return 1;
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

}  // namespace kvik::reference
