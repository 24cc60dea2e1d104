#include "cli/repl/wide_text.h"

#include <gtest/gtest.h>

namespace kvik::cli {
namespace {

// Of one, two, three and four bytes.
constexpr const char* kAll =
    "a\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf";
constexpr wchar_t kWide[] = {'a', 0x7F, 0x80, 0x7FF, 0x800, 0xFFFF, 0x10000, 0x10FFFF, 0};

TEST(WideText, characters_of_every_length_go_there_and_back) {
    EXPECT_EQ(to_wide(kAll), kWide);
    EXPECT_EQ(to_utf8(kWide), kAll);
}

TEST(WideText, what_is_no_character_becomes_the_replacement) {
    EXPECT_EQ(to_wide("a\xff\xc3"), (std::wstring{'a', 0xFFFD, 0xFFFD}));
    EXPECT_EQ(to_utf8(std::wstring{static_cast<wchar_t>(0xD800), static_cast<wchar_t>(0x110000)}),
              "\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(WideText, a_character_is_taken_once_all_its_bytes_are_there) {
    std::string bytes = "\xc3";
    EXPECT_FALSE(take_character(bytes));
    bytes += "\xa9x";
    EXPECT_EQ(take_character(bytes), wchar_t{0xE9});
    EXPECT_EQ(take_character(bytes), L'x');
    EXPECT_FALSE(take_character(bytes));
    bytes = "\xffz";
    EXPECT_EQ(take_character(bytes), wchar_t{0xFFFD});
    EXPECT_EQ(bytes, "z");
}

TEST(WideText, a_paste_cannot_steer_the_terminal) {
    EXPECT_EQ(pasteable(L"one\r\ntwo\rthree\n\tfour\n\n"), L"one\ntwo\nthree\n\tfour");
    EXPECT_EQ(pasteable(L"a\x1b[31mb\a\x7f" + std::wstring(1, wchar_t{0x9B}) + L"c"), L"a[31mbc");
    EXPECT_EQ(pasteable(L"\n\n"), L"");
}

}  // namespace
}  // namespace kvik::cli
