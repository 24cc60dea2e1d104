// Every law of gguf.h, broken one at a time: the refusal names the field and where it stands.
#include <gtest/gtest.h>

#include <array>

#include "formats/gguf.h"
#include "testing/expect_error.h"
#include "testing/gguf_writer.h"
#include "testing/patch_bytes.h"

namespace kvik {
namespace {

using Bytes = std::vector<std::byte>;
using Words = std::initializer_list<std::string_view>;

constexpr std::array<uint64_t, 8> kHuge = {
    uint64_t{1} << 31,       uint64_t{1} << 32, (uint64_t{1} << 63) - 1, uint64_t{1} << 63,
    (uint64_t{1} << 63) + 1, UINT64_MAX - 32,   UINT64_MAX - 7,          UINT64_MAX};

// header: magic 0, version 4, tensor_count 8, metadata_kv_count 16; then the first key's length.
constexpr size_t kFirstKey = 24;

void refused(const Bytes& bytes, Words words, ErrorKind kind = ErrorKind::file) {
    expect_refused(GgufFile::from_bytes(bytes, "m.gguf"), kind, words);
}

// One f32 tensor "t" of {2, 4}: its fields follow its name.
Bytes one_tensor() {
    return GgufWriter().random_tensor("t", DType::f32, {2, 4}, 1).bytes();
}
constexpr size_t kNDims = 24 + 8 + 1;
constexpr size_t kDims = kNDims + 4;  // fastest first: 4, then 2
constexpr size_t kType = kDims + 2 * 8;
constexpr size_t kOffset = kType + 4;

TEST(GgufHeader, another_magic_is_refused) {
    refused(with_bytes_at(one_tensor(), 0, 'g'),
            {"m.gguf: magic at byte 0", "'gGUF'", "GGUF file"});
}

TEST(GgufHeader, other_versions_are_refused_by_number) {
    for (const uint32_t version : {0u, 1u, 4u, 99u})
        refused(GgufWriter(version).bytes(),
                {"version at byte 4", "is " + std::to_string(version), "2 and 3"},
                ErrorKind::unsupported);
}

TEST(GgufHeader, a_big_endian_file_is_refused_as_such) {
    refused(with_bytes_at(one_tensor(), 4, 0x03000000u),
            {"version at byte 4", "3 in big-endian order"}, ErrorKind::unsupported);
}

TEST(GgufHeader, counts_are_bounded_by_the_bytes_that_remain) {
    refused(with_bytes_at(one_tensor(), 8, uint64_t{5}),
            {"tensor_count at byte 8", "5 of at least 32 bytes each"});
    refused(with_bytes_at(one_tensor(), 16, uint64_t{1000}),
            {"metadata_kv_count at byte 16", "1000 of at least 13 bytes each"});
    for (const uint64_t n : kHuge) {
        refused(with_bytes_at(one_tensor(), 8, n), {"tensor_count at byte 8", std::to_string(n)});
        refused(with_bytes_at(one_tensor(), 16, n),
                {"metadata_kv_count at byte 16", std::to_string(n)});
    }
}

TEST(GgufHeader, a_million_of_anything_is_the_limit_however_large_the_file) {
    Bytes bytes = one_tensor();
    bytes.resize(64 << 20);
    refused(with_bytes_at(bytes, 8, uint64_t{(1 << 20) + 1}),
            {"tensor_count at byte 8", "limit is 1048576"});
}

TEST(GgufKey, its_length_is_at_most_64_kib_and_what_remains) {
    const Bytes bytes = GgufWriter().set("key", uint32_t{1}).bytes();
    refused(with_bytes_at(bytes, kFirstKey, uint64_t{12}),
            {"metadata key at byte 24", "12 bytes, 11 bytes remain"});
    for (const uint64_t n : kHuge)
        refused(with_bytes_at(bytes, kFirstKey, n),
                {"metadata key at byte 24", std::to_string(n), "limit is 65535"});
    refused(GgufWriter().set(std::string(65536, 'k'), uint32_t{1}).bytes(), {"limit is 65535"});
    EXPECT_TRUE(GgufFile::from_bytes(GgufWriter().set(std::string(65535, 'k'), uint32_t{1}).bytes(),
                                     "m.gguf"));
}

TEST(GgufKey, it_is_utf8_and_not_empty) {
    refused(GgufWriter().set("k\xff", uint32_t{1}).bytes(), {"key at byte 24", "not UTF-8"});
    refused(GgufWriter().set("", uint32_t{1}).bytes(), {"key at byte 24", "empty"});
}

TEST(GgufKey, it_may_not_come_twice) {
    refused(GgufWriter().set("k", uint32_t{1}).set("x", 1.0f).set("k", uint32_t{1}).bytes(),
            {"key 'k' at byte 71", "already at byte 37"});
}

TEST(GgufValue, its_type_is_one_of_thirteen) {
    for (const uint32_t type : {13u, 255u, UINT32_MAX})
        refused(GgufWriter().put("k", static_cast<GgufType>(type), {}).bytes(),
                {"type of key 'k' at byte 33", "is " + std::to_string(type)});
}

TEST(GgufValue, a_string_is_at_most_what_remains) {
    const Bytes bytes = GgufWriter().set("k", "text").bytes();
    refused(with_bytes_at(bytes, 37, uint64_t{5}),
            {"value of key 'k' at byte 37", "5 bytes, 4 bytes remain"});
    for (const uint64_t n : kHuge)
        refused(with_bytes_at(bytes, 37, n), {"value of key 'k' at byte 37", std::to_string(n)});
}

TEST(GgufArray, its_length_is_bounded_by_the_bytes_that_remain) {
    const std::array<int32_t, 3> numbers = {1, 2, 3};
    const Bytes ints = GgufWriter().set_array<int32_t>("k", numbers).bytes();
    refused(with_bytes_at(ints, 41, uint64_t{4}),
            {"array length of key 'k' at byte 41", "4 of at least 4 bytes each", "12 bytes"});
    const Bytes texts = GgufWriter().set_strings("k", std::array<std::string, 2>{"a", "b"}).bytes();
    refused(with_bytes_at(texts, 41, uint64_t{3}), {"array length", "3 of at least 8 bytes each"});
    for (const uint64_t n : kHuge) {
        refused(with_bytes_at(ints, 41, n),
                {"array length of key 'k' at byte 41", std::to_string(n)});
        refused(with_bytes_at(texts, 41, n),
                {"array length of key 'k' at byte 41", std::to_string(n)});
    }
}

TEST(GgufArray, each_of_its_strings_keeps_to_the_limits) {
    const Bytes bytes = GgufWriter().set_strings("k", std::array<std::string, 2>{"a", "b"}).bytes();
    refused(with_bytes_at(bytes, 58, uint64_t{2}),
            {"array element of key 'k' at byte 58", "2 bytes, 1 bytes remain"});
    for (const uint64_t n : kHuge)
        refused(with_bytes_at(bytes, 49, n),
                {"array element of key 'k' at byte 49", std::to_string(n), "bytes remain"});
}

TEST(GgufArray, arrays_are_nested_8_deep_at_most) {
    for (uint32_t depth = 1; depth <= 8; ++depth)
        EXPECT_TRUE(GgufFile::from_bytes(
            GgufWriter().put("k", GgufType::array, nested_array(depth)).bytes(), "m.gguf"));
    for (const uint32_t depth : {9u, 10u, 10000u})
        refused(GgufWriter().put("k", GgufType::array, nested_array(depth)).bytes(),
                {"array element of key 'k' at byte", "deeper than 8"}, ErrorKind::unsupported);
}

TEST(GgufArray, its_type_and_those_of_arrays_in_it_are_known) {
    Bytes bytes = GgufWriter().set_array<int32_t>("k", std::array{1}).bytes();
    refused(with_bytes_at(bytes, 37, uint32_t{13}), {"array type of key 'k' at byte 37", "is 13"});
    bytes = GgufWriter().put("k", GgufType::array, nested_array(2)).bytes();
    refused(with_bytes_at(bytes, 49, uint32_t{13}), {"array type of key 'k' at byte 49", "is 13"});
}

TEST(GgufAlignment, it_is_a_power_of_two_from_8_to_1_gib) {
    for (const uint32_t lie : {0u, 1u, 4u, 1u << 31, UINT32_MAX})
        refused(GgufWriter().set("general.alignment", lie).bytes(),
                {"'general.alignment' at byte 53", "is " + std::to_string(lie), "8 .. 1073741824"});
    for (const uint32_t lie : {9u, 24u, 33u})
        refused(GgufWriter().set("general.alignment", lie).bytes(),
                {"'general.alignment' at byte 53", "power of two"});
    refused(GgufWriter().set("general.alignment", "32").bytes(), {"is string", "integer"});
}

TEST(GgufTensorName, it_is_utf8_not_empty_and_at_most_64_kib) {
    const auto named = [](std::string name) {
        return GgufWriter().random_tensor(name, DType::f32, {4}, 1).bytes();
    };
    refused(named("\x80"), {"tensor name at byte 24", "not UTF-8"});
    refused(named(""), {"tensor name at byte 24", "empty"});
    refused(named(std::string(65536, 'n')), {"tensor name at byte 24", "limit is 65535"});
    for (const uint64_t n : kHuge)
        refused(with_bytes_at(one_tensor(), 24, n), {"tensor name at byte 24", std::to_string(n)});
}

TEST(GgufTensorName, it_may_not_come_twice) {
    GgufWriter w;
    w.random_tensor("t", DType::f32, {4}, 1).random_tensor("t", DType::f32, {4}, 2);
    refused(w.bytes(), {"name of tensor 't' at byte 57", "already at byte 24"});
}

TEST(GgufShape, it_has_one_to_four_dimensions) {
    for (const uint32_t n : {0u, 5u, UINT32_MAX})
        refused(with_bytes_at(one_tensor(), kNDims, n),
                {"n_dims of tensor 't' at byte 33", "is " + std::to_string(n), "1 .. 4"});
}

TEST(GgufShape, no_dimension_is_zero) {
    refused(with_bytes_at(one_tensor(), kDims, uint64_t{0}),
            {"dimension of tensor 't' at byte 37", "0"});
    refused(with_bytes_at(one_tensor(), kDims + 8, uint64_t{0}),
            {"dimension of tensor 't' at byte 45", "at least 1"});
}

TEST(GgufShape, its_product_does_not_wrap) {
    const auto dims = [](uint64_t fastest, uint64_t next) {
        return with_bytes_at(with_bytes_at(one_tensor(), kDims, fastest), kDims + 8, next);
    };
    refused(dims(uint64_t{1} << 32, uint64_t{1} << 32),
            {"dimension of tensor 't' at byte 45", "passes 2^64"});
    refused(dims(3, uint64_t{1} << 63), {"dimension of tensor 't' at byte 45", "passes 2^64"});
    refused(dims(UINT64_MAX, 2), {"dimension of tensor 't' at byte 45", "passes 2^64"});
    // Four factors of 2^16 + 1 and their like wrap to a small number.
    GgufWriter w;
    w.tensor({"t", 0, {1 << 16, 1 << 16, 1 << 16, (1 << 16) + 1}, Bytes(64)});
    refused(w.bytes(), {"dimension of tensor 't' at byte 61", "passes 2^64"});
}

TEST(GgufShape, its_size_in_bytes_does_not_wrap) {
    refused(with_bytes_at(one_tensor(), kDims, uint64_t{1} << 62),
            {"size of tensor 't' at byte 24", "pass 2^64 bytes"});
    // 2^62 elements of four bytes would be 2^64: zero when wrapped.
    GgufWriter w;
    w.tensor({"t", 0, {uint64_t{1} << 62}, Bytes(64)});
    refused(w.bytes(), {"size of tensor 't' at byte 24"});
    w = GgufWriter();
    w.tensor({"t", 8, {UINT64_MAX - 31}, Bytes(64)});
    refused(w.bytes(), {"size of tensor 't' at byte 24"});
}

TEST(GgufShape, huge_dimensions_are_refused_wherever_they_stand) {
    for (const uint64_t n : kHuge) {
        refused(with_bytes_at(one_tensor(), kDims, n), {"tensor 't'", "at byte"});
        refused(with_bytes_at(one_tensor(), kDims + 8, n), {"tensor 't'", "at byte"});
    }
}

TEST(GgufShape, a_row_is_whole_groups) {
    for (const uint64_t n_cols : {1u, 16u, 33u}) {
        GgufWriter w;
        w.tensor({"t", 8, {32, n_cols}, Bytes(34 * 32)});
        refused(w.bytes(),
                {"row of tensor 't' at byte 24", "Q8_0 has groups of 32", std::to_string(n_cols)});
    }
}

TEST(GgufTensorType, one_that_kvik_does_not_read_is_named_with_those_that_it_reads) {
    refused(with_bytes_at(one_tensor(), kType, uint32_t{23}),
            {"type of tensor 't' at byte 53", "is 23 (IQ4_XS)", "F32, F16", "Q4_1", "Q8_0"},
            ErrorKind::unsupported);
    refused(with_bytes_at(one_tensor(), kType, uint32_t{31}), {"is 31 (Q4_0_4_4)"},
            ErrorKind::unsupported);
    for (const uint32_t number : {40u, 1000u, UINT32_MAX})
        refused(with_bytes_at(one_tensor(), kType, number),
                {"type of tensor 't' at byte 53", "is " + std::to_string(number) + ","},
                ErrorKind::unsupported);
}

TEST(GgufTensorData, its_offset_is_aligned) {
    for (const uint64_t offset : {1u, 8u, 31u, 33u})
        refused(with_bytes_at(one_tensor(), kOffset, offset),
                {"offset of tensor 't' at byte 57", "multiple of the alignment 32"});
}

TEST(GgufTensorData, it_lies_inside_the_file) {
    refused(with_bytes_at(one_tensor(), kOffset, uint64_t{32}),
            {"offset of tensor 't' at byte 57", "is 32 and its size 32"});
    for (const uint64_t n : kHuge)
        refused(with_bytes_at(one_tensor(), kOffset, n / 32 * 32),
                {"offset of tensor 't' at byte 57", std::to_string(n / 32 * 32)});
    refused(with_bytes_at(one_tensor(), kDims + 8, uint64_t{3}),
            {"offset of tensor 't' at byte 57", "its size 48 bytes", "ends after 32"});
}

TEST(GgufTensorData, no_two_tensors_overlap) {
    GgufWriter w;
    w.tensor({"a", 0, {16}, Bytes(64), 0});
    w.tensor({"b", 0, {16}, Bytes(64), 96});
    w.tensor({"c", 0, {8}, Bytes(32), 32});
    refused(w.bytes(), {"offset of tensor 'c'", "at byte", "inside 'a'"});
    w = GgufWriter();
    w.tensor({"a", 0, {8}, Bytes(32), 0}).tensor({"b", 0, {8}, Bytes(32), 0});
    refused(w.bytes(), {"offset of tensor 'b'", "inside 'a'"});
}

TEST(GgufTensorData, what_a_hostile_name_says_cannot_break_the_message) {
    GgufWriter w;
    w.tensor({"a\n\x1b[2J" + std::string(5000, 'x'), 99, {1}, Bytes(4)});
    const Bytes bytes = w.bytes();
    const Result<GgufFile> file = GgufFile::from_bytes(bytes, "m.gguf");
    expect_refused(file, ErrorKind::unsupported, {"'a\\x0a\\x1b[2Jxxx", "...'"});
    EXPECT_LT(file.error().message.size(), 300u);
}

}  // namespace
}  // namespace kvik
