#include "formats/byte_cursor.h"

#include <gtest/gtest.h>

#include <array>

#include "testing/expect_error.h"

namespace kvik {
namespace {

// Eight bytes of a number, then "abc".
std::array<std::byte, 11> number_then_abc(uint64_t number) {
    std::array<std::byte, 11> bytes{};
    std::memcpy(bytes.data(), &number, sizeof number);
    std::memcpy(bytes.data() + 8, "abc", 3);
    return bytes;
}

TEST(ByteCursor, reads_numbers_in_little_endian_order) {
    const auto bytes = number_then_abc(0x0807060504030201);
    ByteCursor cursor(bytes, "f");
    EXPECT_EQ(cursor.number<uint16_t>({"x"}), 0x0201);
    EXPECT_EQ(cursor.number<uint32_t>({"x"}), 0x06050403u);
    EXPECT_EQ(cursor.offset(), 6u);
    EXPECT_EQ(cursor.n_left(), 5u);
}

TEST(ByteCursor, a_failed_read_moves_nothing) {
    const auto bytes = number_then_abc(4);
    ByteCursor cursor(bytes, "f");
    EXPECT_FALSE(cursor.text({"x"}, 100));
    EXPECT_EQ(cursor.offset(), 0u);
    EXPECT_FALSE(cursor.text({"x"}, 3));
    EXPECT_EQ(cursor.offset(), 0u);
    EXPECT_FALSE(cursor.count({"x"}, 100, 1));
    EXPECT_EQ(cursor.offset(), 0u);
    EXPECT_FALSE(cursor.take({"x"}, 12));
    EXPECT_EQ(cursor.offset(), 0u);
    ASSERT_TRUE(cursor.number<uint64_t>({"x"}));
    EXPECT_FALSE(cursor.number<uint32_t>({"x"}));
    EXPECT_EQ(cursor.offset(), 8u);
}

TEST(ByteCursor, a_string_may_fill_what_remains_and_not_a_byte_more) {
    const auto fits = number_then_abc(3);
    EXPECT_EQ(ByteCursor(fits, "f").text({"x"}, 3), "abc");
    for (const uint64_t n : {uint64_t{4}, uint64_t{1} << 63, UINT64_MAX - 8, UINT64_MAX}) {
        const auto bytes = number_then_abc(n);
        ByteCursor cursor(bytes, "f");
        expect_refused(cursor.text({"x"}, UINT64_MAX), ErrorKind::file, {"f: x at byte 0", "3"});
    }
}

TEST(ByteCursor, a_string_keeps_to_its_limit) {
    const auto bytes = number_then_abc(3);
    ByteCursor cursor(bytes, "f");
    expect_refused(cursor.text({"x"}, 2), ErrorKind::file, {"3 bytes, the limit is 2"});
}

TEST(ByteCursor, a_count_is_what_can_still_be_there) {
    const auto fits = number_then_abc(3);
    EXPECT_EQ(ByteCursor(fits, "f").count({"x"}, 10, 1), 3u);
    ByteCursor cursor(fits, "f");
    expect_refused(cursor.count({"x"}, 10, 2), ErrorKind::file,
                   {"3 of at least 2 bytes", "3 bytes"});
    expect_refused(cursor.count({"x"}, 2, 1), ErrorKind::file, {"is 3, the limit is 2"});
    for (const uint64_t n : {uint64_t{1} << 61, uint64_t{1} << 63, UINT64_MAX}) {
        const auto bytes = number_then_abc(n);
        EXPECT_FALSE(ByteCursor(bytes, "f").count({"x"}, UINT64_MAX, 8)) << n;
    }
}

TEST(ByteCursor, an_error_names_file_field_owner_and_offset) {
    const ByteCursor cursor({}, "model.gguf");
    EXPECT_EQ(cursor.error_at(7, {"n_dims", "tensor", "a\nb"}, "is 9").message,
              "model.gguf: n_dims of tensor 'a\\x0ab' at byte 7: is 9");
}

TEST(InQuotes, escapes_what_could_break_a_line_and_cuts_what_is_long) {
    EXPECT_EQ(in_quotes("a'\\\x1b\xc3\xa9"), "'a\\x27\\x5c\\x1b\\xc3\\xa9'");
    EXPECT_EQ(in_quotes(std::string(64, 'x')), "'" + std::string(64, 'x') + "'");
    EXPECT_EQ(in_quotes(std::string(65, 'x')), "'" + std::string(64, 'x') + "...'");
    for (const char c : {'x', '\x7f', '\n'})
        for (size_t n = 0; n < 100; ++n) EXPECT_LE(in_quotes(std::string(n, c)).size(), 136u);
}

}  // namespace
}  // namespace kvik
