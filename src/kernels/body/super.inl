// Products with the K types over the vocabulary `Simd` (R2 of SPEC.md): 256 elements under one pair
// of f16 scales, in sub-groups with scales of their own.

namespace kvik {
namespace {

// Nibbles: 4 pairs of sub-groups, each 8 vectors with the even sub-group low and the odd one high;
// then scales [8][16], minimums [4][16][2], d, dmin.
struct Q4_K {
    static constexpr TileType kType = TileType::q4_k;
    static constexpr uint32_t kBytes = 2368;
    static constexpr WeightBits kBits = WeightBits::five;
    static constexpr int kSubGroups = 8, kVectors = 8;  // vectors of a sub-group
    static constexpr unsigned kZeroShift = 0;
    static constexpr bool kMin = true;
    template <int kSub>
    static void load(const uint8_t* group, int half, Simd::I* w) {
#pragma GCC unroll 8
        for (int j = 0; j < 8; ++j) {
            const Simd::I v =
                Simd::iload(group + 512 * (kSub / 2) + 64 * j + 4 * Simd::kLanes * half);
            w[j] = kSub % 2 == 0 ? Simd::low_nibbles(v) : Simd::high_nibbles(v);
        }
    }
    static Simd::F d(const uint8_t* group, int half) {
        return Simd::load_half(group + 2304 + 2 * Simd::kLanes * half);
    }
    static Simd::F scale(const uint8_t* group, int sub, int half) {
        return Simd::load_u8(group + 2048 + 16 * sub + Simd::kLanes * half);
    }
    static Simd::I min(const uint8_t* group, int pair, int half) {
        return Simd::load_byte_pairs(group + 2176 + 32 * pair + 2 * Simd::kLanes * half);
    }
    static Simd::F min_scale(const uint8_t* group, int half) {
        return Simd::load_half(group + 2336 + 2 * Simd::kLanes * half);
    }
};

// 4 quarters of 64 elements: 8 vectors of low nibbles, 4 of bit pairs; then signed scales [16][16]
// and d. Sub-group h of a quarter has the nibbles of vectors 4 (h % 2) + j, low for h < 2, and bits
// 2h, 2h + 1 of pair vector j.
struct Q6_K {
    static constexpr TileType kType = TileType::q6_k;
    static constexpr uint32_t kBytes = 3360;
    static constexpr WeightBits kBits = WeightBits::six;
    static constexpr int kSubGroups = 16, kVectors = 4;
    static constexpr unsigned kZeroShift = 5;
    static constexpr bool kMin = false;
    template <int kSub>
    static void load(const uint8_t* group, int half, Simd::I* w) {
        constexpr int h = kSub % 4;
        const uint8_t* quarter = group + 768 * (kSub / 4) + 4 * Simd::kLanes * half;
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j) {
            const Simd::I low = Simd::iload(quarter + 64 * (4 * (h % 2) + j));
            const Simd::I high = Simd::iload(quarter + 512 + 64 * j);
            w[j] = Simd::ior(h < 2 ? Simd::low_nibbles(low) : Simd::high_nibbles(low),
                             Simd::bit_pairs_high<h>(high));
        }
    }
    static Simd::F d(const uint8_t* group, int half) {
        return Simd::load_half(group + 3328 + 2 * Simd::kLanes * half);
    }
    static Simd::F scale(const uint8_t* group, int sub, int half) {
        return Simd::load_i8(group + 3072 + 16 * sub + Simd::kLanes * half);
    }
    static Simd::I min(const uint8_t*, int, int) {
        return Simd::izero();
    }
    static Simd::F min_scale(const uint8_t*, int) {
        return Simd::zero();
    }
};

// Where a micro-kernel's weights come from: the tile as it lies, or unpacked.
template <class W>
struct FromTile {
    const uint8_t* group;
    int half;
    Simd::F d;
    FromTile(const uint8_t* tile, int at) : group(tile), half(at), d(W::d(tile, at)) {}
    template <int kSub>
    void load(Simd::I* w) const {
        W::template load<kSub>(group, half, w);
    }
    Simd::F scale(int sub) const { return Simd::mul(d, W::scale(group, sub, half)); }
    Simd::I min(int pair) const { return W::min(group, pair, half); }
    Simd::F min_scale() const { return W::min_scale(group, half); }
    static uint64_t step() { return W::kBytes; }
};

template <class W>
struct FromUnpacked {
    const UnpackedSuperGroup* group;
    int lane;
    FromUnpacked(const uint8_t* at, int half)
        : group(reinterpret_cast<const UnpackedSuperGroup*>(at)), lane(Simd::kLanes * half) {}
    template <int kSub>
    void load(Simd::I* w) const {
#pragma GCC unroll 8
        for (int j = 0; j < W::kVectors; ++j)
            w[j] = Simd::iload(group->w + 64 * (kSub * W::kVectors + j) + 4 * lane);
    }
    Simd::F scale(int sub) const {
        return Simd::load(group->scale[sub] + lane);
    }
    Simd::I min(int pair) const {
        return Simd::iload(&group->min[pair][lane][0]);
    }
    Simd::F min_scale() const {
        return Simd::load(group->min_scale + lane);
    }
    static uint64_t step() {
        return sizeof(UnpackedSuperGroup);
    }
};

template <class W, class Source, int N, int kSub>
void super_sub_groups(const Source& source, const int8_t* q, const int32_t* nsum16, Simd::F* f) {
    if constexpr (kSub < W::kSubGroups) {
        using Dot = Simd::Dot<W::kBits>;
        Simd::I w[W::kVectors];
        source.template load<kSub>(w);
        typename Dot::Sum sum[N];
#pragma GCC unroll 16
        for (int c = 0; c < N; ++c)
            sum[c] = Dot::begin(W::kZeroShift ? nsum16[16 * c + kSub] : 0, W::kZeroShift);
#pragma GCC unroll 8
        for (int j = 0; j < W::kVectors; ++j) {
#pragma GCC unroll 16
            for (int c = 0; c < N; ++c)
                Dot::step(sum[c], j, w[j], q + 256 * c + 4 * (kSub * W::kVectors + j));
        }
        const Simd::F scale = source.scale(kSub);
#pragma GCC unroll 16
        for (int c = 0; c < N; ++c)
            f[c] = Simd::fma(Simd::to_float(Dot::end(
                                 sum[c], W::kZeroShift ? nsum16[16 * c + kSub] : 0, W::kZeroShift)),
                             scale, f[c]);
        super_sub_groups<W, Source, N, kSub + 1>(source, q, nsum16, f);
    }
}

template <class W, class Source, int N>
void super_cols(const uint8_t* tile, uint32_t n_groups, SuperPanel panel, uint32_t c0,
                TileOut out) {
    for (int half = 0; half < kHalves; ++half) {
        Simd::F acc[N];
#pragma GCC unroll 16
        for (int c = 0; c < N; ++c) acc[c] = Simd::zero();
        const uint8_t* at = tile;
        for (uint32_t g = 0; g < n_groups; ++g, at += Source::step()) {
            const uint64_t first = static_cast<uint64_t>(g) * panel.stride + c0;
            if (half == 0)
                for (uint32_t line = 0; line < Source::step(); line += 64)
                    Simd::prefetch(at + kPrefetchBytes + line);
            const Source source(at, half);
            Simd::F f[N];
            if constexpr (W::kMin) {
                Simd::I sum[N];
#pragma GCC unroll 16
                for (int c = 0; c < N; ++c) sum[c] = Simd::izero();
#pragma GCC unroll 4
                for (int pair = 0; pair < 4; ++pair) {
                    const Simd::I min = source.min(pair);
#pragma GCC unroll 16
                    for (int c = 0; c < N; ++c)
                        sum[c] = Simd::dot_pairs(sum[c], min,
                                                 Simd::iset(*reinterpret_cast<const aliasing_int*>(
                                                     panel.nsum32 + (first + c) * 8 + 2 * pair)));
                }
#pragma GCC unroll 16
                for (int c = 0; c < N; ++c)
                    f[c] = Simd::mul(Simd::to_float(sum[c]), source.min_scale());
            } else {
#pragma GCC unroll 16
                for (int c = 0; c < N; ++c) f[c] = Simd::zero();
            }
            super_sub_groups<W, Source, N, 0>(source, panel.q + first * kSuperGroup,
                                              panel.nsum16 + first * 16, f);
#pragma GCC unroll 16
            for (int c = 0; c < N; ++c)
                acc[c] = Simd::fma(f[c], Simd::set(panel.d[first + c]), acc[c]);
        }
#pragma GCC unroll 16
        for (int c = 0; c < N; ++c) Simd::store(out.out + c * out.ld + Simd::kLanes * half, acc[c]);
    }
}

template <class W, class Source, int N>
void super_some(const uint8_t* tile, uint32_t n_groups, SuperPanel panel, uint32_t c0, uint32_t n,
                TileOut out) {
    if constexpr (N > 1) {
        if (n < N) return super_some<W, Source, N - 1>(tile, n_groups, panel, c0, n, out);
    }
    super_cols<W, Source, N>(tile, n_groups, panel, c0, out);
    if (n > N)
        super_some<W, Source, Simd::kSuperCols>(tile, n_groups, panel, c0 + N, n - N,
                                                {out.out + N * out.ld, out.ld});
}

template <class W>
void super_matmul(const uint8_t* tile, uint32_t n_groups, SuperPanel panel, uint32_t c0, uint32_t n,
                  TileOut out) {
    super_some<W, FromTile<W>, Simd::kSuperCols>(tile, n_groups, panel, c0, n, out);
}

void super_matmul_unpacked(TileType type, const UnpackedSuperGroup* tile, uint32_t n_groups,
                           SuperPanel panel, uint32_t c0, uint32_t n, TileOut out) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(tile);
    if (type == TileType::q4_k)
        super_some<Q4_K, FromUnpacked<Q4_K>, Simd::kSuperCols>(bytes, n_groups, panel, c0, n, out);
    else
        super_some<Q6_K, FromUnpacked<Q6_K>, Simd::kSuperCols>(bytes, n_groups, panel, c0, n, out);
}

