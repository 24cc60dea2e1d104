// Every instruction set that this machine runs gives the scalar reference's bits, entry by entry.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/kernels_test_support.h"
#include "kernels/select.h"

namespace kvik::testing {
namespace {

constexpr TileType kQuantised[] = {TileType::q4_0, TileType::q4_1, TileType::q5_0,
                                   TileType::q5_1, TileType::q8_0, TileType::iq4_nl};
constexpr TileType kFloats[] = {TileType::f32, TileType::f16, TileType::bf16};
constexpr TileType kSuper[] = {TileType::q2_k, TileType::q3_k, TileType::q4_k, TileType::q5_k,
                               TileType::q6_k};
constexpr uint32_t kSuperWidths[] = {256, 768, 2304};
constexpr uint32_t kWidths[] = {32, 96, 576, 640, 2304};

class Bits : public IsaTest {};

INSTANTIATE_TEST_SUITE_P(Isa, Bits, ::testing::ValuesIn(runnable_kernels()), test_name);

PanelMemory random_panel(Rng& rng, uint32_t k, uint32_t stride) {
    PanelMemory memory(k, stride);
    for (uint32_t c = 0; c < stride; ++c)
        kScalarKernels.quantize(random_floats(rng, k).data(), k / kGroup, memory.panel, c);
    return memory;
}

TEST_P(Bits, quantise_alike_at_every_magnitude) {
    for (const float scale : {1.0f, 1e-20f, 1e-31f, 2e-38f, 1e-42f, 1e30f, 3e37f})
        for (const uint32_t k : kWidths) {
            std::vector<float> x = random_floats(rng, k, scale);
            for (uint32_t i = 0; i < kGroup; ++i) x[below(rng, k / kGroup) * kGroup + i] = 0.0f;
            x[below(rng, k)] = -0.0f;
            PanelMemory a(k, 5), b(k, 5);
            EXPECT_EQ(scalar.quantize(x.data(), k / kGroup, a.panel, 3),
                      fast.quantize(x.data(), k / kGroup, b.panel, 3));
            EXPECT_TRUE(a.same_bits(b)) << "scale " << scale << " k " << k;
        }
}

TEST_P(Bits, quantise_rounds_ties_to_even) {
    // amax = 127 makes the quotient the value itself.
    std::vector<float> x(kGroup);
    for (uint32_t i = 0; i < kGroup; ++i) x[i] = static_cast<float>(i) + 0.5f;
    x[0] = 127.0f;
    PanelMemory a(kGroup, 1);
    fast.quantize(x.data(), 1, a.panel, 0);
    for (uint32_t i = 1; i < kGroup; ++i) EXPECT_EQ(a.q[i], i % 2 == 0 ? i : i + 1);
}

TEST_P(Bits, quantise_reports_what_is_not_finite) {
    for (const float bad :
         {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
          std::numeric_limits<float>::quiet_NaN()})
        for (uint32_t at = 0; at < 64; ++at) {
            std::vector<float> x = random_floats(rng, 64);
            PanelMemory a(64, 1);
            EXPECT_EQ(fast.quantize(x.data(), 2, a.panel, 0), 1);
            x[at] = bad;
            EXPECT_EQ(fast.quantize(x.data(), 2, a.panel, 0), 0) << at;
        }
}

TEST_P(Bits, matmul_alike_for_every_type_width_and_number_of_columns) {
    for (const TileType type : kQuantised)
        for (const uint32_t k : kWidths) {
            const TileTraits& traits = tile_traits(type);
            const Packed w(type, random_rows(rng, traits.dtype, 16, k), 16, k);
            const uint32_t n_groups = k / kGroup;
            const PanelMemory x = random_panel(rng, k, kPanelCols);
            for (uint32_t n = 1; n <= kPanelCols; ++n) {
                const uint32_t c0 = below(rng, kPanelCols - n + 1);
                std::vector<float> a(n * 20, 7.0f), b(a);
                scalar.types[static_cast<size_t>(type)].matmul(w.matrix.data, n_groups, x.panel, c0,
                                                               n, {a.data(), 20});
                fast.types[static_cast<size_t>(type)].matmul(w.matrix.data, n_groups, x.panel, c0,
                                                             n, {b.data(), 20});
                EXPECT_TRUE(same_bits(a, b))
                    << dtype_info(traits.dtype).name << " k " << k << " n " << n;
            }
        }
}

TEST_P(Bits, unpacked_matmul_gives_what_the_tile_gives) {
    for (const TileType type : kQuantised)
        for (const uint32_t k : kWidths) {
            const TileTraits& traits = tile_traits(type);
            const Packed w(type, random_rows(rng, traits.dtype, 32, k), 32, k);
            const uint32_t n_groups = k / kGroup;
            const TileKernels& kernels = fast.types[static_cast<size_t>(type)];
            std::vector<UnpackedGroup> groups(2 * n_groups);
            kernels.unpack(w.matrix.tile(0), n_groups, groups.data());
            kernels.unpack(w.matrix.tile(1), n_groups, groups.data() + n_groups);
            const PanelMemory x = random_panel(rng, k, kPanelCols);
            for (uint32_t n = 1; n <= kPanelCols; ++n) {
                std::vector<float> want(n * 32), both(want), one(want);
                for (uint32_t t = 0; t < 2; ++t)
                    scalar.types[static_cast<size_t>(type)].matmul(
                        w.matrix.tile(t), n_groups, x.panel, 0, n, {want.data() + 16 * t, 32});
                fast.matmul_unpacked(type, groups.data(), groups.data() + n_groups, n_groups,
                                     x.panel, 0, n, {both.data(), 32}, {both.data() + 16, 32});
                for (uint32_t t = 0; t < 2; ++t)
                    fast.matmul_unpacked(type, groups.data() + t * n_groups, nullptr, n_groups,
                                         x.panel, 0, n, {one.data() + 16 * t, 32}, {});
                EXPECT_TRUE(same_bits(want, both)) << "k " << k << " n " << n;
                EXPECT_TRUE(same_bits(want, one)) << "k " << k << " n " << n;
            }
        }
}

TEST_P(Bits, super_quantise_alike) {
    for (const float scale : {1.0f, 1e-31f, 1e-42f, 3e37f})
        for (const uint32_t k : kSuperWidths) {
            std::vector<float> x = random_floats(rng, k, scale);
            std::fill_n(x.begin(), 256, 0.0f);
            SuperMemory a(k, 5), b(k, 5);
            EXPECT_EQ(scalar.super_quantize(x.data(), k / 256, a.panel, 2),
                      fast.super_quantize(x.data(), k / 256, b.panel, 2));
            EXPECT_TRUE(a.same_bits(b)) << "scale " << scale << " k " << k;
            x[k - 1] = std::numeric_limits<float>::quiet_NaN();
            EXPECT_EQ(fast.super_quantize(x.data(), k / 256, b.panel, 2), 0);
        }
}

TEST_P(Bits, super_matmul_alike_from_the_tile_and_unpacked) {
    for (const TileType type : kSuper)
        for (const uint32_t k : kSuperWidths) {
            const TileTraits& traits = tile_traits(type);
            const std::string name(dtype_info(traits.dtype).name);
            const Packed w(type, random_rows(rng, traits.dtype, 16, k), 16, k);
            const uint32_t n_groups = k / kSuperGroup;
            const TileKernels& kernels = fast.types[static_cast<size_t>(type)];
            std::vector<UnpackedSuperGroup> groups(n_groups + 2);  // what a prefetch may name
            const bool unpacks = kernels.super_unpack != nullptr;
            (unpacks ? fast : scalar)
                .types[static_cast<size_t>(type)]
                .super_unpack(w.matrix.data, n_groups, groups.data());
            SuperMemory x(k, kPanelCols);
            for (uint32_t c = 0; c < kPanelCols; ++c)
                scalar.super_quantize(random_floats(rng, k).data(), n_groups, x.panel, c);
            for (uint32_t n = 1; n <= kPanelCols; ++n) {
                const uint32_t c0 = below(rng, kPanelCols - n + 1);
                std::vector<float> a(n * 20, 7.0f), b(a), u(a), s(a);
                scalar.types[static_cast<size_t>(type)].super_matmul(
                    w.matrix.data, n_groups, x.panel, c0, n, {a.data(), 20});
                kernels.super_matmul(w.matrix.data, n_groups, x.panel, c0, n, {b.data(), 20});
                (unpacks ? fast : scalar)
                    .super_matmul_unpacked(type, groups.data(), n_groups, x.panel, c0, n,
                                           {u.data(), 20});
                scalar.super_matmul_unpacked(type, groups.data(), n_groups, x.panel, c0, n,
                                             {s.data(), 20});
                EXPECT_TRUE(same_bits(a, b)) << name << " k " << k << " n " << n;
                EXPECT_TRUE(same_bits(a, u)) << name << " k " << k << " n " << n;
                EXPECT_TRUE(same_bits(a, s)) << name << " k " << k << " n " << n;
            }
        }
}

TEST_P(Bits, decode_and_f32_matmul_alike) {
    std::vector<std::pair<TileType, uint32_t>> cases;
    for (const TileType type : kFloats)
        for (const uint32_t k : kWidths) cases.emplace_back(type, k);
    for (const TileType type : kQuantised)
        for (const uint32_t k : kWidths) cases.emplace_back(type, k);
    for (const TileType type : kSuper)
        for (const uint32_t k : kSuperWidths) cases.emplace_back(type, k);
    for (const auto& [type, k] : cases) {
        const Packed w(type, random_rows(rng, tile_traits(type).dtype, 16, k), 16, k);
        std::vector<float> a(size_t{k} * 16), b(a);
        const uint32_t n_groups = w.matrix.n_groups();
        scalar.types[static_cast<size_t>(type)].decode(w.matrix.data, n_groups, a.data());
        fast.types[static_cast<size_t>(type)].decode(w.matrix.data, n_groups, b.data());
        ASSERT_TRUE(same_bits(a, b)) << dtype_info(tile_traits(type).dtype).name << " k " << k;
        for (uint32_t n = 1; n <= kPanelCols; ++n) {
            const std::vector<float> x = random_floats(rng, size_t{k} * n);
            std::vector<float> y(n * 16), z(y);
            scalar.matmul_f32(a.data(), k, x.data(), n, n, {y.data(), 16});
            fast.matmul_f32(a.data(), k, x.data(), n, n, {z.data(), 16});
            EXPECT_TRUE(same_bits(y, z)) << "k " << k << " n " << n;
            for (const KernelTable* kernels : {&scalar, &fast}) {
                const auto direct = kernels->types[static_cast<size_t>(type)].matmul_floats;
                EXPECT_EQ(direct != nullptr, tile_traits(type).group == 1);
                if (!direct) continue;
                std::vector<float> d(n * 16);
                direct(w.matrix.data, k, x.data(), n, n, {d.data(), 16});
                EXPECT_TRUE(same_bits(y, d)) << "k " << k << " n " << n;
            }
        }
    }
}

TEST_P(Bits, rows_alike_at_every_length) {
    for (const uint32_t n : {1u, 15u, 16u, 17u, 31u, 64u, 100u, 576u, 640u, 1536u}) {
        const std::vector<float> x = random_floats(rng, n, 3.0f), w = random_floats(rng, n);
        std::vector<float> a(n), b(n);
        const float ss = scalar.rms_norm(x.data(), w.data(), 1e-5f, n, a.data());
        EXPECT_EQ(ss, fast.rms_norm(x.data(), w.data(), 1e-5f, n, b.data()));
        EXPECT_TRUE(same_bits(a, b)) << n;
        const std::vector<float> bias = random_floats(rng, n);
        const float squares =
            scalar.layer_norm(x.data(), w.data(), bias.data(), 1e-5f, n, a.data());
        EXPECT_EQ(squares, fast.layer_norm(x.data(), w.data(), bias.data(), 1e-5f, n, b.data()));
        EXPECT_TRUE(same_bits(a, b)) << n;
        for (const float spread : {0.1f, 2.0f, 20.0f, 1e20f}) {
            const std::vector<float> gate = random_floats(rng, n, spread);
            scalar.silu_mul(gate.data(), x.data(), n, a.data());
            fast.silu_mul(gate.data(), x.data(), n, b.data());
            EXPECT_TRUE(same_bits(a, b)) << n << " spread " << spread;
            scalar.gelu_mul(gate.data(), x.data(), n, a.data());
            fast.gelu_mul(gate.data(), x.data(), n, b.data());
            EXPECT_TRUE(same_bits(a, b)) << n << " spread " << spread;
            scalar.gelu(gate.data(), n, a.data());
            fast.gelu(gate.data(), n, b.data());
            EXPECT_TRUE(same_bits(a, b)) << n << " spread " << spread;
        }
        std::vector<float> large = random_floats(rng, n, 3e4f);
        large[0] = 1e-7f;
        std::vector<uint16_t> p(n), q(n);
        scalar.to_half(large.data(), n, p.data());
        fast.to_half(large.data(), n, q.data());
        EXPECT_EQ(p, q) << n;
    }
}

TEST_P(Bits, turns_heads_alike_in_both_layouts) {
    for (const uint32_t n_dims : {2u, 6u, 16u, 30u, 32u, 64u, 80u, 128u, 256u}) {
        const std::vector<float> row = random_floats(rng, n_dims);
        const std::vector<float> head = random_floats(rng, n_dims + 16);
        for (const auto rope : {&KernelTable::rope_adjacent, &KernelTable::rope_halves}) {
            std::vector<float> a = head, b = head;
            (scalar.*rope)(row.data(), n_dims, a.data());
            (fast.*rope)(row.data(), n_dims, b.data());
            EXPECT_TRUE(same_bits(a, b)) << n_dims;
            EXPECT_FALSE(same_bits(a, head)) << n_dims;
            for (uint32_t i = n_dims; i < head.size(); ++i) EXPECT_EQ(b[i], head[i]) << n_dims;
        }
    }
}

// What a norm returns is how a step learns of a value that is none.
TEST_P(Bits, norms_report_what_is_not_finite) {
    const float infinity = std::numeric_limits<float>::infinity();
    for (const float bad : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()})
        for (const uint32_t n : {1u, 16u, 21u, 40u})
            for (uint32_t at = 0; at < n; ++at) {
                std::vector<float> x = random_floats(rng, n), y(n);
                const std::vector<float> w = random_floats(rng, n), b = random_floats(rng, n);
                EXPECT_TRUE(std::isfinite(fast.rms_norm(x.data(), w.data(), 1e-5f, n, y.data())));
                EXPECT_TRUE(std::isfinite(
                    fast.layer_norm(x.data(), w.data(), b.data(), 1e-5f, n, y.data())));
                x[at] = bad;
                EXPECT_FALSE(std::isfinite(fast.rms_norm(x.data(), w.data(), 1e-5f, n, y.data())));
                EXPECT_FALSE(std::isfinite(
                    fast.layer_norm(x.data(), w.data(), b.data(), 1e-5f, n, y.data())));
            }
}

TEST_P(Bits, gelu_goes_to_the_value_or_to_nothing_far_from_zero) {
    const float infinity = std::numeric_limits<float>::infinity();
    const auto gelu = [&](float x) {
        float y = 0;
        fast.gelu(&x, 1, &y);
        return y;
    };
    EXPECT_EQ(gelu(0.0f), 0.0f);
    for (const float x : {11.0f, 1e3f, 1e13f, 1e20f, 1e30f, 3e38f, infinity}) EXPECT_EQ(gelu(x), x);
    // exp(88) is the largest there is to divide by: 6.1e-39 of the value remains.
    for (const float x : {11.0f, 1e3f, 1e13f, 1e20f, 1e30f}) {
        EXPECT_LE(gelu(-x), 0.0f) << x;
        EXPECT_GE(gelu(-x), x * -6.2e-39) << x;
    }
    EXPECT_TRUE(std::isnan(gelu(std::numeric_limits<float>::quiet_NaN())));
    EXPECT_FALSE(std::isfinite(gelu(-infinity)));
}

// A random attention problem over one chunk, with state from before.
struct Attention {
    uint32_t n, dim;
    std::vector<float> q, k, v;
    std::vector<uint16_t> k16, v16;
    std::vector<uint32_t> begin, end;
    std::vector<float> m, l, o;

