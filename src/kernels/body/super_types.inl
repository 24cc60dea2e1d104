// The K types' tiles over the vocabulary `Simd` (R2 of SPEC.md): what differs between them.
//
// A type costs its constants (sub-groups of kVectors vectors, kParts to a block of 64 elements; kMins
// minimums in 256 elements) and how part kPart of a block becomes vectors of u8, with its scale and
// minimum.

namespace kvik {
namespace {

// Of types with signed scales [16][16] at kAt, then d; no minimums.
template <uint32_t kAt>
struct SignedScales {
    static constexpr int kParts = 4, kVectors = 4, kMins = 0;
    static Simd::F d(const uint8_t* group, int half) {
        return Simd::load_half(group + kAt + 256 + 2 * Simd::kLanes * half);
    }
    static Simd::F scale(const uint8_t* group, int sub, int half) {
        return Simd::load_i8(group + kAt + 16 * sub + Simd::kLanes * half);
    }
    static Simd::F min_scale(const uint8_t*, int) { return Simd::zero(); }
};

// Of types with scales [8][16] at kAt, minimums in pairs [4][16][2], d and dmin.
template <uint32_t kAt>
struct ScalesAndMins {
    static constexpr int kParts = 2, kVectors = 8, kMins = 8;
    static Simd::F d(const uint8_t* group, int half) {
        return Simd::load_half(group + kAt + 256 + 2 * Simd::kLanes * half);
    }
    static Simd::F scale(const uint8_t* group, int sub, int half) {
        return Simd::load_u8(group + kAt + 16 * sub + Simd::kLanes * half);
    }
    static Simd::I min(const uint8_t* group, int pair, int half) {
        return Simd::load_byte_pairs(group + kAt + 128 + 32 * pair + 2 * Simd::kLanes * half);
    }
    static Simd::F min_scale(const uint8_t* group, int half) {
        return Simd::load_half(group + kAt + 288 + 2 * Simd::kLanes * half);
    }
};

// 4 vectors a block: part h is bits 2h, 2h + 1.
template <int kPart>
[[gnu::always_inline]] inline Simd::I bit_pair_vector(const uint8_t* block, int j, int half) {
    return Simd::bit_pairs<kPart>(Simd::iload(block + 64 * j + 4 * Simd::kLanes * half));
}

// 8 vectors a block, part 0 low and part 1 high.
template <int kPart>
[[gnu::always_inline]] inline Simd::I paired_nibbles(const uint8_t* block, int j, int half) {
    const Simd::I v = Simd::iload(block + 64 * j + 4 * Simd::kLanes * half);
    return kPart == 0 ? Simd::low_nibbles(v) : Simd::high_nibbles(v);
}

// Bit pairs; then [16][16] bytes of a scale (low nibble) and a minimum (high), d, dmin.
struct Q2_K {
    static constexpr uint32_t kBytes = 1344, kPairUpTo = 6;
    static constexpr WeightBits kBits = WeightBits::three;
    static constexpr int kParts = 4, kVectors = 4, kMins = 16;
    static constexpr unsigned kZeroShift = 0;
    template <int kPart, int j>
    [[gnu::always_inline]] static Simd::I vector(const uint8_t* group, int block, int half) {
        return bit_pair_vector<kPart>(group + 256 * block, j, half);
    }
    static Simd::I scale_and_min(const uint8_t* group, int sub, int half) {
        return Simd::load_bytes(group + 1024 + 16 * sub + Simd::kLanes * half);
    }
    static Simd::F d(const uint8_t* group, int half) {
        return Simd::load_half(group + 1280 + 2 * Simd::kLanes * half);
    }
    static Simd::F scale(const uint8_t* group, int sub, int half) {
        return Simd::to_float(Simd::low_four(scale_and_min(group, sub, half)));
    }
    static Simd::I min(const uint8_t* group, int sub, int half) {
        return Simd::above_four(scale_and_min(group, sub, half));
    }
    static Simd::F min_scale(const uint8_t* group, int half) {
        return Simd::load_half(group + 1312 + 2 * Simd::kLanes * half);
    }
};

// Bit pairs; 8 vectors of third bits, one for two sub-groups; scales, d.
struct Q3_K : SignedScales<1536> {
    static constexpr uint32_t kBytes = 1824, kPairUpTo = 6;
    static constexpr WeightBits kBits = WeightBits::three;
    static constexpr unsigned kZeroShift = 2;
    template <int kPart, int j>
    [[gnu::always_inline]] static Simd::I vector(const uint8_t* group, int block, int half) {
        const Simd::I bits =
            Simd::iload(group + 1024 + 64 * (2 * block + kPart / 2) + 4 * Simd::kLanes * half);
        return Simd::add_bit<4 * (kPart % 2) + j, 2>(
            bit_pair_vector<kPart>(group + 256 * block, j, half), bits);
    }
};

struct Q4_K : ScalesAndMins<2048> {
    static constexpr uint32_t kBytes = 2368, kPairUpTo = 6;
    static constexpr WeightBits kBits = WeightBits::four;
    static constexpr unsigned kZeroShift = 0;
    template <int kPart, int j>
    [[gnu::always_inline]] static Simd::I vector(const uint8_t* group, int block, int half) {
        return paired_nibbles<kPart>(group + 512 * block, j, half);
    }
};

// Nibbles as Q4_K's, then a vector of fifth bits for each sub-group.
struct Q5_K : ScalesAndMins<2560> {
    static constexpr uint32_t kBytes = 2880, kPairUpTo = 6;
    static constexpr WeightBits kBits = WeightBits::five;
    static constexpr unsigned kZeroShift = 0;
    template <int kPart, int j>
    [[gnu::always_inline]] static Simd::I vector(const uint8_t* group, int block, int half) {
        return add_fifth_bits<j>(paired_nibbles<kPart>(group + 512 * block, j, half),
                                 group + 2048 + 64 * (2 * block + kPart), half);
    }
};

// Blocks of 8 vectors of low nibbles and 4 of bit pairs. Part h has the nibbles of vectors
// 4 (h % 2) + j, low for h < 2, and bits 2h, 2h + 1 of pair vector j.
struct Q6_K : SignedScales<3072> {
    static constexpr uint32_t kBytes = 3360, kPairUpTo = 12;
    static constexpr WeightBits kBits = WeightBits::six;
    static constexpr unsigned kZeroShift = 5;
    template <int kPart, int j>
    [[gnu::always_inline]] static Simd::I vector(const uint8_t* group, int block, int half) {
        constexpr int h = kPart;
        const uint8_t* at = group + 768 * block + 4 * Simd::kLanes * half;
        const Simd::I low = Simd::iload(at + 64 * (4 * (h % 2) + j));
        const Simd::I high = Simd::iload(at + 512 + 64 * j);
        return Simd::ior(h < 2 ? Simd::low_nibbles(low) : Simd::high_nibbles(low),
                         Simd::bit_pairs_high<h>(high));
    }
};

}  // namespace
}  // namespace kvik
