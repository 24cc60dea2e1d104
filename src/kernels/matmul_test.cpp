// Tiles times a step's rows: a row gives the same bits in any company (R1), whichever path is taken.
#include "kernels/matmul.h"

#include <gtest/gtest.h>

#include "kernels/kernels_test_support.h"
#include "kernels/select.h"

namespace kvik::testing {
namespace {

constexpr uint32_t kK = 512;
constexpr uint32_t kManyRows = 101;  // more than are read from the tile as it lies

// 64-byte aligned memory.
struct Memory {
    std::vector<std::byte> bytes;
    explicit Memory(uint64_t n_bytes) : bytes(n_bytes + 64) {}
    std::byte* data() {
        const auto address = reinterpret_cast<uintptr_t>(bytes.data());
        return bytes.data() + (round_up(address, 64) - address);
    }
};

struct Worker {
    Memory unpacked{TileScratch::unpacked_bytes(kK)};
    Memory super{TileScratch::unpacked_super_bytes(kK)};
    Memory decoded{TileScratch::decoded_bytes(kK)};
    TileScratch scratch;

    Worker() {
        scratch.unpacked = reinterpret_cast<UnpackedGroup*>(unpacked.data());
        scratch.unpacked_super = reinterpret_cast<UnpackedSuperGroup*>(super.data());
        scratch.decoded = reinterpret_cast<float*>(decoded.data());
    }
};

struct Problem {
    const KernelTable& kernels;
    Act act;
    TileRef a, b;  // b may be none
    Worker& worker;

    // Rows of x, each of kK, to rows of 32 products; where there is no second tile, of 16.
    std::vector<float> run(const float* x, uint32_t n_rows) {
        ActForms forms = act_forms(act, *a.matrix);
        if (b.matrix) forms.add(act_forms(act, *b.matrix));
        Memory memory(Activations::bytes_needed(n_rows, kK, forms));
        Activations activations(memory.data(), n_rows, kK, forms);
        activations.reset(n_rows, kK, forms);
        for (uint32_t row = 0; row < n_rows; ++row)
            EXPECT_EQ(activations.load_row(kernels, row, x + uint64_t{row} * kK), 1);
        const uint32_t width = b.matrix ? 2 * kTileRows : kTileRows;
        std::vector<float> products(size_t{n_rows} * width);
        matmul_tiles(kernels, act, a, b, activations, worker.scratch,
                     [&](uint32_t row, uint32_t n, const float* out) {
                         for (uint32_t c = 0; c < n; ++c)
                             std::memcpy(&products[(row + c) * width], out + c * kSinkStride,
                                         4 * width);
                     });
        return products;
    }
};

class Matmul : public ::testing::TestWithParam<const KernelTable*> {};
INSTANTIATE_TEST_SUITE_P(Isa, Matmul, ::testing::ValuesIn(runnable_kernels()), test_name);

void expect_rows_alone_give_the_same(Problem problem, const std::vector<float>& x,
                                     const std::string& what) {
    const std::vector<float> together = problem.run(x.data(), kManyRows);
    const size_t width = together.size() / kManyRows;
    for (const uint32_t first : {0u, 11u, 12u, 50u, 99u})
        for (const uint32_t n : {1u, 2u}) {
            const std::vector<float> apart = problem.run(&x[size_t{first} * kK], n);
            EXPECT_EQ(0, std::memcmp(apart.data(), &together[first * width], 4 * apart.size()))
                << what << " rows from " << first;
        }
}

TEST_P(Matmul, gives_a_row_the_same_bits_in_any_company) {
    Rng rng(6);
    Worker worker;
    const std::vector<float> x = random_floats(rng, size_t{kManyRows} * kK);
    for (uint32_t i = 0; i < kTileTypes; ++i) {
        const auto type = static_cast<TileType>(i);
        const DTypeInfo& info = dtype_info(tile_traits(type).dtype);
        const Packed w(type, random_rows(rng, info.type, 32, kK), 32, kK);
        for (const Act act : {Act::int8, Act::f32}) {
            const std::string what = std::string(info.name) + (act == Act::f32 ? " f32" : " int8");
            expect_rows_alone_give_the_same(
                {*GetParam(), act, {&w.matrix, 0}, {&w.matrix, 1}, worker}, x, what);
            expect_rows_alone_give_the_same({*GetParam(), act, {&w.matrix, 1}, {}, worker}, x,
                                            what + " alone");
        }
    }
}

TEST_P(Matmul, gives_a_tile_the_same_bits_beside_any_other_type) {
    Rng rng(7);
    Worker worker;
    const std::vector<float> x = random_floats(rng, size_t{kManyRows} * kK);
    std::vector<Packed> all;
    for (uint32_t i = 0; i < kTileTypes; ++i) {
        const auto type = static_cast<TileType>(i);
        all.emplace_back(type, random_rows(rng, tile_traits(type).dtype, 16, kK), 16, kK);
    }
    for (const uint32_t n_rows : {3u, kManyRows}) {
        std::vector<std::vector<float>> alone;
        for (const Packed& w : all)
            alone.push_back(
                Problem{*GetParam(), Act::int8, {&w.matrix, 0}, {}, worker}.run(x.data(), n_rows));
        for (size_t i = 0; i < all.size(); ++i)
            for (size_t j = 0; j < all.size(); ++j) {
                Problem problem = {
                    *GetParam(), Act::int8, {&all[i].matrix, 0}, {&all[j].matrix, 0}, worker};
                const std::vector<float> both = problem.run(x.data(), n_rows);
                for (size_t row = 0; row < n_rows; ++row) {
                    ASSERT_EQ(0, std::memcmp(&both[row * 32], &alone[i][row * 16], 64))
                        << i << " beside " << j << " row " << row;
                    ASSERT_EQ(0, std::memcmp(&both[row * 32 + 16], &alone[j][row * 16], 64))
                        << j << " beside " << i << " row " << row;
                }
            }
    }
}

}  // namespace
}  // namespace kvik::testing
