#include "formats/gguf_metadata.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "formats/gguf.h"
#include "formats/utf8.h"
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
    EXPECT_EQ(**metadata.find_reals("f32s"), std::vector<double>{0.5});
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
    refused(metadata.find_real("s"), "'s'", "is string, a number is needed");
    refused(metadata.find_real("b"), "'b'", "is bool, a number is needed");
    refused(metadata.find_bool("x"), "'x'", "is f32, bool is needed");
    refused(metadata.find_string("ss"), "'ss'", "is array of string, string is needed");
    refused(metadata.find_strings("s"), "'s'", "is string, array of string is needed");
    refused(metadata.find_i32s("n"), "'n'", "is u32, an array of integers is needed");
    refused(metadata.find_i32s("ss"), "'ss'", "is array of string, an array of integers is needed");
    refused(metadata.find_reals("ss"), "'ss'", "is array of string, an array of numbers is needed");
    refused(metadata.find_reals("x"), "'x'", "is f32, an array of numbers is needed");
}

// Calls check(value of 1 in the type, name of the type) for each type of integers.
template <class Check>
void for_each_integer_type(Check check) {
    check(uint8_t{1}, "u8");
    check(int8_t{1}, "i8");
    check(uint16_t{1}, "u16");
    check(int16_t{1}, "i16");
    check(uint32_t{1}, "u32");
    check(int32_t{1}, "i32");
    check(uint64_t{1}, "u64");
    check(int64_t{1}, "i64");
}

TEST(GgufMetadata, an_array_of_any_integers_is_read_as_i32_and_as_real_numbers) {
    uint32_t n_types = 0;
    for_each_integer_type([&](auto one, const char* name) {
        SCOPED_TRACE(name);
        using T = decltype(one);
        const T top = std::numeric_limits<T>::max(), low = std::numeric_limits<T>::min();
        const std::array<T, 3> small = {one, T{0}, T{100}}, ends = {low, one, top};
        GgufWriter w;
        w.template set_array<T>("small", small).template set_array<T>("ends", ends);
        w.template set_array<T>("none", {});
        const Opened opened(w);
        const GgufMetadata& metadata = opened.metadata();
        EXPECT_EQ(**metadata.find_i32s("small"), (std::vector<int32_t>{1, 0, 100}));
        EXPECT_EQ(**metadata.find_reals("small"), (std::vector<double>{1, 0, 100}));
        EXPECT_TRUE((*metadata.find_i32s("none"))->empty());
        EXPECT_EQ((**metadata.find_reals("ends"))[2], static_cast<double>(top));
        EXPECT_EQ((**metadata.find_reals("ends"))[0], static_cast<double>(low));
        if (std::in_range<int32_t>(low) && std::in_range<int32_t>(top))
            EXPECT_EQ(
                (**metadata.find_i32s("ends")),
                (std::vector<int32_t>{static_cast<int32_t>(low), 1, static_cast<int32_t>(top)}));
        else
            expect_refused(metadata.find_i32s("ends"), ErrorKind::file,
                           {"'ends'", std::in_range<int32_t>(low) ? "element 2" : "element 0",
                            "the range is -2147483648 .. 2147483647"});
        ++n_types;
    });
    EXPECT_EQ(n_types, 8u);
}

TEST(GgufMetadata, a_boolean_is_0_or_1_in_any_integer_type_and_a_real_any_number) {
    for_each_integer_type([&](auto one, const char* name) {
        SCOPED_TRACE(name);
        using T = decltype(one);
        const Opened opened(GgufWriter().set("no", T{0}).set("yes", one).set("two", T{2}));
        const GgufMetadata& metadata = opened.metadata();
        EXPECT_EQ(**metadata.find_bool("no"), false);
        EXPECT_EQ(**metadata.find_bool("yes"), true);
        EXPECT_EQ(**metadata.find_real("two"), 2.0);
        expect_refused(metadata.find_bool("two"), ErrorKind::file,
                       {"'two'", "holds 2 for a boolean", "convert the model again"});
    });
}

