// Products of f32 activations over the vocabulary `Simd` (R3 of SPEC.md): acc = fma(w, x, acc) in
// ascending k.

namespace kvik {
namespace {

void decode_f32(const uint8_t* tile, uint32_t n_groups, float* out) {
    __builtin_memcpy(out, tile, static_cast<uint64_t>(n_groups) * 64);
}

void decode_f16(const uint8_t* tile, uint32_t n_groups, float* out) {
    for (uint64_t i = 0; i < static_cast<uint64_t>(n_groups) * kTileRows; i += Simd::kLanes)
        Simd::store(out + i, Simd::load_half(tile + 2 * i));
}

void decode_bf16(const uint8_t* tile, uint32_t n_groups, float* out) {
    for (uint64_t i = 0; i < static_cast<uint64_t>(n_groups) * kTileRows; i += Simd::kLanes)
        Simd::store(out + i, Simd::load_bfloat(tile + 2 * i));
}

// Weights that meet f32 activations (R3).
struct Half {
    uint16_t bits;
};
struct Bfloat {
    uint16_t bits;
};
Simd::F load_weights(const float* p) {
    return Simd::load(p);
}
Simd::F load_weights(const Half* p) {
    return Simd::load_half(p);
}
Simd::F load_weights(const Bfloat* p) {
    return Simd::load_bfloat(p);
}

template <class T, int N>
void float_cols(const T* tile, uint32_t k, const float* x, uint32_t stride, uint32_t n,
                TileOut out) {
    if constexpr (N > 1) {
        if (n < N) return float_cols<T, N - 1>(tile, k, x, stride, n, out);
    }
    Simd::F acc[kHalves][N];
#pragma GCC unroll 2
    for (int h = 0; h < kHalves; ++h) {
#pragma GCC unroll 16
        for (int c = 0; c < N; ++c) acc[h][c] = Simd::zero();
    }
    for (uint32_t i = 0; i < k; ++i, tile += kTileRows, x += stride) {
        Simd::prefetch(reinterpret_cast<const char*>(tile) + kPrefetchBytes);
        Simd::F w[kHalves];
#pragma GCC unroll 2
        for (int h = 0; h < kHalves; ++h) w[h] = load_weights(tile + h * Simd::kLanes);
#pragma GCC unroll 16
        for (int c = 0; c < N; ++c) {
            const Simd::F v = Simd::set(x[c]);
#pragma GCC unroll 2
            for (int h = 0; h < kHalves; ++h) acc[h][c] = Simd::fma(w[h], v, acc[h][c]);
        }
    }
#pragma GCC unroll 2
    for (int h = 0; h < kHalves; ++h) {
#pragma GCC unroll 16
        for (int c = 0; c < N; ++c) Simd::store(out.out + c * out.ld + h * Simd::kLanes, acc[h][c]);
    }
}

template <class T>
void matmul_floats(const uint8_t* tile, uint32_t k, const float* x, uint32_t stride, uint32_t n,
                   TileOut out) {
    constexpr int kCols = Simd::kFloatCols;
    const T* weights = reinterpret_cast<const T*>(tile);
    for (; n > kCols; n -= kCols, x += kCols, out.out += kCols * out.ld)
        float_cols<T, kCols>(weights, k, x, stride, kCols, out);
    float_cols<T, kCols>(weights, k, x, stride, n, out);
}

void matmul_f32(const float* tile, uint32_t k, const float* x, uint32_t stride, uint32_t n,
                TileOut out) {
    matmul_floats<float>(reinterpret_cast<const uint8_t*>(tile), k, x, stride, n, out);
}

// Quantised weights times a few f32 columns: a group of R tiles is decoded, to be met while it lies in
// the first cache. W decodes groups of kSize, kBytes each.
template <class W, uint32_t kSize, void (*kDecode)(const uint8_t*, uint32_t, float*), int R, int N>
void decoded_cols(const uint8_t* const* tiles, uint32_t n_groups, const float* x, uint32_t stride,
                  const TileOut* outs, Prefetch& ahead) {
    alignas(64) float w[R][kSize * kTileRows];
    Simd::F acc[R][N];
#pragma GCC unroll 2
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
        for (int c = 0; c < N; ++c) acc[r][c] = Simd::zero();
    }
    for (uint32_t g = 0; g < n_groups; ++g) {
        prefetch_lines(ahead);
        for (int r = 0; r < R; ++r) kDecode(tiles[r] + uint64_t{g} * W::kBytes, 1, w[r]);
        for (uint32_t i = 0; i < kSize; ++i, x += stride) {
#pragma GCC unroll 16
            for (int c = 0; c < N; ++c) {
                const Simd::F v = Simd::set(x[c]);
#pragma GCC unroll 2
                for (int r = 0; r < R; ++r)
                    acc[r][c] = Simd::fma(Simd::load(w[r] + i * kTileRows), v, acc[r][c]);
            }
        }
    }
#pragma GCC unroll 2
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
        for (int c = 0; c < N; ++c) Simd::store(outs[r].out + c * outs[r].ld, acc[r][c]);
    }
}

template <class W, uint32_t kSize, void (*kDecode)(const uint8_t*, uint32_t, float*), int R, int N>
void decoded_some(const uint8_t* const* tiles, uint32_t n_groups, const float* x, uint32_t n,
                  const TileOut* outs, Prefetch& ahead) {
    if constexpr (N > 1) {
        if (n < N)
            return decoded_some<W, kSize, kDecode, R, N - 1>(tiles, n_groups, x, n, outs, ahead);
    }
    decoded_cols<W, kSize, kDecode, R, N>(tiles, n_groups, x, n, outs, ahead);
}

template <class W, uint32_t kSize, void (*kDecode)(const uint8_t*, uint32_t, float*)>
void decoded_pair(const uint8_t* a, const uint8_t* b, uint32_t n_groups, const float* x, uint32_t n,
                  TileOut out_a, TileOut out_b, Prefetch& ahead) {
    const uint8_t* const tiles[] = {a, b};
    const TileOut outs[] = {out_a, out_b};
    if (b)
        decoded_some<W, kSize, kDecode, 2, kPanelCols>(tiles, n_groups, x, n, outs, ahead);
    else
        decoded_some<W, kSize, kDecode, 1, kPanelCols>(tiles, n_groups, x, n, outs, ahead);
}

}  // namespace
}  // namespace kvik
