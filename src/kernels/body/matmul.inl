// Matrix products over the vocabulary `Simd` (R2 of SPEC.md): one micro-kernel body for every
// number of columns. An output row is a lane, so nothing is ever summed across lanes.

#include "kernels/body/group_types.inl"
// after it
#include "kernels/body/floats.inl"

namespace kvik {
namespace {

// Register r of the rows of some tiles starts at this lane of tile r / kHalves.
constexpr int first_lane(int r) {
    return Simd::kLanes * (r % kHalves);
}

// Steps i and on of R tiles x N columns: all registers of rows meet a broadcast. Nibbles of a byte
// follow each other, so that it is loaded once; the order of exact sums changes no bit.
template <class W, int R, int N, int i>
[[gnu::always_inline]] inline void direct_steps(const uint8_t* const* groups, const int8_t* q,
                                                typename Simd::Dot<W::kBits>::Sum (*sum)[N]) {
    using Dot = Simd::Dot<W::kBits>;
    constexpr int kRows = R * kHalves;
    if constexpr (i < 8) {
        constexpr int j = i / 2 + 4 * (i % 2);
        Simd::I w[kRows];
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r)
            w[r] = W::template vector<j>(groups[r / kHalves], r % kHalves);
#pragma GCC unroll 16
        for (int c = 0; c < N; ++c) {
            const Simd::I x = Dot::broadcast(q + 32 * c + 4 * j);
#pragma GCC unroll 4
            for (int r = 0; r < kRows; ++r) Dot::step(sum[r][c], j, w[r], x);
        }
        direct_steps<W, R, N, i + 1>(groups, q, sum);
    }
}

// R row tiles x N columns straight from the tiles.
template <class W, int R, int N>
void direct_cols(const uint8_t* const* tiles, uint32_t n_groups, QuantPanel panel, uint32_t c0,
                 const TileOut* outs, Prefetch& ahead) {
    using Dot = Simd::Dot<W::kBits>;
    constexpr int kRows = R * kHalves;
    Simd::F acc[kRows][N];
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
        for (int c = 0; c < N; ++c) acc[r][c] = Simd::zero();
    }
    const uint8_t* groups[R];
    for (int r = 0; r < R; ++r) groups[r] = tiles[r];
    const int8_t* q = panel.q + static_cast<uint64_t>(c0) * kGroup;
    const float* d = panel.d + c0;
    const float* u = panel.u + c0;
    const int32_t* nsum = panel.nsum + c0;
    for (uint32_t g = 0; g < n_groups; ++g) {
        prefetch_lines(ahead);
        typename Dot::Sum sum[kRows][N];
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
            for (int c = 0; c < N; ++c) sum[r][c] = Dot::begin(nsum[c], W::kZeroShift);
        }
        direct_steps<W, R, N, 0>(groups, q, sum);
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) {
            const uint8_t* group = groups[r / kHalves];
            const Simd::F dw = Simd::load_half(group + W::kScaleAt + 2 * first_lane(r));
            [[maybe_unused]] Simd::F m = Simd::zero();
            if constexpr (W::kMin) m = Simd::load_half(group + W::kMinAt + 2 * first_lane(r));
#pragma GCC unroll 16
            for (int c = 0; c < N; ++c) {
                const Simd::F t = Simd::mul(
                    Simd::to_float(Dot::end(sum[r][c], nsum[c], W::kZeroShift)), Simd::set(d[c]));
                acc[r][c] = Simd::fma(t, dw, acc[r][c]);
                if constexpr (W::kMin) acc[r][c] = Simd::fma(m, Simd::set(u[c]), acc[r][c]);
            }
        }
#pragma GCC unroll 2
        for (int r = 0; r < R; ++r) groups[r] += W::kBytes;
        q += static_cast<uint64_t>(panel.stride) * kGroup;
        d += panel.stride;
        u += panel.stride;
        nsum += panel.stride;
    }
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
        const TileOut& out = outs[r / kHalves];
#pragma GCC unroll 16
        for (int c = 0; c < N; ++c) Simd::store(out.out + c * out.ld + first_lane(r), acc[r][c]);
    }
}

// n <= N columns.
template <class W, int R, int N>
void direct_some(const uint8_t* const* tiles, uint32_t n_groups, QuantPanel panel, uint32_t c0,
                 uint32_t n, const TileOut* outs, Prefetch& ahead) {
    if constexpr (N > 1) {
        if (n < N) return direct_some<W, R, N - 1>(tiles, n_groups, panel, c0, n, outs, ahead);
    }
    direct_cols<W, R, N>(tiles, n_groups, panel, c0, outs, ahead);
}

// Any number of columns, in passes as even as can be.
template <class W, int R, int N>
void direct(const uint8_t* const* tiles, uint32_t n_groups, QuantPanel panel, uint32_t c0,
            uint32_t n, const TileOut* outs, Prefetch& ahead) {
    TileOut to[R];
    for (int r = 0; r < R; ++r) to[r] = outs[r];
    for (uint32_t passes = (n + N - 1) / N; passes > 0; --passes) {
        const uint32_t now = (n + passes - 1) / passes;
        direct_some<W, R, N>(tiles, n_groups, panel, c0, now, to, ahead);
        c0 += now;
        n -= now;
        for (TileOut& out : to) out.out += now * out.ld;
    }
}

