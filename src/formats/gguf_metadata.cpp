#include "formats/gguf_metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "formats/sorted_index.h"
#include "formats/utf8.h"

namespace kvik {
namespace {

constexpr uint64_t kMaxNeededStringBytes = 1 << 20;

constexpr std::array<std::string_view, 13> kTypeNames = {
    "u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool", "string", "array", "u64", "i64", "f64"};

template <class T>
T load(const GgufValue& value, uint64_t index) {
    T number;
    std::memcpy(&number, value.bytes.data() + index * sizeof(T), sizeof(T));
    return number;
}

// An integer of any width: its magnitude and sign.
struct Integer {
    uint64_t magnitude = 0;
    bool is_negative = false;
};

std::string text_of(Integer n) {
    return fmt::format("{}{}", n.is_negative ? "-" : "", n.magnitude);
}

Integer from_signed(int64_t n) {
    return n < 0 ? Integer{-static_cast<uint64_t>(n), true}
                 : Integer{static_cast<uint64_t>(n), false};
}

// Element `index` of numbers of any integer type; nothing for the other types.
std::optional<Integer> integer_at(const GgufValue& value, uint64_t index) {
    switch (value.type) {
        case GgufType::u8:
            return Integer{load<uint8_t>(value, index)};
        case GgufType::u16:
            return Integer{load<uint16_t>(value, index)};
        case GgufType::u32:
            return Integer{load<uint32_t>(value, index)};
        case GgufType::u64:
            return Integer{load<uint64_t>(value, index)};
        case GgufType::i8:
            return from_signed(load<int8_t>(value, index));
        case GgufType::i16:
            return from_signed(load<int16_t>(value, index));
        case GgufType::i32:
            return from_signed(load<int32_t>(value, index));
        case GgufType::i64:
            return from_signed(load<int64_t>(value, index));
        default:
            return std::nullopt;
    }
}

// Element `index` of numbers of any type; nothing for the other types.
std::optional<double> real_at(const GgufValue& value, uint64_t index) {
    if (value.type == GgufType::f32) return load<float>(value, index);
    if (value.type == GgufType::f64) return load<double>(value, index);
    const std::optional<Integer> n = integer_at(value, index);
    if (!n) return std::nullopt;
    const auto magnitude = static_cast<double>(n->magnitude);
    return n->is_negative ? -magnitude : magnitude;
}

bool is_integer(GgufType type) {
    return type != GgufType::f32 && type != GgufType::f64 && type != GgufType::boolean &&
           type != GgufType::string && type != GgufType::array;
}

bool is_number(GgufType type) {
    return is_integer(type) || type == GgufType::f32 || type == GgufType::f64;
}

bool is_scalar(const GgufValue& value, GgufType type) {
    return !value.is_array && value.type == type;
}

bool is_array_of(const GgufValue& value, GgufType type) {
    return value.is_array && value.type == type;
}

std::string_view text_in(const GgufValue& value) {
    return {reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size()};
}

}  // namespace

std::string label_of(std::string_view text) {
    constexpr size_t kMaxLabelBytes = 4096;
    const bool whole_characters = is_utf8(text);
    size_t n = std::min(text.size(), kMaxLabelBytes);
    // A character is not cut in the middle.
    while (whole_characters && n < text.size() && (static_cast<uint8_t>(text[n]) & 0xc0) == 0x80)
        --n;
    std::string label;
    for (const char c : text.substr(0, n)) {
        const auto byte = static_cast<uint8_t>(c);
        if (byte < 0x80 || whole_characters)
            label += c;
        else
            label += fmt::format("\\x{:02x}", byte);
    }
    return label + (n < text.size() ? "..." : "");
}

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
    if (value->is_array || !is_integer(value->type))
        return tl::unexpected<Error>(wrong_type(*value, "an integer"));
    const Integer n = *integer_at(*value, 0);
    if (n.is_negative || n.magnitude < range.min || n.magnitude > range.max)
        return tl::unexpected<Error>(
            error_about(key, fmt::format("is {}, the range is {} .. {}: convert the model again",
                                         text_of(n), range.min, range.max)));
    return n.magnitude;
}

Result<std::optional<double>> GgufMetadata::find_real(std::string_view key) const {
    const GgufValue* value = find(key);
    if (!value) return std::nullopt;
    if (value->is_array || !is_number(value->type))
        return tl::unexpected<Error>(wrong_type(*value, "a number"));
    return *real_at(*value, 0);
}

