// Products with the K types over the vocabulary `Simd` (R2 of SPEC.md): 256 elements under one pair
// of f16 scales, in sub-groups with scales of their own.

namespace kvik {
namespace {

// Where a micro-kernel's weights come from: the tile as it lies, or unpacked.
template <class W>
struct FromTile {
    const uint8_t* group;
    int half;
    Simd::F d;
    FromTile() = default;
    FromTile(const uint8_t* tile, int at) : group(tile), half(at), d(W::d(tile, at)) {}
    template <int kPart, int j>
    [[gnu::always_inline]] Simd::I vector(int block) const {
        return W::template vector<kPart, j>(group, block, half);
    }
    Simd::F scale(int sub) const { return Simd::mul(d, W::scale(group, sub, half)); }
    Simd::I min(int i) const { return W::min(group, i, half); }
    Simd::F min_scale() const { return W::min_scale(group, half); }
    static uint64_t step() { return W::kBytes; }
};

template <class W>
struct FromUnpacked {
    const UnpackedSuperGroup* group;
    int lane;
    FromUnpacked() = default;
    FromUnpacked(const uint8_t* at, int half)
        : group(reinterpret_cast<const UnpackedSuperGroup*>(at)), lane(Simd::kLanes * half) {}
    template <int kPart, int j>
    [[gnu::always_inline]] Simd::I vector(int block) const {
        return Simd::iload(group->w + 1024 * block + 64 * (kPart * W::kVectors + j) + 4 * lane);
    }
    Simd::F scale(int sub) const { return Simd::load(group->scale[sub] + lane); }
    Simd::I min(int i) const {  // a pair of sub-groups, or one
        return W::kMins == 16 ? Simd::load_bytes(group->min + 16 * i + lane)
                              : Simd::iload(group->min + 64 * i + 4 * lane);
    }
    Simd::F min_scale() const { return Simd::load(group->min_scale + lane); }
    static uint64_t step() { return sizeof(UnpackedSuperGroup); }
};

// Vectors j and on of a part of a block.
template <class W, class Source, int R, int N, int kPart, int j>
[[gnu::always_inline]] inline void super_steps(const Source* sources, int block, const int8_t* q,
                                               typename Simd::Dot<W::kBits>::Sum (*sum)[N]) {
    using Dot = Simd::Dot<W::kBits>;
    if constexpr (j < W::kVectors) {
        Simd::I w[R];
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) w[r] = sources[r].template vector<kPart, j>(block);
#pragma GCC unroll 16
        for (int c = 0; c < N; ++c) {
            const Simd::I x = Dot::broadcast(q + 256 * c + 4 * (kPart * W::kVectors + j));
#pragma GCC unroll 4
            for (int r = 0; r < R; ++r) Dot::step(sum[r][c], j, w[r], x);
        }
        super_steps<W, Source, R, N, kPart, j + 1>(sources, block, q, sum);
    }
}

// Parts kPart and on of a block.
template <class W, class Source, int R, int N, int kPart>
[[gnu::always_inline]] inline void super_parts(const Source* sources, int block, const int8_t* q,
                                               const int32_t* nsum16, Simd::F (*f)[N]) {
    if constexpr (kPart < W::kParts) {
        using Dot = Simd::Dot<W::kBits>;
        const auto nsum = [nsum16](int c) { return W::kZeroShift ? nsum16[16 * c + kPart] : 0; };
        typename Dot::Sum sum[R][N];
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
            for (int c = 0; c < N; ++c) sum[r][c] = Dot::begin(nsum(c), W::kZeroShift);
        }
        super_steps<W, Source, R, N, kPart, 0>(sources, block, q, sum);
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) {
            const Simd::F scale = sources[r].scale(W::kParts * block + kPart);
#pragma GCC unroll 16
            for (int c = 0; c < N; ++c)
                f[r][c] = Simd::fma(Simd::to_float(Dot::end(sum[r][c], nsum(c), W::kZeroShift)),
                                    scale, f[r][c]);
        }
        super_parts<W, Source, R, N, kPart + 1>(sources, block, q, nsum16, f);
    }
}

