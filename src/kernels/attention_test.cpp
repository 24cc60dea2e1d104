// Attention over q8 KV (R10 of SPEC.md): every instruction set gives the scalar reference's bits.
#include <gtest/gtest.h>
#include <immintrin.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/kernels_test_support.h"
#include "kernels/select.h"

namespace kvik::testing {
namespace {

class QuantAttention : public ::testing::TestWithParam<const KernelTable*> {
  protected:
    // As workers do (R7); 0x8040 is FTZ and DAZ.
    void SetUp() override { _mm_setcsr(before | 0x8040u); }
    void TearDown() override { _mm_setcsr(before); }

    const unsigned before = _mm_getcsr();
    const KernelTable& fast = *GetParam();
    Rng rng{20240608};
};

INSTANTIATE_TEST_SUITE_P(Isa, QuantAttention, ::testing::ValuesIn(runnable_kernels()), test_name);

// A random problem over one chunk: tiles and queries of any bytes, state from before or none.
struct Problem {
    uint32_t n, dim, groups;
    std::vector<uint8_t> k, v;
    std::vector<int8_t> q;
    std::vector<float> d;
    std::vector<int32_t> nsum;
    std::vector<uint32_t> begin, end;
    std::vector<float> m, l, o;

    uint32_t k_tile() const { return 16 * dim + 64 * groups; }
    uint32_t v_tile() const { return 16 * dim + 64; }

    Problem(Rng& rng, uint32_t n_queries, uint32_t head_dim)
        : n(n_queries),
          dim(head_dim),
          groups((dim + 31) / 32),
          k(size_t{16} * k_tile()),
          v(size_t{16} * v_tile()),
          q(size_t{n} * kMaxHeadDim),
          d(size_t{n} * kMaxQueryGroups),
          nsum(d.size()),
          m(n, -std::numeric_limits<float>::infinity()),
          l(n, 0.0f),
          o(size_t{n} * kMaxHeadDim, 0.0f) {
        const auto any = [&] { return static_cast<int>(below(rng, 255)) - 127; };
        const auto put_scales = [&](uint8_t* at, uint32_t count) {
            for (uint32_t i = 0; i < count; ++i, at += 4) {
                const float scale = std::fabs(normal(rng, 0.01f));
                std::memcpy(at, &scale, 4);
            }
        };
        for (uint32_t t = 0; t < 16; ++t) {
            uint8_t* k_at = &k[size_t{t} * k_tile()];
            uint8_t* v_at = &v[size_t{t} * v_tile()];
            for (uint32_t i = 0; i < 16 * dim; ++i) {
                k_at[i] = static_cast<uint8_t>(any() + 128);
                v_at[i] = static_cast<uint8_t>(any());
            }
            put_scales(k_at + 16 * dim, 16 * groups);
            put_scales(v_at + 16 * dim, 16);
        }
        const uint32_t base = below(rng, kChunkTokens);
        for (uint32_t r = 0; r < n; ++r) {
            for (uint32_t i = 0; i < dim; ++i) {
                q[r * kMaxHeadDim + i] = static_cast<int8_t>(any());
                nsum[r * kMaxQueryGroups + i / 32] -= q[r * kMaxHeadDim + i];
            }
            for (uint32_t g = 0; g < groups; ++g)
                d[r * kMaxQueryGroups + g] = std::fabs(normal(rng, 0.01f));
            const bool related = below(rng, 4) != 0;
            end.push_back(related ? std::min(base + r, kChunkTokens)
                                  : below(rng, kChunkTokens + 1));
            begin.push_back(below(rng, 2) == 0 ? 0 : below(rng, end[r] + 1));
            if (below(rng, 2) == 0) continue;
            m[r] = normal(rng);
            l[r] = 1.0f + static_cast<float>(below(rng, 100));
            for (uint32_t i = 0; i < dim; ++i) o[r * kMaxHeadDim + i] = normal(rng);
        }
    }