template <class W, int kSub>
void super_unpack_sub_groups(const FromTile<W>& source, int lane, UnpackedSuperGroup& out) {
    if constexpr (kSub < W::kSubGroups) {
        Simd::I w[W::kVectors];
        source.template load<kSub>(w);
#pragma GCC unroll 8
        for (int j = 0; j < W::kVectors; ++j)
            Simd::istore(out.w + 64 * (kSub * W::kVectors + j) + 4 * lane, w[j]);
        Simd::store(out.scale[kSub] + lane, source.scale(kSub));
        super_unpack_sub_groups<W, kSub + 1>(source, lane, out);
    }
}

template <class W>
void super_unpack(const uint8_t* tile, uint32_t n_groups, UnpackedSuperGroup* groups) {
    for (uint32_t g = 0; g < n_groups; ++g, tile += W::kBytes)
        for (int half = 0; half < kHalves; ++half) {
            const FromTile<W> source(tile, half);
            const int lane = Simd::kLanes * half;
            super_unpack_sub_groups<W, 0>(source, lane, groups[g]);
            if constexpr (W::kMin) {
                for (int pair = 0; pair < 4; ++pair)
                    Simd::istore(&groups[g].min[pair][lane][0], source.min(pair));
                Simd::store(groups[g].min_scale + lane, source.min_scale());
            }
        }
}