// f = float(sum of minimum * -(sum q)) * dmin. Minimums meet the sums as 16-bit pairs: two sub-groups
// of 32, or one of 16 whose sum is there as 32 bits, the minimum's upper half being 0.
template <class W, class Source, int N>
void weigh_mins(const Source& source, const int16_t* nsum32, const int32_t* nsum16, Simd::F* f) {
    Simd::I sum[N];
#pragma GCC unroll 16
    for (int c = 0; c < N; ++c) sum[c] = Simd::izero();
#pragma GCC unroll 16
    for (int i = 0; i < (W::kMins == 16 ? 16 : 4); ++i) {
        const Simd::I min = source.min(i);
#pragma GCC unroll 16
        for (int c = 0; c < N; ++c)
            sum[c] = Simd::dot_pairs(
                sum[c], min,
                Simd::iset(W::kMins == 16
                               ? nsum16[16 * c + i]
                               : *reinterpret_cast<const aliasing_int*>(nsum32 + 8 * c + 2 * i)));
    }
#pragma GCC unroll 16
    for (int c = 0; c < N; ++c) f[c] = Simd::mul(Simd::to_float(sum[c]), source.min_scale());
}

// R row tiles x N columns. What accumulates over groups lies in memory: a third set of registers
// would not fit.
template <class W, class Source, int R, int N>
void super_cols(const uint8_t* const* tiles, uint32_t n_groups, SuperPanel panel, uint32_t c0,
                const TileOut* outs, Prefetch& ahead) {
    constexpr int kRows = R * kHalves;  // registers of rows, which meet a broadcast together
    const auto acc = [outs](int r, int c) {
        const TileOut& out = outs[r / kHalves];
        return out.out + c * out.ld + first_lane(r);
    };
    for (uint32_t g = 0; g < n_groups; ++g) {
        const uint64_t first = static_cast<uint64_t>(g) * panel.stride + c0;
        Source sources[kRows];
        Simd::F f[kRows][N];
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) {
            sources[r] = Source(tiles[r / kHalves] + g * Source::step(), r % kHalves);
            if constexpr (W::kMins != 0) {
                weigh_mins<W, Source, N>(sources[r], panel.nsum32 + first * 8,
                                         panel.nsum16 + first * 16, f[r]);
            } else {
#pragma GCC unroll 16
                for (int c = 0; c < N; ++c) f[r][c] = Simd::zero();
            }
        }
        for (int block = 0; block < 4; ++block) {
            prefetch_lines(ahead);
            super_parts<W, Source, kRows, N, 0>(sources, block,
                                                panel.q + first * kSuperGroup + 64 * block,
                                                panel.nsum16 + first * 16 + 4 * block, f);
        }
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
            for (int c = 0; c < N; ++c)
                Simd::store(acc(r, c), Simd::fma(f[r][c], Simd::set(panel.d[first + c]),
                                                 g == 0 ? Simd::zero() : Simd::load(acc(r, c))));
        }
    }
}

// n <= N columns.
template <class W, class Source, int R, int N>
void super_some(const uint8_t* const* tiles, uint32_t n_groups, SuperPanel panel, uint32_t c0,
                uint32_t n, const TileOut* outs, Prefetch& ahead) {
    if constexpr (N > 1) {
        if (n < N)
            return super_some<W, Source, R, N - 1>(tiles, n_groups, panel, c0, n, outs, ahead);
    }
    super_cols<W, Source, R, N>(tiles, n_groups, panel, c0, outs, ahead);
}

// Any number of columns, in passes as even as can be.
template <class W, class Source, int R, int N>
void super_all(const uint8_t* const* tiles, uint32_t n_groups, SuperPanel panel, uint32_t c0,
               uint32_t n, const TileOut* outs, Prefetch& ahead) {
    TileOut to[R];
    for (int r = 0; r < R; ++r) to[r] = outs[r];
    for (uint32_t passes = (n + N - 1) / N; passes > 0; --passes) {
        const uint32_t now = (n + passes - 1) / passes;
        super_some<W, Source, R, N>(tiles, n_groups, panel, c0, now, to, ahead);
        c0 += now;
        n -= now;
        for (TileOut& out : to) out.out += now * out.ld;
    }
}

