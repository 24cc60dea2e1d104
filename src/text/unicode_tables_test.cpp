// The tables that ids hang on are those of `tokenizers` 0.23, whatever the machine has:
// tests/oracles/unicode_classes.py recorded what it takes for what.
#include "text/unicode_tables.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "text/code_points.h"
#include "text/utf8_nfc.h"

namespace kvik {
namespace {

using Json = nlohmann::json;

const Json& record() {
    static const Json json =
        Json::parse(std::ifstream(KVIK_SOURCE_DIR "/tests/golden/unicode.json"));
    return json;
}

std::string digest_of(const std::string& text) {
    Sha256 digest;
    digest.update(std::as_bytes(std::span(text)));
    return digest.hex();
}

bool is_surrogate(uint32_t code) {
    return code >= 0xD800 && code <= 0xDFFF;
}

template <class Each>
size_t for_each_in(const CodePoints& set, Each each) {
    size_t n = 0;
    for (const CodePoints::Range& range : set.ranges())
        for (uint32_t code = range.first; code <= range.last; ++code)
            if (!is_surrogate(code)) each(code), ++n;
    return n;
}

std::string utf8_of(uint32_t code) {
    const auto tail = [&](int shift) { return static_cast<char>(0x80 | (code >> shift & 0x3F)); };
    if (code < 0x80) return {static_cast<char>(code)};
    if (code < 0x800) return {static_cast<char>(0xC0 | code >> 6), tail(0)};
    if (code < 0x10000) return {static_cast<char>(0xE0 | code >> 12), tail(6), tail(0)};
    return {static_cast<char>(0xF0 | code >> 18), tail(12), tail(6), tail(0)};
}

TEST(UnicodeTables, every_character_is_of_the_class_that_was_recorded) {
    size_t n_all = 0;
    for (const auto& [name, want] : record()["classes"].items()) {
        const auto set = name == "s" ? CodePoints::white_space() : *CodePoints::property(name);
        std::string lines;
        const size_t n =
            for_each_in(set, [&](uint32_t code) { lines += fmt::format("{}\n", code); });
        EXPECT_EQ(n, want[0].get<size_t>()) << name;
        EXPECT_EQ(digest_of(lines), want[1].get<std::string>()) << name;
        if (name.size() == 2) n_all += n;
    }
    EXPECT_EQ(n_all, 0x110000u - 0x800) << "every character but surrogates is in one class";
    std::cout << record()["classes"].size() << " classes of " << n_all << " characters\n";
}

TEST(UnicodeTables, letters_have_the_cases_that_were_recorded) {
    std::string lines;
    for (uint32_t code = 'A'; code <= 'z'; ++code) {
        if (code > 'Z' && code < 'a') continue;
        std::string alike;
        for_each_in(CodePoints(code, code).in_any_case(), [&](uint32_t other) {
            alike += fmt::format("{}{}", alike.empty() ? "" : ",", other);
        });
        lines += fmt::format("{}:{}\n", code, alike);
    }
    EXPECT_EQ(digest_of(lines), record()["cases"][1].get<std::string>());
}

TEST(UnicodeTables, every_character_composes_and_sorts_as_was_recorded) {
    std::string lines;
    for (uint32_t code = 0; code <= kLastCodePoint; ++code) {
        if (is_surrogate(code)) continue;
        append_nfc("e\xCC\xA3" + utf8_of(code) + "\xCC\x81", lines);
        lines += '\n';
    }
    EXPECT_EQ(digest_of(lines), record()["nfc"].get<std::string>());
}

}  // namespace
}  // namespace kvik
