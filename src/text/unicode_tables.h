// The character tables that token ids hang on, of one named version whatever the machine has:
// classes, scripts and cases of Unicode 16.0, normalisation of Unicode 9.0. These are the versions
// that `tokenizers` 0.23 has in its expressions and in its normalisers.
//
// Shape   runs are (first character << 8 | value), ascending; a run ends where the next begins.
// Source  the Unicode character database, by tools/unicode_tables.py.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace kvik {

// Two characters that differ in case alone; `lowest` is the lowest of all that do.
struct CasePair {
    uint32_t character = 0;
    uint32_t lowest = 0;
};

// A character and what it becomes in another case.
struct CaseMap {
    uint32_t from = 0;
    uint32_t to = 0;
};

// A character that becomes several in upper or title case; 0 behind the last of them.
struct SpecialCase {
    uint32_t from = 0;
    std::array<uint32_t, 3> upper{};
    std::array<uint32_t, 3> title{};
};

// One step of canonical decomposition; `second` is 0 where there is one part. Composition goes the
// other way if `composes`.
struct Decomposition {
    uint32_t character = 0;
    uint32_t first = 0;
    uint32_t second = 0;
    bool composes = false;
};

// The value of the run that `character` is in.
inline uint8_t unicode_value(std::span<const uint32_t> runs, uint32_t character) {
    const auto after = std::upper_bound(runs.begin(), runs.end(), character << 8 | 0xFF);
    return static_cast<uint8_t>(*(after - 1));
}

// The entry of a table ascending by its first field, or null.
template <class Entry>
const Entry* unicode_find(std::span<const Entry> table, uint32_t character,
                          uint32_t Entry::*first) {
    const auto found = std::lower_bound(
        table.begin(), table.end(), character,
        [first](const Entry& entry, uint32_t value) { return entry.*first < value; });
    return found == table.end() || (*found).*first != character ? nullptr : &*found;
}

// The order of unicode_categories' values.
enum class UnicodeCategory : uint8_t {
    Lu,
    Ll,
    Lt,
    Lm,
    Lo,
    Mn,
    Mc,
    Me,
    Nd,
    Nl,
    No,
    Pc,
    Pd,
    Ps,
    Pe,
    Pi,
    Pf,
    Po,
    Sm,
    Sc,
    Sk,
    So,
    Zs,
    Zl,
    Zp,
    Cc,
    Cf,
    Cs,
    Co,
    Cn
};

enum UnicodeTrait : uint8_t {
    kOtherUpper = 1,    // upper case, and not Lu
    kOtherLower = 2,    // lower case, and not Ll
    kOtherIgnored = 4,  // passed over when the end of a word is looked for; Mn Me Cf Lm Sk are too
    kOtherDigit = 8,    // a digit, and not Nd
    kOtherNumber = 16   // a number, and not Nd, Nl or No
};

// Values: UnicodeCategory.
std::span<const uint32_t> unicode_categories();
// Values: 0 another, then Han, Hiragana, Katakana, Hangul, Latin, Greek, Cyrillic, Thai.
std::span<const uint32_t> unicode_scripts();
std::span<const uint32_t> unicode_combining_classes();
// What a character is beyond its category: bits of UnicodeTrait.
std::span<const uint32_t> unicode_traits();
std::span<const CasePair> unicode_case_pairs();  // ascending by character
// Ascending by `from`. Those of unicode_special_cases are in neither unicode_upper nor unicode_title;
// U+0130, the one that becomes two in lower case, is not in unicode_lower. Title case is that of
// unicode_title, else upper case.
std::span<const CaseMap> unicode_lower();
std::span<const CaseMap> unicode_upper();
std::span<const CaseMap> unicode_title();
std::span<const SpecialCase> unicode_special_cases();
std::span<const Decomposition> unicode_decompositions();  // ascending by character, no Hangul

}  // namespace kvik