template <class W>
void super_matmul(const uint8_t* tile, uint32_t n_groups, SuperPanel panel, uint32_t c0, uint32_t n,
                  TileOut out) {
    Prefetch ahead = {tile + kPrefetchBytes, nullptr, n_groups * W::kBytes, 0,
                   (W::kBytes / 4 + 63) / 64};
    super_all<W, FromTile<W>, 1, Simd::kSuperCols>(&tile, n_groups, panel, c0, n, &out, ahead);
}

// More columns than kPairUpTo are faster by one tile after the other: twelve share a load then.
template <class W>
void super_pair(const uint8_t* a, const uint8_t* b, uint32_t n_groups, SuperPanel panel, uint32_t n,
                TileOut out_a, TileOut out_b, Prefetch& ahead) {
    if (n > W::kPairUpTo) {
        super_matmul<W>(a, n_groups, panel, 0, n, out_a);
        super_matmul<W>(b, n_groups, panel, 0, n, out_b);
        return;
    }
    const uint8_t* const tiles[] = {a, b};
    const TileOut outs[] = {out_a, out_b};
    super_all<W, FromTile<W>, 2, kPairCols>(tiles, n_groups, panel, 0, n, outs, ahead);
}

// S is Simd: only who unpacks compiles this.
template <class S>
void super_matmul_unpacked(TileType type, const UnpackedSuperGroup* tile, uint32_t n_groups,
                           SuperPanel panel, uint32_t c0, uint32_t n, TileOut out) {
    const auto run = [&]<class W>(W) {
        const auto* bytes = reinterpret_cast<const uint8_t*>(tile);
        Prefetch nothing = {};
        super_all<W, FromUnpacked<W>, 1, S::kSuperCols>(&bytes, n_groups, panel, c0, n, &out,
                                                        nothing);
    };
    if (type == TileType::q2_k) return run(Q2_K{});
    if (type == TileType::q3_k) return run(Q3_K{});
    if (type == TileType::q4_k) return run(Q4_K{});
    if (type == TileType::q5_k) return run(Q5_K{});
    run(Q6_K{});
}

template <class S>
constexpr decltype(KernelTable::super_matmul_unpacked) super_matmul_unpacked_or_null() {
    if constexpr (S::kUnpackSuper)
        return super_matmul_unpacked<S>;
    else
        return nullptr;
}

template <int kPart, int j = 0, class W>
[[gnu::always_inline]] inline void load_part(const FromTile<W>& source, int block, Simd::I* w) {
    if constexpr (j < W::kVectors) {
        w[j] = source.template vector<kPart, j>(block);
        load_part<kPart, j + 1>(source, block, w);
    }
}

template <class W, int kPart>
void super_unpack_parts(const FromTile<W>& source, int block, int lane, UnpackedSuperGroup& out) {
    if constexpr (kPart < W::kParts) {
        Simd::I w[W::kVectors];
        load_part<kPart>(source, block, w);
        const int sub = W::kParts * block + kPart;
#pragma GCC unroll 8
        for (int j = 0; j < W::kVectors; ++j)
            Simd::istore(out.w + 64 * (sub * W::kVectors + j) + 4 * lane, w[j]);
        Simd::store(out.scale[sub] + lane, source.scale(sub));
        super_unpack_parts<W, kPart + 1>(source, block, lane, out);
    }
}

template <class W>
void super_unpack(const uint8_t* tile, uint32_t n_groups, UnpackedSuperGroup* groups) {
    for (uint32_t g = 0; g < n_groups; ++g, tile += W::kBytes)
        for (int half = 0; half < kHalves; ++half) {
            const FromTile<W> source(tile, half);
            const int lane = Simd::kLanes * half;
            for (int block = 0; block < 4; ++block)
                super_unpack_parts<W, 0>(source, block, lane, groups[g]);
            if constexpr (W::kMins == 8)
                for (int pair = 0; pair < 4; ++pair)
                    Simd::istore(groups[g].min + 64 * pair + 4 * lane, source.min(pair));
            if constexpr (W::kMins == 16)
                for (int sub = 0; sub < 16; ++sub)
                    Simd::store_bytes(groups[g].min + 16 * sub + lane, source.min(sub));
            if constexpr (W::kMins != 0)
                Simd::store(groups[g].min_scale + lane, source.min_scale());
        }
}

