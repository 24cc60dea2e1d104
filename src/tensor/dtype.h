// DType: THE table of element types. A type is a name, a group size and the bytes of a group;
// its layout and its reference decode live in tensor/quant/<type>.h.
//
// Shape   a row of n elements is n / group_size groups of group_bytes bytes each.
// Numbers the values are GGUF's type numbers (ggml), so that a file's number needs no translation.
// Adding  one header in quant/ and one row in dtype.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kvik {

enum class DType : uint32_t {
    f32 = 0,
    f16 = 1,
    q4_0 = 2,
    q4_1 = 3,
    q5_0 = 6,
    q5_1 = 7,
    q8_0 = 8,
    q2_k = 10,
    q3_k = 11,
    q4_k = 12,
    q5_k = 13,
    q6_k = 14,
    iq4_nl = 20,
    bf16 = 30,
};

struct DTypeInfo {
    DType type;
    std::string_view name;  // as GGUF prints it: "Q4_1"
    uint32_t group_size;    // elements a group
    uint32_t group_bytes;   // bytes a group
    // Decodes n_groups groups at `src` to f32 at `dst`; the oracle of every other decode.
    void (*decode)(const uint8_t* src, uint64_t n_groups, float* dst) noexcept;
};

// Row of the table; every DType value has one.
const DTypeInfo& dtype_info(DType type);
// By GGUF number: nothing if kvik has no decode for it.
std::optional<DType> dtype_from_number(uint32_t number);
// Bytes of n elements; n must be a multiple of the group size and small enough not to wrap.
uint64_t dtype_bytes(DType type, uint64_t n_elements);

}  // namespace kvik
