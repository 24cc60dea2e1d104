// The scalar reference's quantised products against double precision: what each type's decode gives,
// times what the activations were rounded to.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/kernels_test_support.h"

namespace kvik::testing {
namespace {

// One column of activations, quantised as the type asks, as a product and as the values it stands for.
struct Column {
    std::vector<double> values;
    std::vector<float> products;
};

Column multiply(const PackedMatrix& w, const std::vector<float>& x) {
    const TileTraits& traits = tile_traits(w.type);
    const TileKernels& kernels = kScalarKernels.types[static_cast<size_t>(w.type)];
    Column column = {{}, std::vector<float>(kTileRows)};
    const TileOut out = {column.products.data(), kTileRows};
    PanelMemory panel(w.n_cols, 1);
    SuperMemory super(w.n_cols, 1);
    const bool is_super = traits.group == kSuperGroup;
    if (is_super) {
        kScalarKernels.super_quantize(x.data(), w.n_groups(), super.panel, 0);
        kernels.super_matmul(w.tile(0), w.n_groups(), super.panel, 0, 1, out);
    } else {
        kScalarKernels.quantize(x.data(), w.n_groups(), panel.panel, 0);
        kernels.matmul(w.tile(0), w.n_groups(), panel.panel, 0, 1, out);
    }
    for (uint32_t k = 0; k < w.n_cols; ++k)
        column.values.push_back(is_super ? double{super.d[k / kSuperGroup]} * super.q[k]
                                         : double{panel.d[k / kGroup]} * panel.q[k]);
    return column;
}

// A group of 256 takes at most 16 fused steps, each with a scale that is itself rounded, one for the
// minimums and one for the activations' scale: 40 roundings with room to spare; one more a group.
// Partial sums stay below sum |x| times twice the largest weight: that bounds q * scale as well as a
// minimum, since some q of so many is 0.
TEST(Product, is_that_of_decoded_weights_and_rounded_activations) {
    Rng rng(5);
    for (uint32_t i = 0; i < kTileTypes; ++i) {
        const auto type = static_cast<TileType>(i);
        const TileTraits& traits = tile_traits(type);
        if (traits.group == 1) continue;  // floats are not quantised
        const DTypeInfo& info = dtype_info(traits.dtype);
        for (const uint32_t k : {256u, 768u, 2304u}) {
            const std::vector<uint8_t> rows = random_rows(rng, info.type, kTileRows, k);
            const Packed packed(type, rows, kTileRows, k);
            const Column x = multiply(packed.matrix, random_floats(rng, k));
            std::vector<float> w(k);
            for (uint32_t r = 0; r < kTileRows; ++r) {
                info.decode(rows.data() + r * dtype_bytes(info.type, k), k / info.group_size,
                            w.data());
                double want = 0, size = 0, top = 0;
                for (uint32_t j = 0; j < k; ++j) {
                    want += w[j] * x.values[j];
                    size += std::fabs(x.values[j]);
                    top = std::max(top, std::fabs(double{w[j]}));
                }
                const uint32_t roundings = 40 + k / traits.group;
                EXPECT_NEAR(x.products[r], want, roundings * 0x1p-24 * size * 2 * top)
                    << info.name << " k " << k << " row " << r;
            }
        }
    }
}

// Every type of the table of types has tiles: no file is refused for the type of a weight.
TEST(Product, there_are_tiles_for_every_type) {
    for (uint32_t number = 0; number < 64; ++number)
        if (const std::optional<DType> dtype = dtype_from_number(number)) {
            const std::optional<TileType> type = tile_type_of(*dtype);
            ASSERT_TRUE(type.has_value()) << dtype_info(*dtype).name;
            EXPECT_EQ(tile_traits(*type).type, *type) << "the rows are in the order of TileType";
        }
}

}  // namespace
}  // namespace kvik::testing