template <class W, int kPart>
void super_decode_parts(const FromTile<W>& source, int block, int lane, const Simd::F* mins,
                        float* out) {
    if constexpr (kPart < W::kParts) {
        Simd::I w[W::kVectors];
        load_part<kPart>(source, block, w);
        const int sub = W::kParts * block + kPart;
        const Simd::F scale = source.scale(sub);
        const auto put = [&](int j, int byte, Simd::F v) {
            if constexpr (W::kZeroShift != 0)
                v = Simd::sub(v, Simd::set(static_cast<float>(1 << W::kZeroShift)));
            v = Simd::mul(scale, v);
            if constexpr (W::kMins != 0) v = Simd::sub(v, mins[sub]);
            Simd::store(
                out + (4 * (sub * W::kVectors + j) + byte) * static_cast<int>(kTileRows) + lane, v);
        };
        for (int j = 0; j < W::kVectors; ++j) {
            put(j, 0, Simd::byte_to_float<0>(w[j]));
            put(j, 1, Simd::byte_to_float<1>(w[j]));
            put(j, 2, Simd::byte_to_float<2>(w[j]));
            put(j, 3, Simd::byte_to_float<3>(w[j]));
        }
        super_decode_parts<W, kPart + 1>(source, block, lane, mins, out);
    }
}

template <class W>
void super_decode(const uint8_t* tile, uint32_t n_groups, float* out) {
    for (uint32_t g = 0; g < n_groups; ++g, tile += W::kBytes, out += kSuperGroup * kTileRows)
        for (int half = 0; half < kHalves; ++half) {
            const FromTile<W> source(tile, half);
            Simd::F mins[4 * W::kParts];
            if constexpr (W::kMins == 16)
                for (int sub = 0; sub < 16; ++sub)
                    mins[sub] = Simd::mul(source.min_scale(), Simd::to_float(source.min(sub)));
            if constexpr (W::kMins == 8)
                for (int pair = 0; pair < 4; ++pair) {
                    const Simd::I m = source.min(pair);
                    mins[2 * pair] = Simd::mul(source.min_scale(), Simd::byte_to_float<0>(m));
                    mins[2 * pair + 1] = Simd::mul(source.min_scale(), Simd::byte_to_float<2>(m));
                }
            for (int block = 0; block < 4; ++block)
                super_decode_parts<W, 0>(source, block, Simd::kLanes * half, mins, out);
        }
}

template <class W>
constexpr TileKernels super_kernels_of() {
    TileKernels kernels = {nullptr, nullptr, super_decode<W>, super_matmul<W>, nullptr, nullptr};
    if constexpr (Simd::kUnpackSuper) kernels.super_unpack = super_unpack<W>;
    if constexpr (Simd::kUnpackedRows == 2) {
        kernels.super_pair = super_pair<W>;
        kernels.decoded_pair = decoded_pair<W, kSuperGroup, super_decode<W>>;
    }
    return kernels;
}

int super_quantize(const float* x, uint32_t n_groups, SuperPanel panel, uint32_t c) {
    int finite = 1;
    for (uint32_t first = 0; first < n_groups; first += 16) {
        const int n = static_cast<int>(n_groups - first < 16 ? n_groups - first : 16);
        GroupScales scales;
        for (int g = 0; g < n; ++g)
            scales.top[g] = largest_bits<kSuperGroup>(x + g * static_cast<int>(kSuperGroup));
        scales.find();
        if (scales.bad) finite = 0;
        uint64_t at = uint64_t{first} * panel.stride + c;
        for (int g = 0; g < n; ++g, x += kSuperGroup, at += panel.stride) {
            const float* source = scales.source(g, x);
            panel.d[at] = scales.d[g];
            for (uint32_t i = 0; i < 8; ++i) {
                const Simd::Sums sums = quantize_32(source + 32 * i, Simd::set(scales.inverse[g]),
                                                    panel.q + at * kSuperGroup + 32 * i);
                panel.nsum16[at * 16 + 2 * i] = -sums.first;
                panel.nsum16[at * 16 + 2 * i + 1] = -sums.last;
                panel.nsum32[at * 8 + i] = static_cast<int16_t>(-(sums.first + sums.last));
            }
        }
    }
    return finite;
}

}  // namespace
}  // namespace kvik