TEST(GgufMetadata, booleans_are_checked_where_they_are_asked_for) {
    GgufWriter w;
    w.set("k", true).set_array<bool>("ks", std::array{true, false, true});
    std::vector<std::byte> bytes = w.bytes();
    EXPECT_EQ(**GgufFile::from_bytes(bytes, "m.gguf")->metadata().find_i32s("ks"),
              (std::vector<int32_t>{1, 0, 1}));
    bytes[37] = std::byte{2};
    bytes[bytes.size() - 1] = std::byte{255};
    const auto file = GgufFile::from_bytes(bytes, "m.gguf");
    ASSERT_TRUE(file) << file.error().message;
    expect_refused(file->metadata().find_bool("k"), ErrorKind::file,
                   {"key 'k' at byte 37", "holds 2 for a boolean", "damaged"});
    expect_refused(file->metadata().find_i32s("ks"), ErrorKind::file, {"'ks'", "holds 255"});
}

// What nobody asks for stops nothing; what is asked for says what is wrong with it.
TEST(GgufMetadata, strings_are_checked_where_they_are_asked_for) {
    const std::string longest(1 << 20, 'x');
    GgufWriter w;
    w.set("long", longest).set("longer", longest + "x").set("latin1", "Mod\xe8le");
    w.set("utf8", "Mod\xc3\xa8le");
    w.set_strings("longs", std::array<std::string, 2>{"", longest});
    w.set_strings("longers", std::array<std::string, 2>{"", longest + "x"});
    const Opened opened(w);
    ASSERT_TRUE(opened.file) << opened.file.error().message;
    const GgufMetadata& metadata = opened.metadata();
    EXPECT_EQ(**metadata.find_string("long"), longest);
    EXPECT_EQ((*metadata.find_strings("longs"))->size(), 2u);
    expect_refused(metadata.find_string("longer"), ErrorKind::file, {"'longer'", "1048577 bytes"});
    expect_refused(metadata.find_string("latin1"), ErrorKind::file, {"'latin1'", "not UTF-8"});
    expect_refused(metadata.find_strings("longers"), ErrorKind::file,
                   {"'longers'", "element 1", "1048577 bytes"});
    EXPECT_EQ(metadata.find_label("latin1"), "Mod\\xe8le");
    EXPECT_EQ(metadata.find_label("utf8"), "Mod\xc3\xa8le");
    EXPECT_EQ(metadata.find_label("longer"), std::string(4096, 'x') + "...");
    EXPECT_EQ(metadata.find_label("longs"), std::nullopt);
    EXPECT_EQ(metadata.find_label("none"), std::nullopt);
}

TEST(GgufMetadata, a_label_is_not_cut_inside_a_character) {
    for (size_t n = 4090; n <= 4096; ++n) {
        const std::string text = std::string(n, 'x') + "\xf0\x9f\x98\x80\xf0\x9f\x98\x80";
        const std::string label = label_of(text);
        EXPECT_TRUE(is_utf8(label)) << n;
        EXPECT_EQ(label.ends_with("..."), n + 8 > 4096) << n;
    }
}

TEST(GgufMetadata, arrays_of_arrays_are_passed_over) {
    for (uint32_t depth = 2; depth <= 8; ++depth) {
        GgufWriter w;
        w.set("before", uint32_t{1}).put("x.y", GgufType::array, nested_array(depth));
        const Opened opened(w.set("after", uint32_t{2}));
        ASSERT_TRUE(opened.file) << opened.file.error().message;
        const GgufMetadata& metadata = opened.metadata();
        EXPECT_EQ(metadata.require_integer("after", kAny), 2u);
        EXPECT_EQ(type_name(*metadata.find("x.y")), "array of array");
        expect_refused(metadata.find_i32s("x.y"), ErrorKind::file,
                       {"'x.y'", "is array of array, an array of integers is needed"});
    }
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