Result<uint8_t> GgufMetadata::boolean_at(const GgufValue& value, uint64_t index) const {
    const std::optional<Integer> whole = integer_at(value, index);
    const Integer n = whole ? *whole : Integer{load<uint8_t>(value, index)};
    if (!n.is_negative && n.magnitude <= 1) return static_cast<uint8_t>(n.magnitude);
    return tl::unexpected<Error>(error_about(
        value.key,
        fmt::format("holds {} for a boolean, it can be 0 or 1: {}", text_of(n),
                    whole ? "convert the model again" : "the file is damaged, fetch it again")));
}

Result<std::optional<bool>> GgufMetadata::find_bool(std::string_view key) const {
    const GgufValue* value = find(key);
    if (!value) return std::nullopt;
    if (value->is_array || !(value->type == GgufType::boolean || is_integer(value->type)))
        return tl::unexpected<Error>(wrong_type(*value, "bool"));
    KVIK_TRY(const uint8_t boolean, boolean_at(*value, 0));
    return boolean == 1;
}

Result<std::optional<std::string_view>> GgufMetadata::find_string(std::string_view key) const {
    const GgufValue* value = find(key);
    if (!value) return std::nullopt;
    if (!is_scalar(*value, GgufType::string))
        return tl::unexpected<Error>(wrong_type(*value, "string"));
    if (value->bytes.size() > kMaxNeededStringBytes)
        return tl::unexpected<Error>(error_about(
            key, fmt::format("is a string of {} bytes, kvik reads {} here: convert the model again",
                             value->bytes.size(), kMaxNeededStringBytes)));
    if (!is_utf8(text_in(*value)))
        return tl::unexpected<Error>(
            error_about(key, "is not UTF-8: convert the model again with this text in UTF-8"));
    return text_in(*value);
}

std::optional<std::string> GgufMetadata::find_label(std::string_view key) const {
    const GgufValue* value = find(key);
    if (!value || !is_scalar(*value, GgufType::string)) return std::nullopt;
    return label_of(text_in(*value));
}

Result<std::optional<GgufStrings>> GgufMetadata::find_strings(std::string_view key) const {
    const GgufValue* value = find(key);
    if (!value) return std::nullopt;
    if (!is_array_of(*value, GgufType::string))
        return tl::unexpected<Error>(wrong_type(*value, "array of string"));
    const GgufStrings strings(*value);
    uint64_t index = 0;
    for (const std::string_view text : strings) {
        if (text.size() > kMaxNeededStringBytes)
            return tl::unexpected<Error>(error_about(
                key, fmt::format("element {} is a string of {} bytes, kvik reads {} here: convert "
                                 "the model again",
                                 index, text.size(), kMaxNeededStringBytes)));
        ++index;
    }
    return strings;
}

Result<std::optional<std::vector<int32_t>>> GgufMetadata::find_i32s(std::string_view key) const {
    const GgufValue* value = find(key);
    if (!value) return std::nullopt;
    const bool booleans = is_array_of(*value, GgufType::boolean);
    if (!value->is_array || !(booleans || is_integer(value->type)))
        return tl::unexpected<Error>(wrong_type(*value, "an array of integers"));
    constexpr uint64_t kMax = INT32_MAX;
    std::vector<int32_t> numbers;
    numbers.reserve(value->n_elements);
    for (uint64_t i = 0; i < value->n_elements; ++i) {
        if (booleans) {
            KVIK_TRY(const uint8_t boolean, boolean_at(*value, i));
            numbers.push_back(boolean);
            continue;
        }
        const Integer n = *integer_at(*value, i);
        if (n.magnitude > kMax + (n.is_negative ? 1 : 0))
            return tl::unexpected<Error>(error_about(
                key, fmt::format("element {} is {}, the range is {} .. {}: convert the model again",
                                 i, text_of(n), INT32_MIN, INT32_MAX)));
        const auto magnitude = static_cast<int64_t>(n.magnitude);
        numbers.push_back(static_cast<int32_t>(n.is_negative ? -magnitude : magnitude));
    }
    return numbers;
}

Result<std::optional<std::vector<double>>> GgufMetadata::find_reals(std::string_view key) const {
    const GgufValue* value = find(key);
    if (!value) return std::nullopt;
    if (!value->is_array || !is_number(value->type))
        return tl::unexpected<Error>(wrong_type(*value, "an array of numbers"));
    std::vector<double> numbers;
    numbers.reserve(value->n_elements);
    for (uint64_t i = 0; i < value->n_elements; ++i) numbers.push_back(*real_at(*value, i));
    return numbers;
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