template <class W, int kSub>
void super_decode_sub_groups(const FromTile<W>& source, int lane, const Simd::F* mins, float* out) {
    if constexpr (kSub < W::kSubGroups) {
        Simd::I w[W::kVectors];
        source.template load<kSub>(w);
        const Simd::F scale = source.scale(kSub);
        const auto put = [&](int j, int byte, Simd::F v) {
            if constexpr (W::kZeroShift != 0)
                v = Simd::sub(v, Simd::set(static_cast<float>(1 << W::kZeroShift)));
            v = Simd::mul(scale, v);
            if constexpr (W::kMin) v = Simd::sub(v, mins[kSub]);
            Simd::store(
                out + (4 * (kSub * W::kVectors + j) + byte) * static_cast<int>(kTileRows) + lane,
                v);
        };
        for (int j = 0; j < W::kVectors; ++j) {
            put(j, 0, Simd::byte_to_float<0>(w[j]));
            put(j, 1, Simd::byte_to_float<1>(w[j]));
            put(j, 2, Simd::byte_to_float<2>(w[j]));
            put(j, 3, Simd::byte_to_float<3>(w[j]));
        }
        super_decode_sub_groups<W, kSub + 1>(source, lane, mins, out);
    }
}

template <class W>
void super_decode(const uint8_t* tile, uint32_t n_groups, float* out) {
    for (uint32_t g = 0; g < n_groups; ++g, tile += W::kBytes, out += kSuperGroup * kTileRows)
        for (int half = 0; half < kHalves; ++half) {
            const FromTile<W> source(tile, half);
            Simd::F mins[W::kSubGroups];
            if constexpr (W::kMin)
                for (int pair = 0; pair < 4; ++pair) {
                    const Simd::I m = source.min(pair);
                    mins[2 * pair] = Simd::mul(source.min_scale(), Simd::byte_to_float<0>(m));
                    mins[2 * pair + 1] = Simd::mul(source.min_scale(), Simd::byte_to_float<2>(m));
                }
            super_decode_sub_groups<W, 0>(source, Simd::kLanes * half, mins, out);
        }
}