    Attention(Rng& rng, uint32_t n_queries, uint32_t head_dim)
        : n(n_queries),
          dim(head_dim),
          q(random_floats(rng, size_t{n} * kMaxHeadDim)),
          k(random_floats(rng, size_t{dim} * kChunkTokens)),
          v(random_floats(rng, size_t{dim} * kChunkTokens)),
          k16(k.size()),
          v16(v.size()),
          m(n, -std::numeric_limits<float>::infinity()),
          l(n, 0.0f),
          o(size_t{n} * kMaxHeadDim, 0.0f) {
        kScalarKernels.to_half(k.data(), static_cast<uint32_t>(k.size()), k16.data());
        kScalarKernels.to_half(v.data(), static_cast<uint32_t>(v.size()), v16.data());
        const uint32_t base = below(rng, kChunkTokens);
        for (uint32_t r = 0; r < n; ++r) {
            const bool related = below(rng, 4) != 0;
            const uint32_t stop =
                related ? std::min(base + r, kChunkTokens) : below(rng, kChunkTokens + 1);
            end.push_back(stop);
            begin.push_back(below(rng, 2) == 0 ? 0 : below(rng, stop + 1));
            if (below(rng, 2) == 0) {
                m[r] = normal(rng);
                l[r] = 1.0f + static_cast<float>(below(rng, 100));
                for (uint32_t d = 0; d < dim; ++d) o[r * kMaxHeadDim + d] = normal(rng);
            }
        }
    }

