#include "formats/gguf_metadata.h"

#include <fmt/format.h>

#include <array>

#include "formats/sorted_index.h"

namespace kvik {
namespace {

constexpr std::array<std::string_view, 13> kTypeNames = {
    "u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool", "string", "array", "u64", "i64", "f64"};

template <class T>
T load(const GgufValue& value, uint64_t index = 0) {
    T number;
    std::memcpy(&number, value.bytes.data() + index * sizeof(T), sizeof(T));
    return number;
}

// An integer of any width: the value's magnitude and sign, or nothing if it is no integer.
struct Integer {
    uint64_t magnitude = 0;
    bool is_negative = false;
};

Integer from_signed(int64_t n) {
    return n < 0 ? Integer{-static_cast<uint64_t>(n), true}
                 : Integer{static_cast<uint64_t>(n), false};
}

std::optional<Integer> as_integer(const GgufValue& value) {
    if (value.is_array) return std::nullopt;
    switch (value.type) {
        case GgufType::u8:
            return Integer{load<uint8_t>(value)};
        case GgufType::u16:
            return Integer{load<uint16_t>(value)};
        case GgufType::u32:
            return Integer{load<uint32_t>(value)};
        case GgufType::u64:
            return Integer{load<uint64_t>(value)};
        case GgufType::i8:
            return from_signed(load<int8_t>(value));
        case GgufType::i16:
            return from_signed(load<int16_t>(value));
        case GgufType::i32:
            return from_signed(load<int32_t>(value));
        case GgufType::i64:
            return from_signed(load<int64_t>(value));
        default:
            return std::nullopt;
    }
}

bool is_scalar(const GgufValue& value, GgufType type) {
    return !value.is_array && value.type == type;
}

bool is_array_of(const GgufValue& value, GgufType type) {
    return value.is_array && value.type == type;
}

template <class T>
std::vector<T> copy_numbers(const GgufValue& value) {
    std::vector<T> numbers(value.n_elements);
    if (!numbers.empty()) std::memcpy(numbers.data(), value.bytes.data(), value.bytes.size());
    return numbers;
}

}  // namespace

std::string type_name(const GgufValue& value) {
    return fmt::format("{}{}", value.is_array ? "array of " : "",
                       kTypeNames[static_cast<uint32_t>(value.type)]);
}

const GgufValue* GgufMetadata::find(std::string_view key) const {
    const auto key_of = [&](uint32_t i) { return values_[i].key; };
    const std::optional<uint32_t> at = find_sorted(by_key_, key_of, key);
    return at ? &values_[*at] : nullptr;
}

Result<std::optional<uint64_t>> GgufMetadata::find_integer(std::string_view key,
                                                           IntegerRange range) const {
    const GgufValue* value = find(key);
    if (!value) return std::nullopt;
    const std::optional<Integer> n = as_integer(*value);
    if (!n) return tl::unexpected<Error>(wrong_type(*value, "an integer"));
    if (n->is_negative || n->magnitude < range.min || n->magnitude > range.max)
        return tl::unexpected<Error>(error_about(
            key, fmt::format("is {}{}, the range is {} .. {}: convert the model again",
                             n->is_negative ? "-" : "", n->magnitude, range.min, range.max)));
    return n->magnitude;
}

Result<std::optional<double>> GgufMetadata::find_real(std::string_view key) const {
    const GgufValue* value = find(key);
    if (!value) return std::nullopt;
    if (is_scalar(*value, GgufType::f32)) return static_cast<double>(load<float>(*value));
    if (is_scalar(*value, GgufType::f64)) return load<double>(*value);
    return tl::unexpected<Error>(wrong_type(*value, "f32 or f64"));
}

Result<std::optional<bool>> GgufMetadata::find_bool(std::string_view key) const {
    const GgufValue* value = find(key);
    if (!value) return std::nullopt;
    if (is_scalar(*value, GgufType::boolean)) return load<uint8_t>(*value) == 1;
    return tl::unexpected<Error>(wrong_type(*value, "bool"));
}

Result<std::optional<std::string_view>> GgufMetadata::find_string(std::string_view key) const {
    const GgufValue* value = find(key);
    if (!value) return std::nullopt;
    if (is_scalar(*value, GgufType::string))
        return std::string_view(reinterpret_cast<const char*>(value->bytes.data()),
                                value->bytes.size());
    return tl::unexpected<Error>(wrong_type(*value, "string"));
}

Result<std::optional<GgufStrings>> GgufMetadata::find_strings(std::string_view key) const {
    const GgufValue* value = find(key);
    if (!value) return std::nullopt;
    if (is_array_of(*value, GgufType::string)) return GgufStrings(*value);
    return tl::unexpected<Error>(wrong_type(*value, "array of string"));
}

Result<std::optional<std::vector<int32_t>>> GgufMetadata::find_i32s(std::string_view key) const {
    const GgufValue* value = find(key);
    if (!value) return std::nullopt;
    if (is_array_of(*value, GgufType::i32)) return copy_numbers<int32_t>(*value);
    return tl::unexpected<Error>(wrong_type(*value, "array of i32"));
}

Result<std::optional<std::vector<float>>> GgufMetadata::find_f32s(std::string_view key) const {
    const GgufValue* value = find(key);
    if (!value) return std::nullopt;
    if (is_array_of(*value, GgufType::f32)) return copy_numbers<float>(*value);
    return tl::unexpected<Error>(wrong_type(*value, "array of f32"));
}

template <class T>
Result<T> GgufMetadata::required(std::string_view key, Result<std::optional<T>> found) const {
    KVIK_TRY(const std::optional<T> value, std::move(found));
    if (value) return *value;
    return tl::unexpected<Error>(
        error_about(key, "is missing, the model needs it: convert the model again"));
}

Result<uint64_t> GgufMetadata::require_integer(std::string_view key, IntegerRange range) const {
    return required(key, find_integer(key, range));
}

Result<double> GgufMetadata::require_real(std::string_view key) const {
    return required(key, find_real(key));
}

Result<std::string_view> GgufMetadata::require_string(std::string_view key) const {
    return required(key, find_string(key));
}

Result<GgufStrings> GgufMetadata::require_strings(std::string_view key) const {
    return required(key, find_strings(key));
}

Error GgufMetadata::error_about(std::string_view key, std::string_view problem,
                                ErrorKind kind) const {
    const GgufValue* value = find(key);
    const std::string where = value ? fmt::format(" at byte {}", value->offset) : "";
    return {kind, fmt::format("{}: key {}{}: {}", file_, in_quotes(key), where, problem)};
}

Error GgufMetadata::wrong_type(const GgufValue& value, std::string_view needed) const {
    return error_about(value.key, fmt::format("is {}, {} is needed: convert the model again",
                                              type_name(value), needed));
}

}  // namespace kvik
