// GgufWriter: builds GGUF bytes for tests, true ones and lying ones.
//
// Use     GgufWriter w; w.set("general.architecture", "llama"); w.set("llama.block_count", 2u);
//         w.random_tensor("blk.0.attn_q.weight", DType::q8_0, {64, 64}, seed); w.bytes();
// Shape   tensor dimensions are row-major like Shape: {n_rows, n_cols}.
// Invariant bytes() is a function of the calls; the file ends with its last tensor's last byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "formats/gguf_metadata.h"
#include "tensor/dtype.h"

namespace kvik {

// A tensor as the file shall tell of it, lies included.
struct GgufTensor {
    std::string name;
    uint32_t type = 0;                    // GGUF's number
    std::vector<uint64_t> dims;           // row-major; any number of them
    std::vector<std::byte> data;          // any size
    std::optional<uint64_t> offset = {};  // unset: where the data is put
};

// The payload of an array: one array in another, `depth` of them; the innermost has one i32.
std::vector<std::byte> nested_array(uint32_t depth);

class GgufWriter {
  public:
    explicit GgufWriter(uint32_t version = 3) : version_(version) {}

    // A scalar of the GGUF type that is T: set("k", uint32_t{3}), set("k", 1.0f), set("k", true).
    template <class T>
    requires std::is_arithmetic_v<T> GgufWriter& set(std::string_view key, T value) {
        return put(key, gguf_type<T>(), raw(std::span(&value, 1)));
    }
    GgufWriter& set(std::string_view key, std::string_view text);
    GgufWriter& set(std::string_view key, const char* text) {
        return set(key, std::string_view(text));
    }
    template <class T>
    requires std::is_arithmetic_v<T> GgufWriter& set_array(std::string_view key,
                                                           std::span<const T> values) {
        return put_array(key, gguf_type<T>(), values.size(), raw(values));
    }
    GgufWriter& set_strings(std::string_view key, std::span<const std::string> strings);
    // A value whose payload is given, for types that few should write.
    GgufWriter& put(std::string_view key, GgufType type, std::span<const std::byte> payload);

    GgufWriter& tensor(GgufTensor tensor);
    GgufWriter& f32_tensor(std::string_view name, std::vector<uint64_t> dims,
                           std::span<const float> values);
    // Random values of about -scale .. scale in any dtype of the table.
    GgufWriter& random_tensor(std::string_view name, DType dtype, std::vector<uint64_t> dims,
                              uint64_t seed, float scale = 0.1f);

    uint64_t alignment = 32;  // of tensor data; set "general.alignment" too if it is not 32
    std::vector<std::byte> bytes() const;
    bool write(const std::string& path) const;  // false: it could not be written

  private:
    template <class T>
    static constexpr GgufType gguf_type() {
        if constexpr (std::is_same_v<T, bool>) return GgufType::boolean;
        if constexpr (std::is_same_v<T, float>) return GgufType::f32;
        if constexpr (std::is_same_v<T, double>) return GgufType::f64;
        constexpr GgufType kSigned[] = {GgufType::i8, GgufType::i16, GgufType::i32, GgufType::i64};
        constexpr GgufType kUnsigned[] = {GgufType::u8, GgufType::u16, GgufType::u32,
                                          GgufType::u64};
        constexpr int log2_bytes = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
        return std::is_signed_v<T> ? kSigned[log2_bytes] : kUnsigned[log2_bytes];
    }
    template <class T>
    static std::span<const std::byte> raw(std::span<T> values) {
        return std::as_bytes(values);
    }
    GgufWriter& put_array(std::string_view key, GgufType type, uint64_t n,
                          std::span<const std::byte> payload);

    uint32_t version_;
    uint64_t n_values_ = 0;
    std::vector<std::byte> metadata_;
    std::vector<GgufTensor> tensors_;
};

}  // namespace kvik
