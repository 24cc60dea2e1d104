#include "tensor/dtype.h"

#include <array>
#include <bit>
#include <cstring>

#include "base/check.h"
#include "tensor/half.h"
#include "tensor/quant/iq4_nl.h"
#include "tensor/quant/q2_k.h"
#include "tensor/quant/q3_k.h"
#include "tensor/quant/q4_0.h"
#include "tensor/quant/q4_1.h"
#include "tensor/quant/q4_k.h"
#include "tensor/quant/q5_0.h"
#include "tensor/quant/q5_1.h"
#include "tensor/quant/q5_k.h"
#include "tensor/quant/q6_k.h"
#include "tensor/quant/q8_0.h"

namespace kvik {
namespace {

void decode_f32(const uint8_t* src, uint64_t n_groups, float* dst) noexcept {
    std::memcpy(dst, src, n_groups * sizeof(float));
}

void decode_f16(const uint8_t* src, uint64_t n_groups, float* dst) noexcept {
    for (uint64_t i = 0; i < n_groups; ++i) {
        uint16_t h = 0;
        std::memcpy(&h, src + 2 * i, 2);
        dst[i] = half_to_float(h);
    }
}

void decode_bf16(const uint8_t* src, uint64_t n_groups, float* dst) noexcept {
    for (uint64_t i = 0; i < n_groups; ++i) {
        uint16_t h = 0;
        std::memcpy(&h, src + 2 * i, 2);
        dst[i] = std::bit_cast<float>(static_cast<uint32_t>(h) << 16);
    }
}

constexpr std::array kTypes = {
    DTypeInfo{DType::f32, "F32", 1, 4, decode_f32},
    DTypeInfo{DType::f16, "F16", 1, 2, decode_f16},
    DTypeInfo{DType::q4_0, "Q4_0", 32, sizeof(Q4_0Group), decode_q4_0},
    DTypeInfo{DType::q4_1, "Q4_1", 32, sizeof(Q4_1Group), decode_q4_1},
    DTypeInfo{DType::q5_0, "Q5_0", 32, sizeof(Q5_0Group), decode_q5_0},
    DTypeInfo{DType::q5_1, "Q5_1", 32, sizeof(Q5_1Group), decode_q5_1},
    DTypeInfo{DType::q8_0, "Q8_0", 32, sizeof(Q8_0Group), decode_q8_0},
    DTypeInfo{DType::q2_k, "Q2_K", 256, sizeof(Q2_KGroup), decode_q2_k},
    DTypeInfo{DType::q3_k, "Q3_K", 256, sizeof(Q3_KGroup), decode_q3_k},
    DTypeInfo{DType::q4_k, "Q4_K", 256, sizeof(Q4_KGroup), decode_q4_k},
    DTypeInfo{DType::q5_k, "Q5_K", 256, sizeof(Q5_KGroup), decode_q5_k},
    DTypeInfo{DType::q6_k, "Q6_K", 256, sizeof(Q6_KGroup), decode_q6_k},
    DTypeInfo{DType::iq4_nl, "IQ4_NL", 32, sizeof(IQ4_NLGroup), decode_iq4_nl},
    DTypeInfo{DType::bf16, "BF16", 1, 2, decode_bf16},
};

}  // namespace

const DTypeInfo& dtype_info(DType type) {
    for (const DTypeInfo& info : kTypes)
        if (info.type == type) return info;
    KVIK_CHECK(false, "every DType has a row in the table");
    return kTypes[0];
}

std::optional<DType> dtype_from_number(uint32_t number) {
    for (const DTypeInfo& info : kTypes)
        if (static_cast<uint32_t>(info.type) == number) return info.type;
    return std::nullopt;
}

uint64_t dtype_bytes(DType type, uint64_t n_elements) {
    const DTypeInfo& info = dtype_info(type);
    KVIK_CHECK(n_elements % info.group_size == 0, "a row is whole groups");
    return n_elements / info.group_size * info.group_bytes;
}

}  // namespace kvik