    template <class T>
    void run(const KernelTable& kernels, const std::vector<T>& keys, const std::vector<T>& values) {
        std::vector<const void*> k_tiles, v_tiles;
        for (uint32_t t = 0; t < kChunkTokens; t += 16) {
            k_tiles.push_back(keys.data() + size_t{t} * dim);
            v_tiles.push_back(values.data() + size_t{t} * dim);
        }
        std::vector<float> scores(size_t{n} * kChunkTokens);
        const AttentionChunk chunk = {n,
                                      dim,
                                      q.data(),
                                      k_tiles.data(),
                                      v_tiles.data(),
                                      begin.data(),
                                      end.data(),
                                      1.0f / std::sqrt(static_cast<float>(dim)),
                                      scores.data(),
                                      m.data(),
                                      l.data(),
                                      o.data()};
        sizeof(T) == 2 ? kernels.attend_f16(chunk) : kernels.attend_f32(chunk);
    }
};

TEST_P(Bits, attention_alike_for_every_number_of_rows_and_any_visibility) {
    for (const uint32_t dim : {16u, 48u, 64u, 80u, 128u, 256u})
        for (uint32_t n = 1; n <= kMaxQueries; ++n)
            for (int repeat = 0; repeat < 4; ++repeat) {
                const Attention problem(rng, n, dim);
                Attention a = problem, b = problem;
                a.run(scalar, a.k16, a.v16);
                b.run(fast, b.k16, b.v16);
                EXPECT_TRUE(same_bits(a.m, b.m) && same_bits(a.l, b.l) && same_bits(a.o, b.o))
                    << "f16 dim " << dim << " n " << n;
                a = problem;
                b = problem;
                a.run(scalar, a.k, a.v);
                b.run(fast, b.k, b.v);
                EXPECT_TRUE(same_bits(a.m, b.m) && same_bits(a.l, b.l) && same_bits(a.o, b.o))
                    << "f32 dim " << dim << " n " << n;
            }
}

TEST_P(Bits, attention_of_a_row_does_not_depend_on_its_neighbours) {
    for (int repeat = 0; repeat < 50; ++repeat) {
        const Attention problem(rng, kMaxQueries, 64);
        Attention together = problem;
        together.run(fast, together.k16, together.v16);
        for (uint32_t r = 0; r < kMaxQueries; ++r) {
            Attention alone = problem;
            alone.n = 1;
            alone.begin = {problem.begin[r]};
            alone.end = {problem.end[r]};
            alone.q.assign(problem.q.begin() + r * kMaxHeadDim,
                           problem.q.begin() + (r + 1) * kMaxHeadDim);
            alone.m = {problem.m[r]};
            alone.l = {problem.l[r]};
            alone.o.assign(problem.o.begin() + r * kMaxHeadDim,
                           problem.o.begin() + (r + 1) * kMaxHeadDim);
            alone.run(fast, alone.k16, alone.v16);
            EXPECT_EQ(alone.l[0], together.l[r]);
            EXPECT_EQ(0, std::memcmp(alone.o.data(), &together.o[r * kMaxHeadDim], 4 * 64));
        }
    }
}

// Chunks computed apart and merged give what going through them in turn gives.
TEST_P(Bits, chunks_apart_merge_to_chunks_in_turn) {
    for (int repeat = 0; repeat < 50; ++repeat) {
        const Attention problem(rng, 3, 64);
        Attention first = problem, turn = problem, apart = problem;
        first.run(fast, first.k, first.v);
        turn.m = first.m, turn.l = first.l, turn.o = first.o;
        turn.run(fast, turn.k16, turn.v16);
        std::fill(apart.m.begin(), apart.m.end(), -std::numeric_limits<float>::infinity());
        std::fill(apart.l.begin(), apart.l.end(), 0.0f);
        std::fill(apart.o.begin(), apart.o.end(), 0.0f);
        apart.run(fast, apart.k16, apart.v16);
        for (uint32_t r = 0; r < 3; ++r) {
            fast.merge_state(apart.m[r], apart.l[r], &apart.o[r * kMaxHeadDim], 64, &first.m[r],
                             &first.l[r], &first.o[r * kMaxHeadDim]);
            EXPECT_EQ(first.m[r], turn.m[r]);
            EXPECT_EQ(first.l[r], turn.l[r]);
            EXPECT_EQ(0, std::memcmp(&first.o[r * kMaxHeadDim], &turn.o[r * kMaxHeadDim], 4 * 64));
        }
    }
}

}  // namespace
}  // namespace kvik::testing
