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

// ----
// Bytes -> GgufMetadata: all that a hostile file can say about its metadata is refused here.

namespace {

constexpr uint64_t kMaxKeyBytes = 65535;    // the format's own limit
constexpr uint64_t kMinArrayBytes = 4 + 8;  // type and number of the elements
constexpr uint32_t kMaxArrayDepth = 8;      // arrays in arrays

// Bytes of a value of fixed size; 0 for the others and for what is no type.
uint64_t fixed_bytes(GgufType type) {
    switch (type) {
        case GgufType::u8:
        case GgufType::i8:
        case GgufType::boolean:
            return 1;
        case GgufType::u16:
        case GgufType::i16:
            return 2;
        case GgufType::u32:
        case GgufType::i32:
        case GgufType::f32:
            return 4;
        case GgufType::u64:
        case GgufType::i64:
        case GgufType::f64:
            return 8;
        case GgufType::string:
        case GgufType::array:
            return 0;
    }
    return 0;
}

Result<GgufType> read_type(ByteCursor& cursor, const Field& field) {
    const uint64_t at = cursor.offset();
    KVIK_TRY(const uint32_t number, cursor.number<uint32_t>(field));
    if (number <= static_cast<uint32_t>(GgufType::f64)) return static_cast<GgufType>(number);
    return tl::unexpected<Error>(cursor.error_at(
        at, field,
        fmt::format("is {}, value types are 0 .. 12: the file is damaged, fetch it again",
                    number)));
}

Result<void> read_numbers(ByteCursor& cursor, GgufValue& value) {
    value.offset = cursor.offset();
    // No overflow: n_elements is 1 or was compared with what remains.
    KVIK_TRY(value.bytes,
             cursor.take({"value", "key", value.key}, value.n_elements * fixed_bytes(value.type)));
    return {};
}

struct ArrayHead {
    GgufType type = GgufType::u8;
    uint64_t n_elements = 0;
};

// The type and the number of an array's elements, as many as can be in what remains.
Result<ArrayHead> read_array_head(ByteCursor& cursor, std::string_view key) {
    ArrayHead head;
    KVIK_TRY(head.type, read_type(cursor, {"array type", "key", key}));
    const uint64_t min_bytes = head.type == GgufType::string  ? sizeof(uint64_t)
                               : head.type == GgufType::array ? kMinArrayBytes
                                                              : fixed_bytes(head.type);
    KVIK_TRY(head.n_elements, cursor.count({"array length", "key", key}, UINT64_MAX, min_bytes));
    return head;
}

// Passes over the elements of an array; `depth` arrays are around them.
Result<void> skip_elements(ByteCursor& cursor, std::string_view key, const ArrayHead& head,
                           uint32_t depth) {
    const Field field{"array element", "key", key};
    if (head.type != GgufType::string && head.type != GgufType::array)
        return cursor.take(field, head.n_elements * fixed_bytes(head.type)).map([](auto) {});
    if (depth == kMaxArrayDepth)
        return tl::unexpected<Error>(cursor.error_at(
            cursor.offset(), field,
            fmt::format("is nested deeper than {} arrays, kvik passes over no more: convert the "
                        "model again without this key",
                        kMaxArrayDepth),
            ErrorKind::unsupported));
    for (uint64_t i = 0; i < head.n_elements; ++i) {
        if (head.type == GgufType::string) {
            KVIK_TRY_VOID(cursor.text(field, UINT64_MAX));
            continue;
        }
        KVIK_TRY(const ArrayHead inner, read_array_head(cursor, key));
        KVIK_TRY_VOID(skip_elements(cursor, key, inner, depth + 1));
    }
    return {};
}

Result<void> read_array(ByteCursor& cursor, GgufValue& value) {
    KVIK_TRY(const ArrayHead head, read_array_head(cursor, value.key));
    value.is_array = true;
    value.type = head.type;
    value.n_elements = head.n_elements;
    if (fixed_bytes(head.type) != 0) return read_numbers(cursor, value);
    value.offset = cursor.offset();
    ByteCursor start = cursor;
    KVIK_TRY_VOID(skip_elements(cursor, value.key, head, 1));
    KVIK_TRY(value.bytes, start.take({"value", "key", value.key}, cursor.offset() - value.offset));
    return {};
}

Result<void> read_string(ByteCursor& cursor, GgufValue& value) {
    const uint64_t at = cursor.offset();
    KVIK_TRY(const std::string_view text, cursor.text({"value", "key", value.key}, UINT64_MAX));
    value.offset = at + sizeof(uint64_t);
    value.bytes = std::as_bytes(std::span(text));
    return {};
}

Result<GgufValue> read_value(ByteCursor& cursor) {
    const uint64_t at = cursor.offset();
    GgufValue value;
    KVIK_TRY(value.key, cursor.text({"metadata key"}, kMaxKeyBytes));
    if (value.key.empty() || !is_utf8(value.key))
        return tl::unexpected<Error>(cursor.error_at(
            at, {"metadata key"},
            fmt::format("{} is {}: the file is damaged, fetch it again", in_quotes(value.key),
                        value.key.empty() ? "empty" : "not UTF-8")));
    KVIK_TRY(value.type, read_type(cursor, {"type", "key", value.key}));
    if (value.type == GgufType::array)
        KVIK_TRY_VOID(read_array(cursor, value));
    else if (value.type == GgufType::string)
        KVIK_TRY_VOID(read_string(cursor, value));
    else
        KVIK_TRY_VOID(read_numbers(cursor, value));
    return value;
}

}  // namespace

Result<GgufMetadata> GgufMetadata::read(ByteCursor& cursor, uint64_t n_values) {
    GgufMetadata metadata;
    metadata.file_ = cursor.file();
    for (uint64_t i = 0; i < n_values; ++i) {
        KVIK_TRY(const GgufValue value, read_value(cursor));
        metadata.values_.push_back(value);
    }
    const auto key_of = [&](uint32_t i) { return metadata.values_[i].key; };
    metadata.by_key_ = sorted_index(metadata.values_.size(), key_of);
    if (const std::optional<Twins> twins = find_twins(metadata.by_key_, key_of))
        return tl::unexpected<Error>(cursor.error_at(
            metadata.values_[twins->second].offset, {"value", "key", key_of(twins->first)},
            fmt::format("is there already at byte {}: the file is damaged or hostile, fetch it "
                        "again",
                        metadata.values_[twins->first].offset)));
    return metadata;
}

}  // namespace kvik
