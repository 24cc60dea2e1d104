// Bytes -> GgufMetadata: all that a hostile file can say about its metadata is refused here.
#include <fmt/format.h>

#include <algorithm>

#include "formats/gguf_metadata.h"
#include "formats/sorted_index.h"
#include "formats/utf8.h"

namespace kvik {
namespace {

constexpr uint64_t kMaxKeyBytes = 65535;  // the format's own limit
constexpr uint64_t kMaxStringBytes = 1 << 20;

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

Result<void> check_booleans(const ByteCursor& cursor, const GgufValue& value) {
    const auto wrong = std::find_if(value.bytes.begin(), value.bytes.end(),
                                    [](std::byte b) { return b > std::byte{1}; });
    if (wrong == value.bytes.end()) return {};
    return tl::unexpected<Error>(
        cursor.error_at(value.offset + static_cast<uint64_t>(wrong - value.bytes.begin()),
                        {"boolean", "key", value.key},
                        fmt::format("is {}, it can be 0 or 1: the file is damaged, fetch it again",
                                    std::to_integer<int>(*wrong))));
}

Result<void> read_numbers(ByteCursor& cursor, GgufValue& value) {
    value.offset = cursor.offset();
    // No overflow: n_elements is 1 or was compared with what remains.
    KVIK_TRY(value.bytes,
             cursor.take({"value", "key", value.key}, value.n_elements * fixed_bytes(value.type)));
    if (value.type == GgufType::boolean) return check_booleans(cursor, value);
    return {};
}

Result<void> read_array(ByteCursor& cursor, GgufValue& value) {
    const uint64_t type_at = cursor.offset();
    KVIK_TRY(value.type, read_type(cursor, {"array type", "key", value.key}));
    if (value.type == GgufType::array)
        return tl::unexpected<Error>(cursor.error_at(
            type_at, {"array type", "key", value.key},
            "is an array of arrays, kvik reads arrays of numbers and of strings: convert the model "
            "again without it",
            ErrorKind::unsupported));
    value.is_array = true;
    const bool strings = value.type == GgufType::string;
    KVIK_TRY(value.n_elements, cursor.count({"array length", "key", value.key}, UINT64_MAX,
                                            strings ? sizeof(uint64_t) : fixed_bytes(value.type)));
    if (!strings) return read_numbers(cursor, value);

    value.offset = cursor.offset();
    ByteCursor start = cursor;
    for (uint64_t i = 0; i < value.n_elements; ++i)
        KVIK_TRY_VOID(cursor.text({"array element", "key", value.key}, kMaxStringBytes));
    KVIK_TRY(value.bytes, start.take({"value", "key", value.key}, cursor.offset() - value.offset));
    return {};
}

Result<void> read_string(ByteCursor& cursor, GgufValue& value) {
    const uint64_t at = cursor.offset();
    KVIK_TRY(const std::string_view text,
             cursor.text({"value", "key", value.key}, kMaxStringBytes));
    if (!is_utf8(text))
        return tl::unexpected<Error>(cursor.error_at(
            at, {"value", "key", value.key}, "is not UTF-8: the file is damaged, fetch it again"));
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
