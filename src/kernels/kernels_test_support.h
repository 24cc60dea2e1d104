// What the kernel tests share: seeded random rows, groups and panels in the kernels' layouts.
#pragma once

#include <gtest/gtest.h>
#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/checked.h"
#include "kernels/activations.h"
#include "kernels/pack.h"
#include "tensor/half.h"

namespace kvik::testing {

using Rng = std::mt19937_64;

// Of a test that is run for each instruction set: a name without hyphens.
inline std::string test_name(const ::testing::TestParamInfo<const KernelTable*>& test) {
    std::string name = test.param->name;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

// A test that is run for each instruction set, with the worker's control word (R7): 0x8040 is FTZ
// and DAZ.
class IsaTest : public ::testing::TestWithParam<const KernelTable*> {
  protected:
    void SetUp() override { _mm_setcsr(before | 0x8040u); }
    void TearDown() override { _mm_setcsr(before); }

    const unsigned before = _mm_getcsr();
    const KernelTable& fast = *GetParam();
    const KernelTable& scalar = kScalarKernels;
    Rng rng{20240607};
};

inline float normal(Rng& rng, float scale = 1.0f) {
    return std::normal_distribution<float>(0.0f, scale)(rng);
}

inline uint32_t below(Rng& rng, uint32_t n) {
    return static_cast<uint32_t>(rng() % n);
}

inline std::vector<float> random_floats(Rng& rng, size_t n, float scale = 1.0f) {
    std::vector<float> x(n);
    for (float& v : x) v = normal(rng, scale) * (below(rng, 40) == 0 ? 30.0f : 1.0f);
    return x;
}

// Puts finite scales into rows of a quantised or float matrix as they lie in a file.
inline void put_scales(Rng& rng, DType dtype, std::vector<uint8_t>& bytes) {
    const DTypeInfo& info = dtype_info(dtype);
    const auto put_half = [&](uint8_t* p, float scale) {
        const uint16_t h = float_to_half(normal(rng, scale));
        std::memcpy(p, &h, 2);
    };
    for (size_t at = 0; at < bytes.size(); at += info.group_bytes) {
        const float value = normal(rng);
        switch (dtype) {
            case DType::f32:
                std::memcpy(&bytes[at], &value, 4);
                break;
            case DType::bf16:
                std::memcpy(&bytes[at], reinterpret_cast<const char*>(&value) + 2, 2);
                break;
            case DType::q2_k:
                put_half(&bytes[at + 80], 0.01f);
                put_half(&bytes[at + 82], 0.05f);
                break;
            case DType::q3_k:
                put_half(&bytes[at + 108], 0.001f);
                break;
            case DType::q6_k:
                put_half(&bytes[at + 208], 0.001f);
                break;
            default:
                put_half(&bytes[at], dtype == DType::f16 ? 1.0f : 0.01f);
        }
        if (dtype == DType::q4_1 || dtype == DType::q5_1 || dtype == DType::q4_k ||
            dtype == DType::q5_k)
            put_half(&bytes[at + 2], 0.05f);
    }
}

// Any bits, but finite scales.
inline std::vector<uint8_t> random_rows(Rng& rng, DType dtype, uint32_t n_rows, uint32_t n_cols) {
    std::vector<uint8_t> bytes(n_rows * dtype_bytes(dtype, n_cols));
    for (uint8_t& b : bytes) b = static_cast<uint8_t>(rng());
    put_scales(rng, dtype, bytes);
    return bytes;
}

// The same byte all over, but for the scales.
inline std::vector<uint8_t> filled_rows(Rng& rng, DType dtype, uint32_t n_rows, uint32_t n_cols,
                                        uint8_t fill) {
    std::vector<uint8_t> bytes(n_rows * dtype_bytes(dtype, n_cols), fill);
    put_scales(rng, dtype, bytes);
    return bytes;
}

// 64-byte aligned memory for tiles; the tail is there to be prefetched.
struct Packed {
    std::vector<uint8_t> bytes;
    PackedMatrix matrix;

    Packed(TileType type, const std::vector<uint8_t>& rows, uint32_t n_rows, uint32_t n_cols)
        : bytes(packed_bytes(type, n_rows, n_cols) + 64 + 8192) {
        auto address = reinterpret_cast<uintptr_t>(bytes.data());
        uint8_t* data = bytes.data() + (round_up(address, 64) - address);
        matrix = {type, n_rows, n_cols, data};
        pack_tiles(type, rows.data(), n_rows, n_cols, 0, matrix.n_tiles(), data);
    }
};

// A panel of `stride` columns for K elements.
struct PanelMemory {
    std::vector<int8_t> q;
    std::vector<float> d, u;
    std::vector<int32_t> nsum;
    QuantPanel panel;

    PanelMemory(uint32_t k, uint32_t stride)
        : q(size_t{k} * stride),
          d(size_t{k} / kGroup * stride),
          u(d.size()),
          nsum(d.size()),
          panel{q.data(), d.data(), u.data(), nsum.data(), stride} {}

    bool same_bits(const PanelMemory& other) const {
        return q == other.q && nsum == other.nsum &&
               std::memcmp(d.data(), other.d.data(), 4 * d.size()) == 0 &&
               std::memcmp(u.data(), other.u.data(), 4 * u.size()) == 0;
    }
};

// The same for the K types.
struct SuperMemory {
    std::vector<int8_t> q;
    std::vector<float> d;
    std::vector<int32_t> nsum16;
    std::vector<int16_t> nsum32;
    SuperPanel panel;

    SuperMemory(uint32_t k, uint32_t stride)
        : q(size_t{k} * stride),
          d(size_t{k} / kSuperGroup * stride),
          nsum16(d.size() * 16),
          nsum32(d.size() * 8),
          panel{q.data(), d.data(), nsum16.data(), nsum32.data(), stride} {}

    bool same_bits(const SuperMemory& other) const {
        return q == other.q && nsum16 == other.nsum16 && nsum32 == other.nsum32 &&
               std::memcmp(d.data(), other.d.data(), 4 * d.size()) == 0;
    }
};

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), 4 * a.size()) == 0;
}

}  // namespace kvik::testing
