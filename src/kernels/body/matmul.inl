// Matrix products over the vocabulary `Simd` (R2, R3 of SPEC.md): one micro-kernel body for every
// number of columns. An output row is a lane, so nothing is ever summed across lanes.

namespace kvik {
namespace {

constexpr int kHalves = static_cast<int>(kTileRows) / Simd::kLanes;
constexpr uint32_t kPrefetchBytes = 4096;  // ahead of the weights in use; measured

// A weight type costs its constants and how its group becomes 8 vectors of u8, in the order of k;
// registers hold them only where that is inlined.
[[gnu::always_inline]] inline void load_nibbles(const uint8_t* group, int half, Simd::I* w) {
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
        const Simd::I v = Simd::iload(group + 64 * j + 4 * Simd::kLanes * half);
        w[j] = Simd::low_nibbles(v);
        w[4 + j] = Simd::high_nibbles(v);
    }
}

[[gnu::always_inline]] inline void add_fifth_bits(const uint8_t* plane, int half, Simd::I* w) {
    const Simd::I bits = Simd::iload(plane + 4 * Simd::kLanes * half);
    w[0] = Simd::add_bit<0, 4>(w[0], bits);
    w[1] = Simd::add_bit<1, 4>(w[1], bits);
    w[2] = Simd::add_bit<2, 4>(w[2], bits);
    w[3] = Simd::add_bit<3, 4>(w[3], bits);
    w[4] = Simd::add_bit<4, 4>(w[4], bits);
    w[5] = Simd::add_bit<5, 4>(w[5], bits);
    w[6] = Simd::add_bit<6, 4>(w[6], bits);
    w[7] = Simd::add_bit<7, 4>(w[7], bits);
}

struct Q4_0 {
    static constexpr uint32_t kBytes = 288, kScaleAt = 256, kMinAt = 0;
    static constexpr WeightBits kBits = WeightBits::five;
    static constexpr bool kMin = false;
    static constexpr unsigned kZeroShift = 3;
    [[gnu::always_inline]] static void load(const uint8_t* group, int half, Simd::I* w) {
        load_nibbles(group, half, w);
    }
};

struct Q4_1 {
    static constexpr uint32_t kBytes = 320, kScaleAt = 256, kMinAt = 288;
    static constexpr WeightBits kBits = WeightBits::five;
    static constexpr bool kMin = true;
    static constexpr unsigned kZeroShift = 0;
    [[gnu::always_inline]] static void load(const uint8_t* group, int half, Simd::I* w) {
        load_nibbles(group, half, w);
    }
};

struct Q5_0 {
    static constexpr uint32_t kBytes = 352, kScaleAt = 320, kMinAt = 0;
    static constexpr WeightBits kBits = WeightBits::five;
    static constexpr bool kMin = false;
    static constexpr unsigned kZeroShift = 4;
    [[gnu::always_inline]] static void load(const uint8_t* group, int half, Simd::I* w) {
        load_nibbles(group, half, w);
        add_fifth_bits(group + 256, half, w);
    }
};

struct Q5_1 {
    static constexpr uint32_t kBytes = 384, kScaleAt = 320, kMinAt = 352;
    static constexpr WeightBits kBits = WeightBits::five;
    static constexpr bool kMin = true;
    static constexpr unsigned kZeroShift = 0;
    [[gnu::always_inline]] static void load(const uint8_t* group, int half, Simd::I* w) {
        load_nibbles(group, half, w);
        add_fifth_bits(group + 256, half, w);
    }
};

struct Q8_0 {
    static constexpr uint32_t kBytes = 544, kScaleAt = 512, kMinAt = 0;
    static constexpr WeightBits kBits = WeightBits::eight;
    static constexpr bool kMin = false;
    static constexpr unsigned kZeroShift = 7;
    [[gnu::always_inline]] static void load(const uint8_t* group, int half, Simd::I* w) {
#pragma GCC unroll 8
        for (int j = 0; j < 8; ++j) w[j] = Simd::iload(group + 64 * j + 4 * Simd::kLanes * half);
    }
};

// Nibbles index the table of values, kept as value + 128.
struct IQ4_NL {
    static constexpr uint32_t kBytes = 288, kScaleAt = 256, kMinAt = 0;
    static constexpr WeightBits kBits = WeightBits::eight;
    static constexpr bool kMin = false;
    static constexpr unsigned kZeroShift = 7;
    [[gnu::always_inline]] static void load(const uint8_t* group, int half, Simd::I* w) {
        load_nibbles(group, half, w);
#pragma GCC unroll 8
        for (int j = 0; j < 8; ++j) w[j] = Simd::look_up(w[j], kIq4NlBytes);
    }
    alignas(16) static constexpr uint8_t kIq4NlBytes[16] = {1,   24,  45,  63,  79,  93,  106, 118,
                                                            129, 141, 153, 166, 181, 197, 217, 241};
};

// 16 rows x N columns straight from the tile; N is at most kDirectCols.
template <class W, int N>
void direct_cols(const uint8_t* tile, uint32_t n_groups, QuantPanel panel, uint32_t c0,
                 TileOut out) {
    using Dot = Simd::Dot<W::kBits>;
    for (int half = 0; half < kHalves; ++half) {
        Simd::F acc[N];
#pragma GCC unroll 16
        for (int c = 0; c < N; ++c) acc[c] = Simd::zero();
        const uint8_t* group = tile;
        const int8_t* q = panel.q + static_cast<uint64_t>(c0) * kGroup;
        const float* d = panel.d + c0;
        const float* u = panel.u + c0;
        const int32_t* nsum = panel.nsum + c0;
        for (uint32_t g = 0; g < n_groups; ++g) {
            if (half == 0)
#pragma GCC unroll 16
                for (uint32_t at = 0; at < W::kBytes; at += 64)
                    Simd::prefetch(group + kPrefetchBytes + at);
            Simd::I w[8];
            W::load(group, half, w);
            typename Dot::Sum sum[N];
#pragma GCC unroll 16
            for (int c = 0; c < N; ++c) sum[c] = Dot::begin(nsum[c], W::kZeroShift);
#pragma GCC unroll 8
            for (int j = 0; j < 8; ++j) {
#pragma GCC unroll 16
                for (int c = 0; c < N; ++c) Dot::step(sum[c], j, w[j], q + 32 * c + 4 * j);
            }
            const Simd::F dw = Simd::load_half(group + W::kScaleAt + 2 * Simd::kLanes * half);
            [[maybe_unused]] Simd::F m = Simd::zero();
            if constexpr (W::kMin) m = Simd::load_half(group + W::kMinAt + 2 * Simd::kLanes * half);
#pragma GCC unroll 16
            for (int c = 0; c < N; ++c) {
                const Simd::F t = Simd::mul(
                    Simd::to_float(Dot::end(sum[c], nsum[c], W::kZeroShift)), Simd::set(d[c]));
                acc[c] = Simd::fma(t, dw, acc[c]);
                if constexpr (W::kMin) acc[c] = Simd::fma(m, Simd::set(u[c]), acc[c]);
            }
            group += W::kBytes;
            q += static_cast<uint64_t>(panel.stride) * kGroup;
            d += panel.stride;
            u += panel.stride;
            nsum += panel.stride;
        }
#pragma GCC unroll 16
        for (int c = 0; c < N; ++c) Simd::store(out.out + c * out.ld + Simd::kLanes * half, acc[c]);
    }
}

template <class W, int N>
void direct(const uint8_t* tile, uint32_t n_groups, QuantPanel panel, uint32_t c0, uint32_t n,
            TileOut out) {
    if constexpr (N > 1) {
        if (n < N) return direct<W, N - 1>(tile, n_groups, panel, c0, n, out);
    }
    direct_cols<W, N>(tile, n_groups, panel, c0, out);
    if (n > N)
        direct<W, Simd::kDirectCols>(tile, n_groups, panel, c0 + N, n - N,
                                     {out.out + N * out.ld, out.ld});
}

template <class W>
void matmul(const uint8_t* tile, uint32_t n_groups, QuantPanel panel, uint32_t c0, uint32_t n,
            TileOut out) {
    direct<W, Simd::kDirectCols>(tile, n_groups, panel, c0, n, out);
}

template <class W>
void unpack(const uint8_t* tile, uint32_t n_groups, UnpackedGroup* groups) {
    for (uint32_t g = 0; g < n_groups; ++g, tile += W::kBytes)
        for (int half = 0; half < kHalves; ++half) {
            Simd::I w[8];
            W::load(tile, half, w);
            const int lane = Simd::kLanes * half;
#pragma GCC unroll 8
            for (int j = 0; j < 8; ++j) Simd::istore(groups[g].w + 64 * j + 4 * lane, w[j]);
            Simd::store(groups[g].scale + lane, Simd::load_half(tile + W::kScaleAt + 2 * lane));
            Simd::store(groups[g].min + lane,
                        W::kMin ? Simd::load_half(tile + W::kMinAt + 2 * lane) : Simd::zero());
        }
}

template <class W, int kByte>
void decode_bytes(const Simd::I* w, Simd::F scale, Simd::F min, float* out) {
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) {
        Simd::F v = Simd::byte_to_float<kByte>(w[j]);
        if constexpr (W::kZeroShift != 0)
            v = Simd::sub(v, Simd::set(static_cast<float>(1 << W::kZeroShift)));
        v = Simd::mul(v, scale);
        if constexpr (W::kMin) v = Simd::add(v, min);
        Simd::store(out + (4 * j + kByte) * static_cast<int>(kTileRows), v);
    }
}

