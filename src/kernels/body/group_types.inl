// Weight types with groups of 32, over the vocabulary `Simd`: a type costs its constants and how
// vector j of its group becomes u8, in the order of k. Registers hold it only where that is inlined.
// kUnpackPays: that costs enough to do it once for many columns, even where pairs of tiles meet them.

namespace kvik {
namespace {

constexpr int kHalves = static_cast<int>(kTileRows) / Simd::kLanes;
constexpr uint32_t kPrefetchBytes = 4096;  // ahead of the weights in use; measured

// A group's share of what is fetched ahead.
[[gnu::always_inline]] inline void prefetch_lines(Prefetch& ahead) {
    if (ahead.n_bytes == 0) return;
    for (uint32_t line = 0; line < ahead.n_lines; ++line) Simd::prefetch(ahead.at + 64 * line);
    const uint32_t n_bytes = 64 * ahead.n_lines;
    ahead.at += n_bytes;
    if (n_bytes < ahead.n_bytes) {
        ahead.n_bytes -= n_bytes;
        return;
    }
    ahead.at = ahead.then;
    ahead.n_bytes = ahead.n_then;
    ahead.n_then = 0;
}

// Vectors 0 .. 3 are low nibbles, 4 .. 7 the high ones of the same bytes.
template <int j>
[[gnu::always_inline]] inline Simd::I nibbles(const uint8_t* group, int half) {
    const Simd::I v = Simd::iload(group + 64 * (j % 4) + 4 * Simd::kLanes * half);
    return j < 4 ? Simd::low_nibbles(v) : Simd::high_nibbles(v);
}

template <int j>
[[gnu::always_inline]] inline Simd::I add_fifth_bits(Simd::I w, const uint8_t* plane, int half) {
    return Simd::add_bit<j, 4>(w, Simd::iload(plane + 4 * Simd::kLanes * half));
}

struct Q4_0 {
    static constexpr uint32_t kBytes = 288, kScaleAt = 256, kMinAt = 0;
    static constexpr WeightBits kBits = WeightBits::four;
    static constexpr bool kMin = false;
    static constexpr bool kUnpackPays = false;
    static constexpr unsigned kZeroShift = 3;
    template <int j>
    [[gnu::always_inline]] static Simd::I vector(const uint8_t* group, int half) {
        return nibbles<j>(group, half);
    }
};

struct Q4_1 {
    static constexpr uint32_t kBytes = 320, kScaleAt = 256, kMinAt = 288;
    static constexpr WeightBits kBits = WeightBits::four;
    static constexpr bool kMin = true;
    static constexpr bool kUnpackPays = false;
    static constexpr unsigned kZeroShift = 0;
    template <int j>
    [[gnu::always_inline]] static Simd::I vector(const uint8_t* group, int half) {
        return nibbles<j>(group, half);
    }
};

struct Q5_0 {
    static constexpr uint32_t kBytes = 352, kScaleAt = 320, kMinAt = 0;
    static constexpr WeightBits kBits = WeightBits::five;
    static constexpr bool kMin = false;
    static constexpr bool kUnpackPays = true;
    static constexpr unsigned kZeroShift = 4;
    template <int j>
    [[gnu::always_inline]] static Simd::I vector(const uint8_t* group, int half) {
        return add_fifth_bits<j>(nibbles<j>(group, half), group + 256, half);
    }
};

struct Q5_1 {
    static constexpr uint32_t kBytes = 384, kScaleAt = 320, kMinAt = 352;
    static constexpr WeightBits kBits = WeightBits::five;
    static constexpr bool kMin = true;
    static constexpr bool kUnpackPays = true;
    static constexpr unsigned kZeroShift = 0;
    template <int j>
    [[gnu::always_inline]] static Simd::I vector(const uint8_t* group, int half) {
        return add_fifth_bits<j>(nibbles<j>(group, half), group + 256, half);
    }
};

struct Q8_0 {
    static constexpr uint32_t kBytes = 544, kScaleAt = 512, kMinAt = 0;
    static constexpr WeightBits kBits = WeightBits::eight;
    static constexpr bool kMin = false;
    static constexpr bool kUnpackPays = false;
    static constexpr unsigned kZeroShift = 7;
    template <int j>
    [[gnu::always_inline]] static Simd::I vector(const uint8_t* group, int half) {
        return Simd::iload(group + 64 * j + 4 * Simd::kLanes * half);
    }
};

// Nibbles index the table of values, kept as value + 128.
struct IQ4_NL {
    static constexpr uint32_t kBytes = 288, kScaleAt = 256, kMinAt = 0;
    static constexpr WeightBits kBits = WeightBits::eight;
    static constexpr bool kMin = false;
    static constexpr bool kUnpackPays = true;
    static constexpr unsigned kZeroShift = 7;
    template <int j>
    [[gnu::always_inline]] static Simd::I vector(const uint8_t* group, int half) {
        return Simd::look_up(nibbles<j>(group, half), kIq4NlBytes);
    }
    alignas(16) static constexpr uint8_t kIq4NlBytes[16] = {1,   24,  45,  63,  79,  93,  106, 118,
                                                            129, 141, 153, 166, 181, 197, 217, 241};
};

// All of a group.
template <class W, int j = 0>
[[gnu::always_inline]] inline void load_group(const uint8_t* group, int half, Simd::I* w) {
    if constexpr (j < 8) {
        w[j] = W::template vector<j>(group, half);
        load_group<W, j + 1>(group, half, w);
    }
}

}  // namespace
}  // namespace kvik
