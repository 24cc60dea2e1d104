// Bytes -> GgufMetadata: all that a hostile file can say about its metadata is refused here.
#include <fmt/format.h>

#include "formats/gguf_metadata.h"
#include "formats/sorted_index.h"
#include "formats/utf8.h"

namespace kvik {
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