template <class W>
void decode(const uint8_t* tile, uint32_t n_groups, float* out) {
    for (uint32_t g = 0; g < n_groups; ++g, tile += W::kBytes, out += kGroup * kTileRows)
        for (int half = 0; half < kHalves; ++half) {
            Simd::I w[8];
            W::load(tile, half, w);
            const int lane = Simd::kLanes * half;
            const Simd::F scale = Simd::load_half(tile + W::kScaleAt + 2 * lane);
            const Simd::F min =
                W::kMin ? Simd::load_half(tile + W::kMinAt + 2 * lane) : Simd::zero();
            decode_bytes<W, 0>(w, scale, min, out + lane);
            decode_bytes<W, 1>(w, scale, min, out + lane);
            decode_bytes<W, 2>(w, scale, min, out + lane);
            decode_bytes<W, 3>(w, scale, min, out + lane);
        }
}

template <class W>
constexpr TileKernels kernels_of() {
    return {matmul<W>, unpack<W>, decode<W>, nullptr, nullptr, nullptr};
}

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

// R row tiles x N columns from unpacked groups.
template <WeightBits kBits, bool kMin, int R, int N>
void unpacked_cols(const UnpackedGroup* const* tiles, uint32_t n_groups, unsigned zero_shift,
                   QuantPanel panel, uint32_t c0, const TileOut* outs) {
    using Dot = Simd::Dot<kBits>;
    for (int half = 0; half < kHalves; ++half) {
        const int lane = Simd::kLanes * half;
        Simd::F acc[R][N];
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
            for (int c = 0; c < N; ++c) acc[r][c] = Simd::zero();
        }
        const int8_t* q = panel.q + static_cast<uint64_t>(c0) * kGroup;
        const float* d = panel.d + c0;
        const float* u = panel.u + c0;
        const int32_t* nsum = panel.nsum + c0;
        for (uint32_t g = 0; g < n_groups; ++g) {
            typename Dot::Sum sum[R][N];
#pragma GCC unroll 4
            for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
                for (int c = 0; c < N; ++c) sum[r][c] = Dot::begin(nsum[c], zero_shift);
            }
#pragma GCC unroll 8
            for (int j = 0; j < 8; ++j) {
                Simd::I w[R];
#pragma GCC unroll 4
                for (int r = 0; r < R; ++r) w[r] = Simd::iload(tiles[r][g].w + 64 * j + 4 * lane);
#pragma GCC unroll 16
                for (int c = 0; c < N; ++c) {
                    const Simd::I x = Dot::broadcast(q + 32 * c + 4 * j);
#pragma GCC unroll 4
                    for (int r = 0; r < R; ++r) Dot::step(sum[r][c], j, w[r], x);
                }
            }
#pragma GCC unroll 4
            for (int r = 0; r < R; ++r) {
                const Simd::F dw = Simd::load(tiles[r][g].scale + lane);
#pragma GCC unroll 16
                for (int c = 0; c < N; ++c) {
                    const Simd::F t = Simd::mul(
                        Simd::to_float(Dot::end(sum[r][c], nsum[c], zero_shift)), Simd::set(d[c]));
                    acc[r][c] = Simd::fma(t, dw, acc[r][c]);
                    if constexpr (kMin)
                        acc[r][c] = Simd::fma(Simd::load(tiles[r][g].min + lane), Simd::set(u[c]),
                                              acc[r][c]);
                }
            }
            q += static_cast<uint64_t>(panel.stride) * kGroup;
            d += panel.stride;
            u += panel.stride;
            nsum += panel.stride;
        }
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
            for (int c = 0; c < N; ++c) Simd::store(outs[r].out + c * outs[r].ld + lane, acc[r][c]);
        }
    }
}