template <class W>
constexpr TileKernels super_kernels_of() {
    return {nullptr, nullptr, super_decode<W>, super_matmul<W>, super_unpack<W>};
}

int super_quantize(const float* x, uint32_t n_groups, SuperPanel panel, uint32_t c) {
    int finite = 1;
    for (uint32_t g = 0; g < n_groups; ++g, x += kSuperGroup) {
        const uint64_t at = static_cast<uint64_t>(g) * panel.stride + c;
        int8_t* q = panel.q + at * kSuperGroup;
        Simd::I top = Simd::izero();
        for (uint32_t i = 0; i < kSuperGroup; i += Simd::kLanes)
            top = Simd::imax(top, Simd::abs_bits(Simd::load(x + i)));
        const int bits = Simd::reduce_max(top);
        float amax;
        __builtin_memcpy(&amax, &bits, 4);
        if (bits >= 0x7f800000) finite = 0;
        const bool dead = bits >= 0x7f800000 || !(amax >= numerics::kQuantFloor);
        panel.d[at] = dead ? 0.0f : amax / 127.0f;
        const Simd::F inverse = Simd::set(dead ? 0.0f : 127.0f / amax);
        for (uint32_t i = 0; i < kSuperGroup; i += 16) {
            if (dead) {
                __builtin_memset(q + i, 0, 16);
            } else {
                Simd::F v[kRegs];
                for (int j = 0; j < kRegs; ++j)
                    v[j] = Simd::mul(Simd::load(x + i + j * Simd::kLanes), inverse);
                Simd::store_rounded_16(q + i, v);
            }
        }
        for (int i = 0; i < 8; ++i) {
            int low = 0;
            for (int k = 0; k < 16; ++k) low += q[32 * i + k];
            const int all = Simd::sum_bytes_32(q + 32 * i);
            panel.nsum16[at * 16 + 2 * i] = -low;
            panel.nsum16[at * 16 + 2 * i + 1] = low - all;
            panel.nsum32[at * 8 + i] = static_cast<int16_t>(-all);
        }
    }
    return finite;
}

}  // namespace
}  // namespace kvik