    void run(const KernelTable& kernels) {
        std::vector<const void*> k_tiles, v_tiles;
        for (size_t t = 0; t < 16; ++t) {
            k_tiles.push_back(&k[t * k_tile()]);
            v_tiles.push_back(&v[t * v_tile()]);
        }
        std::vector<float> scores(size_t{n} * kChunkTokens);
        kernels.attend_q8({.n_queries = n,
                           .head_dim = dim,
                           .q = nullptr,
                           .k_tiles = k_tiles.data(),
                           .v_tiles = v_tiles.data(),
                           .begin = begin.data(),
                           .end = end.data(),
                           .scale = 1.0f / std::sqrt(static_cast<float>(dim)),
                           .scores = scores.data(),
                           .m = m.data(),
                           .l = l.data(),
                           .o = o.data(),
                           .quant = {q.data(), d.data(), nsum.data()}});
    }

    bool same_state(const Problem& other) const {
        return same_bits(m, other.m) && same_bits(l, other.l) && same_bits(o, other.o);
    }
};

TEST_P(QuantAttention, alike_for_every_number_of_rows_and_any_visibility) {
    for (const uint32_t dim : {16u, 32u, 48u, 64u, 80u, 128u, 256u})
        for (uint32_t n = 1; n <= kMaxQueries; ++n)
            for (int repeat = 0; repeat < 4; ++repeat) {
                Problem want(rng, n, dim), got = want;
                want.run(kScalarKernels);
                got.run(fast);
                EXPECT_TRUE(got.same_state(want)) << "dim " << dim << " n " << n;
            }
}

TEST_P(QuantAttention, of_extreme_bytes_does_not_saturate) {
    for (const int key : {-127, 127})
        for (const int query : {-127, 127}) {
            Problem want(rng, 3, 128);
            for (uint32_t t = 0; t < 16; ++t)
                std::memset(&want.k[size_t{t} * want.k_tile()], key + 128, 16 * 128);
            std::fill(want.q.begin(), want.q.end(), static_cast<int8_t>(query));
            std::fill(want.nsum.begin(), want.nsum.end(), -32 * query);
            want.begin = {0, 0, 0};
            want.end = {256, 256, 256};
            Problem got = want;
            want.run(kScalarKernels);
            got.run(fast);
            EXPECT_TRUE(got.same_state(want)) << key << " " << query;
        }
}

TEST_P(QuantAttention, of_fresh_pages_adds_nothing) {
    Problem problem(rng, 2, 80);
    std::fill(problem.k.begin(), problem.k.end(), uint8_t{0});
    std::fill(problem.v.begin(), problem.v.end(), uint8_t{0});
    problem.begin = {0, 0};
    problem.end = {16, 200};
    problem.m.assign(2, -std::numeric_limits<float>::infinity());
    problem.l.assign(2, 0.0f);
    std::fill(problem.o.begin(), problem.o.end(), 0.0f);
    problem.run(fast);
    EXPECT_EQ(problem.m, std::vector<float>(2, 0.0f));
    EXPECT_EQ(problem.l, (std::vector<float>{16.0f, 200.0f}));
    for (const float x : problem.o) EXPECT_EQ(x, 0.0f);
}

TEST_P(QuantAttention, quantises_a_group_alike_at_every_magnitude_and_length) {
    for (const float scale : {1.0f, 1e-20f, 1e-31f, 1e-42f, 1e30f, 3e37f})
        for (uint32_t n = 16; n <= kMaxHeadDim; n += 16) {
            std::vector<float> x = random_floats(rng, n, scale);
            x[below(rng, n)] = -0.0f;
            std::vector<int8_t> a(n), b(n);
            float da, db;
            EXPECT_EQ(kScalarKernels.quantize_group(x.data(), n, a.data(), &da),
                      fast.quantize_group(x.data(), n, b.data(), &db));
            EXPECT_EQ(a, b);
            EXPECT_EQ(0, std::memcmp(&da, &db, 4)) << "scale " << scale << " n " << n;
            x[below(rng, n)] = below(rng, 2) ? std::numeric_limits<float>::quiet_NaN()
                                             : -std::numeric_limits<float>::infinity();
            EXPECT_EQ(fast.quantize_group(x.data(), n, b.data(), &db), 0);
            EXPECT_EQ(db, 0.0f);
        }
}

}  // namespace
}  // namespace kvik::testing