template <WeightBits kBits, bool kMin, int R, int N>
void unpacked(const UnpackedGroup* const* tiles, uint32_t n_groups, unsigned zero_shift,
              QuantPanel panel, uint32_t c0, uint32_t n, const TileOut* outs) {
    if constexpr (N > 1) {
        if (n < N)
            return unpacked<kBits, kMin, R, N - 1>(tiles, n_groups, zero_shift, panel, c0, n, outs);
    }
    unpacked_cols<kBits, kMin, R, N>(tiles, n_groups, zero_shift, panel, c0, outs);
    if (n > N) {
        TileOut rest[R];
        for (int r = 0; r < R; ++r) rest[r] = {outs[r].out + N * outs[r].ld, outs[r].ld};
        unpacked<kBits, kMin, R, Simd::kUnpackedCols>(tiles, n_groups, zero_shift, panel, c0 + N,
                                                      n - N, rest);
    }
}

template <WeightBits kBits, bool kMin>
void unpacked_rows(const UnpackedGroup* a, const UnpackedGroup* b, uint32_t n_groups,
                   unsigned zero_shift, QuantPanel panel, uint32_t c0, uint32_t n, TileOut out_a,
                   TileOut out_b) {
    constexpr int kCols = Simd::kUnpackedCols;
    const UnpackedGroup* tiles[] = {a, b};
    const TileOut outs[] = {out_a, out_b};
    if (Simd::kUnpackedRows == 2 && b) {
        unpacked<kBits, kMin, Simd::kUnpackedRows, kCols>(tiles, n_groups, zero_shift, panel, c0, n,
                                                          outs);
        return;
    }
    unpacked<kBits, kMin, 1, kCols>(tiles, n_groups, zero_shift, panel, c0, n, outs);
    if (b) unpacked<kBits, kMin, 1, kCols>(tiles + 1, n_groups, zero_shift, panel, c0, n, outs + 1);
}

void matmul_unpacked(const UnpackedGroup* a, const UnpackedGroup* b, uint32_t n_groups,
                     uint32_t zero_shift, uint32_t has_min, QuantPanel panel, uint32_t c0,
                     uint32_t n, TileOut out_a, TileOut out_b) {
    if (zero_shift == 7)
        unpacked_rows<WeightBits::eight, false>(a, b, n_groups, zero_shift, panel, c0, n, out_a,
                                                out_b);
    else if (has_min)
        unpacked_rows<WeightBits::five, true>(a, b, n_groups, zero_shift, panel, c0, n, out_a,
                                              out_b);
    else
        unpacked_rows<WeightBits::five, false>(a, b, n_groups, zero_shift, panel, c0, n, out_a,
                                               out_b);
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

}  // namespace
}  // namespace kvik
