// The tables that ids hang on are those of `tokenizers` 0.23 and what chat templates see is what
// CPython's str says, whatever the machine has: tests/oracles/unicode_classes.py recorded both.
#include "text/unicode_tables.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "text/code_points.h"
#include "text/jinja/unicode.h"
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
    std::string bytes;
    append_utf8(bytes, code);
    return bytes;
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

std::string cased(std::string_view text, jinja::Case form) {
    std::string out;
    for (jinja::CaseWalk walk(text); !walk.done();) out += walk.next(form);
    return out;
}

// What of_python writes in the script.
std::string line_of(uint32_t code) {
    using namespace jinja;
    const std::string c = utf8_of(code), sigma = "\u03a3";
    const auto lower = [](const std::string& text) { return cased(text, Case::lower); };
    return fmt::format("{}:{:d}{:d}{:d}{:d}{:d}{:d}{:d}{:d}:{}:{}:{}:{}.{}.{}.{}\n", code,
                       is_space(code), is_printable(code), is_letter(code), is_digit(code),
                       is_numeric(code), is_letter(code) || is_numeric(code),
                       is_cased_as(c, is_upper), is_cased_as(c, is_lower), cased(c, Case::upper),
                       lower(c), cased(c, Case::title), lower(c + sigma), lower("a" + c + sigma),
                       lower("a" + sigma + c + "a"), lower("a" + sigma + c));
}

TEST(UnicodeTables, a_template_sees_of_every_character_what_python_sees) {
    const Json& want = record()["python"];
    std::vector<bool> is_left(kLastCodePoint + 1, false);  // newer than what CPython has
    for (const Json& gap : want["not"])
        for (auto code = gap[0].get<uint32_t>(); code <= gap[1]; ++code) is_left[code] = true;
    Sha256 digest;
    size_t n = 0;
    for (uint32_t code = 0; code <= kLastCodePoint; ++code) {
        if (is_surrogate(code) || is_left[code]) continue;
        const std::string line = line_of(code);
        digest.update(std::as_bytes(std::span(line)));
        ++n;
    }
    EXPECT_EQ(n, want["characters"].get<size_t>());
    EXPECT_EQ(digest.hex(), want["digest"].get<std::string>());
    if (const char* file = std::getenv("KVIK_WRITE_LINES")) {
        std::ofstream lines(file);
        for (uint32_t code = 0; code <= kLastCodePoint; ++code)
            if (!is_surrogate(code) && !is_left[code]) lines << line_of(code);
    }
}

TEST(UnicodeTables, letters_of_unicode_16_have_their_cases) {
    EXPECT_EQ(cased("\U00010D50", jinja::Case::lower), "\U00010D70");  // Garay
    EXPECT_EQ(cased("\U00010D85", jinja::Case::title), "\U00010D65");
    EXPECT_EQ(cased("\u0264\u019b", jinja::Case::upper), "\ua7cb\ua7dc");
    EXPECT_TRUE(jinja::is_digit(0x10D40));
    EXPECT_TRUE(jinja::is_printable(0x1C89));
}

}  // namespace
}  // namespace kvik
