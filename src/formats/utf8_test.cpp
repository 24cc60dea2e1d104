#include "formats/utf8.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>

namespace kvik {
namespace {

std::string encode(uint32_t point) {
    const auto byte = [](uint32_t b) { return static_cast<char>(b); };
    if (point < 0x80) return {byte(point)};
    if (point < 0x800) return {byte(0xc0 | point >> 6), byte(0x80 | (point & 63))};
    if (point < 0x10000)
        return {byte(0xe0 | point >> 12), byte(0x80 | (point >> 6 & 63)),
                byte(0x80 | (point & 63))};
    return {byte(0xf0 | point >> 18), byte(0x80 | (point >> 12 & 63)),
            byte(0x80 | (point >> 6 & 63)), byte(0x80 | (point & 63))};
}

bool is_scalar_value(uint32_t point) {
    return point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
}

// The naive twin: the text is valid if it is a sequence of encodings of scalar values.
bool is_utf8_slowly(std::string_view text) {
    while (!text.empty()) {
        const auto lead = static_cast<uint8_t>(text[0]);
        const size_t n = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
        if (n > text.size()) return false;
        uint32_t point = n == 1 ? lead : lead & (0x7fu >> n);
        for (size_t i = 1; i < n; ++i) point = point << 6 | (static_cast<uint8_t>(text[i]) & 63);
        if (!is_scalar_value(point) || encode(point) != text.substr(0, n)) return false;
        text.remove_prefix(n);
    }
    return true;
}

TEST(Utf8, accepts_every_scalar_value_and_no_surrogate) {
    for (uint32_t point = 0; point < 0x110400; ++point)
        ASSERT_EQ(is_utf8("x" + encode(point) + "y"), is_scalar_value(point)) << point;
}

TEST(Utf8, agrees_with_its_naive_twin_on_random_bytes) {
    constexpr uint32_t kSeed = 11;
    std::mt19937 random(kSeed);
    for (int round = 0; round < 200000; ++round) {
        std::string text;
        for (auto n = random() % 5; n > 0; --n)
            text += random() % 4 == 0 ? static_cast<char>(random())
                                      : static_cast<char>(
                                            "\xc2\xe0\xed\xf0\xf4\x80\x8f\x90\x9f\xa0\xbf"
                                            "a"[random() % 12]);
        ASSERT_EQ(is_utf8(text), is_utf8_slowly(text)) << "seed " << kSeed << " round " << round;
    }
}

}  // namespace
}  // namespace kvik