template <class W>
void matmul(const uint8_t* tile, uint32_t n_groups, QuantPanel panel, uint32_t c0, uint32_t n,
            TileOut out) {
    Prefetch ahead = {tile + kPrefetchBytes, nullptr, n_groups * W::kBytes, 0, (W::kBytes + 63) / 64};
    direct<W, 1, Simd::kDirectCols>(&tile, n_groups, panel, c0, n, &out, ahead);
}

template <class W>
void matmul_pair(const uint8_t* a, const uint8_t* b, uint32_t n_groups, QuantPanel panel,
                 uint32_t n, TileOut out_a, TileOut out_b, Prefetch& ahead) {
    const uint8_t* const tiles[] = {a, b};
    const TileOut outs[] = {out_a, out_b};
    direct<W, 2, kPairCols>(tiles, n_groups, panel, 0, n, outs, ahead);
}

template <class W>
void unpack(const uint8_t* tile, uint32_t n_groups, UnpackedGroup* groups) {
    for (uint32_t g = 0; g < n_groups; ++g, tile += W::kBytes)
        for (int half = 0; half < kHalves; ++half) {
            Simd::I w[8];
            load_group<W>(tile, half, w);
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
            load_group<W>(tile, half, w);
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
    TileKernels kernels = {matmul<W>, unpack<W>, decode<W>, nullptr, nullptr, nullptr};
    if constexpr (Simd::kUnpackedRows == 2) {
        kernels.matmul_pair = matmul_pair<W>;
        kernels.unpack_pays = W::kUnpackPays;
        kernels.decoded_pair = decoded_pair<W, kGroup, decode<W>>;
    }
    return kernels;
}

// R row tiles x N columns from unpacked groups. All registers of rows meet a broadcast.
template <WeightBits kBits, bool kMin, int R, int N>
void unpacked_cols(const UnpackedGroup* const* tiles, uint32_t n_groups, unsigned zero_shift,
                   QuantPanel panel, uint32_t c0, const TileOut* outs) {
    using Dot = Simd::Dot<kBits>;
    constexpr int kRows = R * kHalves;
    Simd::F acc[kRows][N];
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
        for (int c = 0; c < N; ++c) acc[r][c] = Simd::zero();
    }
    const int8_t* q = panel.q + static_cast<uint64_t>(c0) * kGroup;
    const float* d = panel.d + c0;
    const float* u = panel.u + c0;
    const int32_t* nsum = panel.nsum + c0;
    for (uint32_t g = 0; g < n_groups; ++g) {
        typename Dot::Sum sum[kRows][N];
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
            for (int c = 0; c < N; ++c) sum[r][c] = Dot::begin(nsum[c], zero_shift);
        }
#pragma GCC unroll 8
        for (int j = 0; j < 8; ++j) {
            Simd::I w[kRows];
#pragma GCC unroll 4
            for (int r = 0; r < kRows; ++r)
                w[r] = Simd::iload(tiles[r / kHalves][g].w + 64 * j + 4 * first_lane(r));
#pragma GCC unroll 16
            for (int c = 0; c < N; ++c) {
                const Simd::I x = Dot::broadcast(q + 32 * c + 4 * j);
#pragma GCC unroll 4
                for (int r = 0; r < kRows; ++r) Dot::step(sum[r][c], j, w[r], x);
            }
        }
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) {
            const UnpackedGroup& group = tiles[r / kHalves][g];
            const Simd::F dw = Simd::load(group.scale + first_lane(r));
#pragma GCC unroll 16
            for (int c = 0; c < N; ++c) {
                const Simd::F t = Simd::mul(
                    Simd::to_float(Dot::end(sum[r][c], nsum[c], zero_shift)), Simd::set(d[c]));
                acc[r][c] = Simd::fma(t, dw, acc[r][c]);
                if constexpr (kMin)
                    acc[r][c] = Simd::fma(Simd::load(group.min + first_lane(r)), Simd::set(u[c]),
                                          acc[r][c]);
            }
        }
        q += static_cast<uint64_t>(panel.stride) * kGroup;
        d += panel.stride;
        u += panel.stride;
        nsum += panel.stride;
    }
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
        const TileOut& out = outs[r / kHalves];
#pragma GCC unroll 16
        for (int c = 0; c < N; ++c) Simd::store(out.out + c * out.ld + first_lane(r), acc[r][c]);
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

// Where all widths have one Dot, types of one kind share their code.
constexpr WeightBits dot_of(WeightBits bits) {
    return Simd::kOneDot ? WeightBits::eight : bits;
}

void matmul_unpacked(TileType type, const UnpackedGroup* a, const UnpackedGroup* b,
                     uint32_t n_groups, QuantPanel panel, uint32_t c0, uint32_t n, TileOut out_a,
                     TileOut out_b) {
    const auto run = [&]<class W>(W) {
        unpacked_rows<dot_of(W::kBits), W::kMin>(a, b, n_groups, W::kZeroShift, panel, c0, n, out_a,
                                                 out_b);
    };
    if (type == TileType::q4_0) return run(Q4_0{});
    if (type == TileType::q4_1) return run(Q4_1{});
    if (type == TileType::q5_0) return run(Q5_0{});
    if (type == TileType::q5_1) return run(Q5_1{});
    run(Q8_0{});  // and IQ4_NL, whose values are unpacked
}

}  // namespace
}  // namespace kvik
