#include "formats/gguf_metadata.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "formats/gguf.h"
#include "testing/expect_error.h"
#include "testing/gguf_writer.h"

namespace kvik {
namespace {

constexpr IntegerRange kAny = {0, UINT64_MAX};

// Keeps bytes and the file that points into them together.
struct Opened {
    explicit Opened(const GgufWriter& writer)
        : bytes(writer.bytes()), file(GgufFile::from_bytes(bytes, "m.gguf")) {}
    const GgufMetadata& metadata() const { return file->metadata(); }
    std::vector<std::byte> bytes;
    Result<GgufFile> file;
};

TEST(GgufMetadata, reads_an_integer_of_any_width_and_sign) {
    GgufWriter w;
    w.set("u8", uint8_t{7}).set("i8", int8_t{7}).set("u16", uint16_t{7}).set("i16", int16_t{7});
    w.set("u32", uint32_t{7}).set("i32", int32_t{7}).set("u64", uint64_t{7}).set("i64", int64_t{7});
    const Opened opened(w);
    for (const char* key : {"u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"})
        EXPECT_EQ(opened.metadata().require_integer(key, kAny), 7u) << key;
}

TEST(GgufMetadata, an_integer_keeps_to_its_range) {
    GgufWriter w;
    w.set("low", uint32_t{4}).set("minus", int64_t{INT64_MIN}).set("huge", uint64_t{UINT64_MAX});
    const Opened opened(w);
    const GgufMetadata& metadata = opened.metadata();
    EXPECT_TRUE(metadata.require_integer("low", {4, 4}));
    expect_refused(metadata.require_integer("low", {5, 9}), ErrorKind::file,
                   {"m.gguf: key 'low' at byte 39", "is 4", "5 .. 9"});
    expect_refused(metadata.require_integer("minus", kAny), ErrorKind::file,
                   {"'minus'", "is -9223372036854775808"});
    expect_refused(metadata.require_integer("huge", {0, UINT32_MAX}), ErrorKind::file,
                   {"is 18446744073709551615", "0 .. 4294967295"});
}

TEST(GgufMetadata, reads_every_other_type) {
    GgufWriter w;
    w.set("f32", 1.5f).set("f64", -2.5).set("yes", true).set("no", false).set("text", "hi");
    w.set_array<int32_t>("i32s", std::array{3, -4});
    w.set_array<float>("f32s", std::array{0.5f});
    const Opened opened(w);
    const GgufMetadata& metadata = opened.metadata();
    EXPECT_EQ(metadata.require_real("f32"), 1.5);
    EXPECT_EQ(metadata.require_real("f64"), -2.5);
    EXPECT_EQ(**metadata.find_bool("yes"), true);
    EXPECT_EQ(**metadata.find_bool("no"), false);
    EXPECT_EQ(metadata.require_string("text"), "hi");
    EXPECT_EQ(**metadata.find_i32s("i32s"), (std::vector<int32_t>{3, -4}));
    EXPECT_EQ(**metadata.find_f32s("f32s"), std::vector<float>{0.5f});
}

TEST(GgufMetadata, strings_of_an_array_are_seen_where_they_lie) {
    const std::array<std::string, 4> texts = {"a", "", std::string("\xff\0b", 3),
                                              std::string(300, 'x')};
    const Opened opened(GgufWriter().set_strings("texts", texts));
    const Result<GgufStrings> strings = opened.metadata().require_strings("texts");
    ASSERT_TRUE(strings);
    EXPECT_EQ(strings->size(), texts.size());
    size_t i = 0;
    for (const std::string_view text : *strings) {
        EXPECT_EQ(text, texts[i++]);
        const auto* at = reinterpret_cast<const std::byte*>(text.data());
        EXPECT_TRUE(at >= opened.bytes.data() && at <= opened.bytes.data() + opened.bytes.size());
    }
    EXPECT_EQ(i, texts.size());
}

TEST(GgufMetadata, an_absent_key_is_nothing_unless_it_is_required) {
    const Opened opened{GgufWriter().set("a", uint32_t{1})};
    const GgufMetadata& metadata = opened.metadata();
    EXPECT_FALSE(metadata.find_integer("b", kAny)->has_value());
    EXPECT_FALSE(metadata.find_strings("b")->has_value());
    expect_refused(metadata.require_integer("b", kAny), ErrorKind::file,
                   {"m.gguf: key 'b': is missing", "convert"});
    expect_refused(metadata.require_real("b"), ErrorKind::file, {"'b'", "missing"});
    expect_refused(metadata.require_string("b"), ErrorKind::file, {"'b'", "missing"});
    expect_refused(metadata.require_strings("b"), ErrorKind::file, {"'b'", "missing"});
}

TEST(GgufMetadata, a_value_of_another_type_is_refused_with_both_types) {
    GgufWriter w;
    w.set("n", uint32_t{1}).set("x", 1.0f).set("s", "1").set("b", true);
    w.set_array<int32_t>("is", std::array{1});
    w.set_strings("ss", std::array<std::string, 1>{"1"});
    const Opened opened(w);
    const GgufMetadata& metadata = opened.metadata();
    const auto refused = [](const auto& result, std::string_view found, std::string_view needed) {
        expect_refused(result, ErrorKind::file, {"at byte", found, needed});
    };
    refused(metadata.find_integer("x", kAny), "'x'", "is f32, an integer is needed");
    refused(metadata.find_integer("b", kAny), "'b'", "is bool, an integer is needed");
    refused(metadata.find_integer("is", kAny), "'is'", "is array of i32, an integer is needed");
    refused(metadata.find_real("n"), "'n'", "is u32, f32 or f64 is needed");
    refused(metadata.find_bool("n"), "'n'", "is u32, bool is needed");
    refused(metadata.find_string("ss"), "'ss'", "is array of string, string is needed");
    refused(metadata.find_strings("s"), "'s'", "is string, array of string is needed");
    refused(metadata.find_i32s("n"), "'n'", "is u32, array of i32 is needed");
    refused(metadata.find_f32s("is"), "'is'", "is array of i32, array of f32 is needed");
}

TEST(GgufMetadata, finds_every_key_whatever_their_order) {
    GgufWriter w;
    const std::array<const char*, 6> keys = {"m", "a", "z", "aa", "b.c", "b"};
    for (uint32_t i = 0; i < keys.size(); ++i) w.set(keys[i], i);
    const Opened opened(w);
    for (uint32_t i = 0; i < keys.size(); ++i) {
        EXPECT_EQ(opened.metadata().require_integer(keys[i], kAny), i);
        EXPECT_EQ(opened.metadata().values()[i].key, keys[i]);
    }
}

}  // namespace
}  // namespace kvik
