// The scalar reference against what SPEC.md says, written down a second time from the file's
// groups, and against double precision.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/kernels_test_support.h"
#include "kernels/select.h"
#include "tensor/quant/q4_1.h"
#include "tensor/quant/q8_0.h"

namespace kvik::testing {
namespace {

struct Column {
    std::vector<int8_t> q;
    std::vector<float> d;
};

// R2 as the SPEC words it.
Column quantise(const std::vector<float>& x) {
    Column column;
    for (size_t g = 0; g < x.size(); g += 32) {
        float amax = 0;
        for (size_t i = 0; i < 32; ++i) amax = std::max(amax, std::fabs(x[g + i]));
        const bool dead = amax < 0x1p-100f;
        column.d.push_back(dead ? 0.0f : amax / 127.0f);
        for (size_t i = 0; i < 32; ++i)
            column.q.push_back(dead ? static_cast<int8_t>(0)
                                    : static_cast<int8_t>(std::lrintf(x[g + i] * (127.0f / amax))));
    }
    return column;
}

float dot_q8_0(const uint8_t* row, const Column& x) {
    const auto* groups = reinterpret_cast<const Q8_0Group*>(row);
    float acc = 0;
    for (size_t g = 0; g < x.d.size(); ++g) {
        int isum = 0;
        for (size_t k = 0; k < 32; ++k) isum += groups[g].q[k] * x.q[32 * g + k];
        acc = std::fmaf(static_cast<float>(isum) * x.d[g], half_to_float(groups[g].d), acc);
    }
    return acc;
}

float dot_q4_1(const uint8_t* row, const Column& x) {
    const auto* groups = reinterpret_cast<const Q4_1Group*>(row);
    float acc = 0;
    for (size_t g = 0; g < x.d.size(); ++g) {
        int isum = 0, sum = 0;
        for (size_t k = 0; k < 32; ++k) {
            const int w = k < 16 ? groups[g].qs[k] & 15 : groups[g].qs[k - 16] >> 4;
            isum += w * x.q[32 * g + k];
            sum += x.q[32 * g + k];
        }
        acc = std::fmaf(static_cast<float>(isum) * x.d[g], half_to_float(groups[g].d), acc);
        acc = std::fmaf(half_to_float(groups[g].m), x.d[g] * static_cast<float>(sum), acc);
    }
    return acc;
}

TEST(Reference, follows_the_rule_for_every_row_of_a_file) {
    Rng rng(1);
    for (const uint32_t k : {32u, 96u, 576u})
        for (const TileType type : {TileType::q4_1, TileType::q8_0}) {
            const uint32_t n_rows = 37;
            const DType dtype = tile_traits(type).dtype;
            const std::vector<uint8_t> rows = random_rows(rng, dtype, n_rows, k);
            const Packed packed(type, rows, n_rows, k);
            const std::vector<float> x = random_floats(rng, k);
            PanelMemory panel(k, 1);
            kScalarKernels.quantize(x.data(), k / 32, panel.panel, 0);
            const Column column = quantise(x);
            for (uint32_t t = 0; t < packed.matrix.n_tiles(); ++t) {
                float out[16];
                kScalarKernels.types[static_cast<size_t>(type)].matmul(
                    packed.matrix.tile(t), k / 32, panel.panel, 0, 1, {out, 16});
                for (uint32_t r = 0; r < 16; ++r) {
                    const uint32_t row = 16 * t + r;
                    if (row >= n_rows) {
                        EXPECT_EQ(out[r], 0.0f);
                        continue;
                    }
                    const uint8_t* bytes = rows.data() + row * dtype_bytes(dtype, k);
                    EXPECT_EQ(out[r], type == TileType::q4_1 ? dot_q4_1(bytes, column)
                                                             : dot_q8_0(bytes, column));
                }
            }
        }
}

TEST(Pack, gives_every_row_back_as_its_type_decodes_it) {
    Rng rng(2);
    for (uint32_t i = 0; i < kTileTypes; ++i)
        for (const uint32_t n_rows : {1u, 15u, 16u, 17u, 50u}) {
            const auto type = static_cast<TileType>(i);
            const uint32_t k = tile_traits(type).group == kSuperGroup ? 512 : 96;
            const DTypeInfo& info = dtype_info(tile_traits(type).dtype);
            const std::vector<uint8_t> rows = random_rows(rng, info.type, n_rows, k);
            const Packed packed(type, rows, n_rows, k);
            std::vector<float> got(k), want(k);
            for (uint32_t row = 0; row < n_rows; ++row) {
                info.decode(rows.data() + row * dtype_bytes(info.type, k), k / info.group_size,
                            want.data());
                decode_packed_row(packed.matrix, row, got.data());
                ASSERT_TRUE(same_bits(got, want)) << info.name << " row " << row;
                std::vector<float> tile(size_t{k} * 16);
                kScalarKernels.types[static_cast<size_t>(type)].decode(
                    packed.matrix.tile(row / 16), packed.matrix.n_groups(), tile.data());
                for (uint32_t j = 0; j < k; ++j) EXPECT_EQ(tile[j * 16 + row % 16], want[j]);
            }
        }
}

// SiLU shows exp at work: silu(-x) = -x / (1 + exp(x)). Degree 6 on |r| <= ln2 / 2 leaves
// r^7 / 7! < 1.2e-7 of 1, on top of which come a few roundings: 4e-7 in all.
TEST(Reference, exp_is_within_a_few_ulp) {
    for (float x = -80.0f; x < 80.0f; x += 0.037f) {
        const float one = 1.0f;
        float y = 0;
        kScalarKernels.silu_mul(&x, &one, 1, &y);
        const double want = x / (1.0 + std::exp(-static_cast<double>(x)));
        EXPECT_NEAR(y, want, 4e-7 * std::fabs(want)) << x;
    }
}

// In units of 2^-24 the argument t = 2y carries 5 roundings of relative error (two constants, square,
// fma, product), which gelu takes with x t sigmoid'(t) < 0.26; exp carries 4e-7 (above), taken with
// x sigmoid'(t) < 0.23; sum and division add 2 more roundings of the result.
TEST(Reference, gelu_is_its_tanh_form) {
    for (float x = -20.0f; x < 20.0f; x += 0.0037f) {
        float y = 0;
        kScalarKernels.gelu(&x, 1, &y);
        const double d = x, inner = std::sqrt(2 / M_PI) * (d + 0.044715 * d * d * d);
        const double want = 0.5 * d * (1 + std::tanh(inner));
        const double ulp = 0x1p-24;
        EXPECT_NEAR(y, want, 0.26 * 5 * ulp + 0.23 * 4e-7 + 2 * ulp * std::fabs(want)) << x;
        const float up = 1.5f;
        float gated = 0;
        kScalarKernels.gelu_mul(&x, &up, 1, &gated);
        EXPECT_EQ(gated, y * up);
    }
}

// Each of n / 16 + 4 additions and a division err by half an ulp of the mean of |x|, here below 4;
// squares are a like chain; after them come five roundings.
TEST(Reference, layer_norm_has_mean_and_variance_of_its_own) {
    Rng rng(4);
    for (const uint32_t n : {1u, 7u, 64u, 100u, 768u}) {
        std::vector<float> x = random_floats(rng, n), y(n);
        for (float& v : x) v += 2.0f;
        const std::vector<float> w = random_floats(rng, n), b = random_floats(rng, n);
        const float returned =
            kScalarKernels.layer_norm(x.data(), w.data(), b.data(), 1e-5f, n, y.data());
        double mean = 0, ss = 0;
        for (const float v : x) mean += v / static_cast<double>(n);
        for (const float v : x) ss += (v - mean) * (v - mean);
        const uint32_t n_roundings = n / 16 + 12;
        const double roundings = n_roundings * 0x1p-24;
        EXPECT_NEAR(returned, ss, 4 * roundings * (ss + 1));
        for (uint32_t i = 0; i < n; ++i) {
            const double unit = (x[i] - mean) / std::sqrt(ss / n + 1e-5);
            // A mean off by 4 * roundings moves the unit by that over the standard deviation.
            const double off = 4 * roundings / std::sqrt(ss / n + 1e-5);
            const double slack = off + roundings * std::fabs(unit);
            EXPECT_NEAR(y[i], unit * w[i] + b[i],
                        slack * std::fabs(w[i]) + 4 * roundings * (std::fabs(b[i]) + 1))
                << n << " " << i;
        }
    }
}

TEST(Reference, rope_turns_pairs_by_the_row_s_angles) {
    // 90 and 180 degrees: (x, y) becomes (-y, x) and (-x, -y).
    const float row[] = {0, -1, 1, 0};
    float adjacent[] = {1, 2, 3, 4, 5}, halves[] = {1, 2, 3, 4, 5};
    kScalarKernels.rope_adjacent(row, 4, adjacent);
    kScalarKernels.rope_halves(row, 4, halves);
    const float want_adjacent[] = {-2, 1, -3, -4, 5}, want_halves[] = {-3, -2, 1, -4, 5};
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(adjacent[i], want_adjacent[i]);
        EXPECT_EQ(halves[i], want_halves[i]);
    }
}

// f32 against f64: a chain of n fused steps errs by at most n half-ulps of its partial sums; with
// 256 tokens and values of order 1, 2e-5 is ten times that.
TEST(Reference, attention_is_softmax_of_scaled_scores_times_values) {
    Rng rng(3);
    const uint32_t dim = 64, n_tokens = 200;
    const std::vector<float> k = random_floats(rng, size_t{dim} * kChunkTokens, 0.3f);
    const std::vector<float> v = random_floats(rng, size_t{dim} * kChunkTokens, 0.3f);
    const std::vector<float> q = random_floats(rng, kMaxHeadDim, 0.3f);
    std::vector<const void*> k_tiles, v_tiles;
    for (uint32_t t = 0; t < kChunkTokens; t += 16) {
        k_tiles.push_back(k.data() + size_t{t} * dim);
        v_tiles.push_back(v.data() + size_t{t} * dim);
    }
    std::vector<float> scores(kChunkTokens), o(kMaxHeadDim, 0.0f);
    float m = -INFINITY, l = 0;
    const uint32_t begin = 3, end = n_tokens;
    kScalarKernels.attend_f32({1, dim, q.data(), k_tiles.data(), v_tiles.data(), &begin, &end,
                               0.125f, scores.data(), &m, &l, o.data()});
    std::vector<double> p(n_tokens), want(dim, 0.0);
    double sum = 0;
    for (uint32_t t = begin; t < end; ++t) {
        double s = 0;
        for (uint32_t d = 0; d < dim; ++d) s += double{q[d]} * k[(t / 16 * dim + d) * 16 + t % 16];
        sum += p[t] = std::exp(s * 0.125);
    }
    for (uint32_t t = begin; t < end; ++t)
        for (uint32_t d = 0; d < dim; ++d) want[d] += p[t] / sum * v[size_t{t} * dim + d];
    for (uint32_t d = 0; d < dim; ++d) EXPECT_NEAR(o[d] / l, want[d], 2e-5);
}

TEST(Select, knows_its_names_and_says_what_it_does_not_know) {
    for (const KernelTable* table : runnable_kernels())
        EXPECT_EQ(*select_kernels(table->name), table);
    EXPECT_EQ(*select_kernels(std::nullopt), runnable_kernels().back());
    const auto unknown = select_kernels("sse9");
    ASSERT_FALSE(unknown.has_value());
    EXPECT_EQ(unknown.error().kind, ErrorKind::usage);
    EXPECT_NE(unknown.error().message.find("scalar, avx2, avx2-vnni, avx512"), std::string::npos);
}

}  // namespace
}  // namespace kvik::testing
