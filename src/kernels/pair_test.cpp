// Pairs of tiles times any number of rows: the scalar reference's bits, whichever path is taken.
#include <gtest/gtest.h>

#include "kernels/kernels_test_support.h"
#include "kernels/matmul.h"
#include "kernels/select.h"

namespace kvik::testing {
namespace {

constexpr uint32_t kK = 512;
constexpr uint32_t kOutputs = 72;  // two pairs, and a tile of which half is there

struct alignas(64) Line {
    std::byte bytes[64];
};

std::vector<Line> memory_of(uint64_t n_bytes) {
    return std::vector<Line>(n_bytes / 64 + 1);
}

template <class T>
T* in(std::vector<Line>& memory) {
    return reinterpret_cast<T*>(memory.data());
}

// Rows of x times the matrix, all outputs straight to rows.
std::vector<float> product(const KernelTable& kernels, Act act, const PackedMatrix& matrix,
                           const std::vector<float>& x, uint32_t n_rows) {
    const ActForms forms = act_forms(act, matrix);
    auto memory = memory_of(Activations::bytes_needed(n_rows, kK, forms));
    auto unpacked = memory_of(TileScratch::unpacked_bytes(kK));
    auto super = memory_of(TileScratch::unpacked_super_bytes(kK));
    auto decoded = memory_of(TileScratch::decoded_bytes(kK));
    TileScratch scratch;
    scratch.unpacked = in<UnpackedGroup>(unpacked);
    scratch.unpacked_super = in<UnpackedSuperGroup>(super);
    scratch.decoded = in<float>(decoded);
    Activations rows(in<std::byte>(memory), n_rows, kK, forms);
    rows.reset(n_rows, kK, forms);
    for (uint32_t row = 0; row < n_rows; ++row)
        EXPECT_EQ(rows.load_row(kernels, row, &x[size_t{row} * kK]), 1);
    std::vector<float> out(size_t{n_rows} * matrix.n_rows);
    const TileGemm pairs(kernels, act, matrix, rows, scratch);
    pairs.into(0, pairs.n_pairs(), nullptr, out.data());
    return out;
}

class Pair : public ::testing::TestWithParam<const KernelTable*> {};
INSTANTIATE_TEST_SUITE_P(Isa, Pair, ::testing::ValuesIn(runnable_kernels()), test_name);

TEST_P(Pair, gives_the_references_bits_for_every_type_and_number_of_rows) {
    Rng rng(8);
    const std::vector<float> x = random_floats(rng, 25 * kK);
    for (uint32_t i = 0; i < kTileTypes; ++i) {
        const auto type = static_cast<TileType>(i);
        const DTypeInfo& info = dtype_info(tile_traits(type).dtype);
        const Packed w(type, random_rows(rng, info.type, kOutputs, kK), kOutputs, kK);
        for (const Act act : {Act::int8, Act::f32}) {
            const std::vector<float> want = product(kScalarKernels, act, w.matrix, x, 25);
            for (uint32_t n = 1; n <= 25; ++n) {
                const std::vector<float> got = product(*GetParam(), act, w.matrix, x, n);
                EXPECT_EQ(0, std::memcmp(got.data(), want.data(), 4 * got.size()))
                    << info.name << (act == Act::f32 ? " f32 " : " int8 ") << n << " rows";
            }
        }
    }
}

}  // namespace
}  // namespace kvik::testing
