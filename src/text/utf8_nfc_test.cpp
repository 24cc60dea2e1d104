#include "text/utf8_nfc.h"

#include <gtest/gtest.h>

#include "text/tokenizer_test_support.h"

namespace kvik {
namespace {

std::string nfc(std::string_view text) {
    std::string out;
    append_nfc(text, out);
    return out;
}

TEST(Nfc, composes_what_has_a_composed_form) {
    EXPECT_EQ(nfc("cafe\xCC\x81!"), "caf\xC3\xA9!");
    EXPECT_EQ(nfc("\xE2\x84\xAB"), "\xC3\x85");                              // Angstrom
    EXPECT_EQ(nfc("\xE1\x84\x80\xE1\x85\xA1\xE1\x86\xA8"), "\xEA\xB0\x81");  // Hangul
    EXPECT_EQ(nfc("<\xCC\xB8"), "\xE2\x89\xAE");                             // not less than
}

TEST(Nfc, leaves_apart_what_is_excluded_from_composition) {
    EXPECT_EQ(nfc("\xE0\xA5\x98"), "\xE0\xA4\x95\xE0\xA4\xBC");  // Devanagari qa
    EXPECT_EQ(nfc("\xEF\xAC\x9D"), "\xD7\x99\xD6\xB4");          // Hebrew yod with hiriq
    EXPECT_EQ(nfc("\xEF\xAC\x81"), "\xEF\xAC\x81");              // a ligature is no composition
}

TEST(Nfc, orders_marks_by_their_class_and_keeps_equals_in_order) {
    // Cedilla (202) before acute (230); two of 230 stay as they are and only the first composes.
    EXPECT_EQ(nfc("q\xCC\x81\xCC\xA7"), "q\xCC\xA7\xCC\x81");
    EXPECT_EQ(nfc("e\xCC\x80\xCC\x81"), "\xC3\xA8\xCC\x81");
}

TEST(Nfc, leaves_bytes_that_are_no_character_where_they_are) {
    EXPECT_EQ(nfc("e\xFF\xCC\x81"), "e\xFF\xCC\x81");
    EXPECT_EQ(nfc("\xC3"), "\xC3");
    EXPECT_EQ(nfc("e\xCC\x81\xE1\x84"), "\xC3\xA9\xE1\x84");
}

TEST(Nfc, changes_nothing_the_second_time) {
    for (uint64_t seed = 0; seed < 500; ++seed) {
        SCOPED_TRACE(seed);
        testing::Random random(seed);
        std::string text = testing::random_text(random, 20);
        for (size_t n = testing::below(random, 20); n > 0; --n) {
            text += static_cast<char>(0xCC);
            text += static_cast<char>(0x80 + testing::below(random, 0x40));
        }
        ASSERT_EQ(nfc(nfc(text)), nfc(text));
    }
}

TEST(Nfc, is_the_same_for_a_text_and_for_its_parts_between_plain_characters) {
    for (uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        testing::Random random(seed);
        const std::string left = testing::random_text(random, 10) + "xy";
        const std::string right = "yz" + testing::random_text(random, 10);
        ASSERT_EQ(nfc(left + right), nfc(left) + nfc(right));
    }
}

TEST(Nfc, takes_a_million_marks_in_any_order) {
    std::string marks, above, below;
    for (int i = 0; i < 500'000; ++i) marks += i % 2 == 0 ? "\xCC\x8D" : "\xCC\xAD";
    for (int i = 0; i < 250'000; ++i) above += "\xCC\x8D", below += "\xCC\xAD";
    EXPECT_TRUE(nfc("q" + marks) == "q" + below + above);
}

}  // namespace
}  // namespace kvik
