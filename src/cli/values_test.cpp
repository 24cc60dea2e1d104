#include "cli/values.h"

#include <gtest/gtest.h>

namespace kvik::cli {
namespace {

TEST(Values, whole_numbers_hold_their_range_to_the_last_value) {
    EXPECT_EQ(parse_whole("1", {1, 4}).value(), 1u);
    EXPECT_EQ(parse_whole("4", {1, 4}).value(), 4u);
    EXPECT_FALSE(parse_whole("0", {1, 4}));
    EXPECT_FALSE(parse_whole("5", {1, 4}));
    EXPECT_EQ(parse_whole("18446744073709551615", {0, UINT64_MAX}).value(), UINT64_MAX);
    EXPECT_FALSE(parse_whole("18446744073709551616", {0, UINT64_MAX}));
}

TEST(Values, a_number_is_the_whole_text) {
    for (const char* text : {"", "x", "4x", " 4", "4 ", "-1", "+4", "4.0", "0x4"})
        EXPECT_FALSE(parse_whole(text, {})) << text;
    for (const char* text : {"", "x", "0.5x", " 0.5", "1e400", "1e-60"})
        EXPECT_FALSE(parse_float(text)) << text;
}

TEST(Values, a_refused_number_is_named_with_its_range) {
    const Error error = parse_whole("15", {1, 4}).error();
    EXPECT_EQ(error.kind, ErrorKind::usage);
    EXPECT_EQ(error.message, "'15' is not a whole number from 1 to 4");
}

TEST(Values, a_decimal_comma_is_told_the_point) {
    EXPECT_EQ(parse_float("0,7").error().message, "'0,7' is not a number: write 0.7");
    EXPECT_EQ(parse_float("a,b").error().message, "'a,b' is not a number");
}

TEST(Values, sizes_are_powers_of_1024) {
    EXPECT_EQ(parse_bytes("123").value(), 123u);
    EXPECT_EQ(parse_bytes("64K").value(), 65536u);
    EXPECT_EQ(parse_bytes("1.5G").value(), 3ull << 29);
    EXPECT_EQ(parse_bytes("512m").value(), 512ull << 20);
    EXPECT_EQ(parse_bytes("2GiB").value(), 2ull << 30);
    for (const char* text : {"", "G", "iB", "5iB", "1GB", "-1G", "0", "1e30", "nanK"})
        EXPECT_FALSE(parse_bytes(text)) << text;
}

TEST(Values, a_list_with_a_bad_member_changes_nothing) {
    std::vector<uint32_t> list = {7};
    const Setter set = into(list, {1, 64});
    EXPECT_FALSE(set("1,2,"));
    EXPECT_FALSE(set("1,65"));
    EXPECT_EQ(list, std::vector<uint32_t>{7});
    EXPECT_TRUE(set("1,2,4"));
    EXPECT_EQ(list, (std::vector<uint32_t>{1, 2, 4}));
}

TEST(Values, a_choice_sets_its_value_and_a_stranger_is_told_the_words) {
    int value = 0;
    const Setter set = choose(value, {{"one", 1}, {"two", 2}});
    EXPECT_TRUE(set("two"));
    EXPECT_EQ(value, 2);
    EXPECT_EQ(set("three").error().message, "'three' is not one of one, two");
}

}  // namespace
}  // namespace kvik::cli
