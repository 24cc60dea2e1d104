// Products of every type in every shape: each instruction set that this machine runs gives the
// scalar reference's bits, from the tile and unpacked, with int8 and with f32 activations.
#include <gtest/gtest.h>

#include "kernels/kernels_test_support.h"
#include "kernels/matmul.h"
#include "kernels/select.h"

namespace kvik::testing {
namespace {

constexpr uint32_t kRows = 27;        // of the matrix: its second tile is not full
constexpr uint32_t kManyTokens = 97;  // more than are read from the tile as it lies
constexpr uint32_t kMaxK = 2304;
constexpr uint32_t kWidths[] = {32, 96, 576, 640, 2304};
constexpr uint32_t kSuperWidths[] = {256, 768, 2304};

template <class T>
T* aligned(std::vector<std::byte>& memory, uint64_t n_bytes) {
    memory.resize(n_bytes + 64);
    const auto address = reinterpret_cast<uintptr_t>(memory.data());
    return reinterpret_cast<T*>(memory.data() + (round_up(address, 64) - address));
}

struct Worker {
    std::vector<std::byte> unpacked, super, decoded;
    TileScratch scratch;

    Worker() {
        scratch.unpacked = aligned<UnpackedGroup>(unpacked, TileScratch::unpacked_bytes(kMaxK));
        scratch.unpacked_super =
            aligned<UnpackedSuperGroup>(super, TileScratch::unpacked_super_bytes(kMaxK));
        scratch.decoded = aligned<float>(decoded, TileScratch::decoded_bytes(kMaxK));
    }
};

// The first n_tokens of x times both tiles: [n_tokens][32].
std::vector<float> multiply(const KernelTable& kernels, Act act, const PackedMatrix& w,
                            const std::vector<float>& x, uint32_t n_tokens, Worker& worker) {
    const ActForms forms = act_forms(act, w);
    std::vector<std::byte> memory;
    auto* bytes = aligned<std::byte>(memory, Activations::bytes_needed(n_tokens, w.n_cols, forms));
    Activations activations(bytes, n_tokens, w.n_cols, forms);
    activations.reset(n_tokens, w.n_cols, forms);
    for (uint32_t token = 0; token < n_tokens; ++token)
        EXPECT_EQ(activations.load_row(kernels, token, &x[size_t{token} * w.n_cols]), 1);
    std::vector<float> products(size_t{n_tokens} * kSinkStride);
    matmul_tiles(kernels, act, {&w, 0}, {&w, 1}, activations, worker.scratch,
                 [&](uint32_t token, uint32_t n, const float* out) {
                     std::memcpy(&products[size_t{token} * kSinkStride], out,
                                 4 * size_t{n} * kSinkStride);
                 });
    return products;
}

class Shapes : public ::testing::TestWithParam<const KernelTable*> {
  protected:
    void expect_the_reference(Act act, const PackedMatrix& w, const std::vector<float>& x,
                              const std::string& what) {
        const std::vector<float> want = multiply(kScalarKernels, act, w, x, kManyTokens, worker);
        for (uint32_t n = 1; n <= 17; ++n) {
            const uint32_t n_tokens = n == 17 ? kManyTokens : n;
            const std::vector<float> got = multiply(*GetParam(), act, w, x, n_tokens, worker);
            EXPECT_EQ(0, std::memcmp(got.data(), want.data(), 4 * got.size()))
                << what << " k " << w.n_cols << " tokens " << n_tokens;
        }
    }

    Worker worker;
    Rng rng{99};
};

INSTANTIATE_TEST_SUITE_P(Isa, Shapes, ::testing::ValuesIn(runnable_kernels()), test_name);

std::vector<uint32_t> widths_of(const TileTraits& traits) {
    if (traits.group == kSuperGroup) return {std::begin(kSuperWidths), std::end(kSuperWidths)};
    return {std::begin(kWidths), std::end(kWidths)};
}

TEST_P(Shapes, give_the_reference_for_every_type_width_and_number_of_tokens) {
    for (uint32_t i = 0; i < kTileTypes; ++i) {
        const auto type = static_cast<TileType>(i);
        const TileTraits& traits = tile_traits(type);
        const std::string name(dtype_info(traits.dtype).name);
        for (const uint32_t k : widths_of(traits)) {
            const Packed w(type, random_rows(rng, traits.dtype, kRows, k), kRows, k);
            const std::vector<float> x = random_floats(rng, size_t{kManyTokens} * k);
            expect_the_reference(Act::int8, w.matrix, x, name + " int8");
            if (k < kMaxK) expect_the_reference(Act::f32, w.matrix, x, name + " f32");
        }
    }
}

// Weights all at an end of their range and activations all at theirs: where sums of 16 bits would
// saturate first.
TEST_P(Shapes, give_the_reference_at_the_ends_of_the_range) {
    constexpr uint32_t kK = 512;
    std::vector<float> x(size_t{kManyTokens} * kK);
    for (size_t i = 0; i < x.size(); ++i) {
        const size_t token = i / kK;
        const bool is_negative = token % 3 == 0 || (token % 3 == 1 && i / 2 % 2 == 0);
        x[i] = is_negative ? -1.0f : 1.0f;
    }
    for (uint32_t i = 0; i < kTileTypes; ++i) {
        const auto type = static_cast<TileType>(i);
        const TileTraits& traits = tile_traits(type);
        if (traits.group == 1) continue;
        for (const uint8_t fill : {uint8_t{0}, uint8_t{0x7f}, uint8_t{0x80}, uint8_t{0xff}}) {
            const Packed w(type, filled_rows(rng, traits.dtype, kRows, kK, fill), kRows, kK);
            expect_the_reference(
                Act::int8, w.matrix, x,
                std::string(dtype_info(traits.dtype).name) + " of bytes " + std::to_string(fill));
        }
    }
}

}  // namespace
}  // namespace kvik::testing
