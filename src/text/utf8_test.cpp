#include "text/utf8.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

namespace kvik {
namespace {

std::string whole(std::string_view bytes) {
    std::string text;
    Utf8Stream stream;
    stream.push(bytes, text);
    stream.finish(text);
    return text;
}

// Bytes that are likely to meet at the borders of the well-formedness table.
std::string random_bytes(std::mt19937_64& random) {
    constexpr std::string_view kEdges =
        "A\x7F\x80\x8F\x90\x9F\xA0\xBF\xC0\xC1\xC2\xDF\xE0\xE1\xEC\xED\xEE\xEF\xF0\xF1\xF3\xF4\xF5"
        "\xFF";
    std::string bytes;
    for (size_t n = random() % 24; n > 0; --n) bytes += kEdges[random() % kEdges.size()];
    return bytes;
}

std::string utf8_of(uint32_t c) {
    const auto tail = [c](int shift) { return static_cast<char>(0x80 | ((c >> shift) & 0x3F)); };
    if (c < 0x80) return {static_cast<char>(c)};
    if (c < 0x800) return {static_cast<char>(0xC0 | c >> 6), tail(0)};
    if (c < 0x10000) return {static_cast<char>(0xE0 | c >> 12), tail(6), tail(0)};
    return {static_cast<char>(0xF0 | c >> 18), tail(12), tail(6), tail(0)};
}

TEST(Utf8, takes_every_code_point_but_surrogates_as_a_character) {
    for (uint32_t c = 0; c <= 0x110000; c += c % 0x40 == 0x3E ? 1 : 0x1F) {
        const std::string bytes = utf8_of(c);
        const bool is_character = c < 0x110000 && (c < 0xD800 || c > 0xDFFF);
        const Utf8Unit unit = utf8_unit(bytes);
        ASSERT_EQ(unit.kind == Utf8Kind::character && unit.n_bytes == bytes.size(), is_character)
            << c;
    }
}

TEST(Utf8, replaces_each_maximal_subpart_once) {
    const std::string r(kReplacement);
    const std::vector<std::pair<std::string_view, std::string>> cases = {
        {"", ""},
        {"a\xFF"
         "b",
         "a" + r + "b"},
        {"\x80\x80", r + r},
        {"\xC0\xAF", r + r},  // overlong: neither byte starts a character
        {"\xE2\x96"
         "a",
         r + "a"},                    // cut short by a letter
        {"\xE2\x96", r},              // cut short by the end
        {"\xED\xA0\x80", r + r + r},  // a surrogate
        {"\xF0\x9F\x98", r},
        {"\xF4\x90\x80\x80", r + r + r + r},  // past the last code point
        {"\xF0\x9F\xE2\x96\x81", r + "\xE2\x96\x81"},
    };
    for (const auto& [bytes, text] : cases) EXPECT_EQ(whole(bytes), text);
}

TEST(Utf8, gives_the_same_text_for_every_split) {
    for (uint64_t seed = 0; seed < 500; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        const std::string bytes = random_bytes(random);
        const std::string expected = whole(bytes);
        for (size_t i = 0; i <= bytes.size(); ++i) {
            for (size_t j = i; j <= bytes.size(); ++j) {
                std::string text;
                Utf8Stream stream;
                stream.push(std::string_view(bytes).substr(0, i), text);
                stream.push(std::string_view(bytes).substr(i, j - i), text);
                stream.push(std::string_view(bytes).substr(j), text);
                stream.finish(text);
                ASSERT_EQ(text, expected) << i << ' ' << j;
            }
        }
    }
}

TEST(Utf8, ends_the_valid_prefix_at_the_first_unit_that_is_no_character) {
    for (uint64_t seed = 0; seed < 2000; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        const std::string bytes = std::string(random() % 20, 'x') + random_bytes(random);
        size_t expected = 0;
        while (expected < bytes.size()) {
            const Utf8Unit unit = utf8_unit(std::string_view(bytes).substr(expected));
            if (unit.kind != Utf8Kind::character) break;
            expected += unit.n_bytes;
        }
        ASSERT_EQ(utf8_valid_prefix(bytes), expected);
    }
}

TEST(Utf8, knows_all_white_space_and_nothing_else) {
    const auto is_space = [](uint32_t c) {
        return (c >= 9 && c <= 13) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
               (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
               c == 0x205F || c == 0x3000;
    };
    for (uint32_t c = 1; c < 0x11000; ++c) {
        if (c >= 0xD800 && c < 0xE000) continue;
        const std::string text = utf8_of(c);
        ASSERT_EQ(white_space_at(text + "x"), is_space(c) ? text.size() : 0) << c;
        ASSERT_EQ(trimmed_end("x" + text), is_space(c) ? 1 : 1 + text.size()) << c;
    }
    EXPECT_EQ(white_space_at(""), 0u);
    EXPECT_EQ(trimmed_end(" \n\xE3\x80\x80 "), 0u);
}

TEST(Utf8, shows_a_text_on_one_line_of_bounded_length) {
    EXPECT_EQ(shown("a\nb\x7F\xC2\x85\xFF\xC3\xA9"), "a\\x0Ab\\x7F\\xC2\\x85\\xFF\xC3\xA9");
    EXPECT_EQ(shown(std::string(kMaxShownBytes, 'x')), std::string(kMaxShownBytes, 'x'));
    EXPECT_EQ(shown(std::string(1000, 'x')), std::string(kMaxShownBytes, 'x') + "...");
    // A mark that turns the line around, and a line's end of another kind.
    EXPECT_EQ(shown("\xE2\x80\xAE\xE2\x80\xA8"), "\\xE2\\x80\\xAE\\xE2\\x80\\xA8");
    // Never half a character.
    EXPECT_EQ(shown(std::string(kMaxShownBytes - 1, 'x') + "\xC3\xA9"),
              std::string(kMaxShownBytes - 1, 'x') + "...");
}

}  // namespace
}  // namespace kvik
