// The character tables that token ids hang on, of one named version whatever the machine has:
// classes, scripts and cases of Unicode 16.0, normalisation of Unicode 9.0. These are the versions
// that `tokenizers` 0.23 has in its expressions and in its normalisers.
//
// Shape   runs are (first character << 8 | value), ascending; a run ends where the next begins.
// Source  the Unicode character database, by tools/unicode_tables.py.
#pragma once

#include <cstdint>
#include <span>

namespace kvik {

// Two characters that differ in case alone; `lowest` is the lowest of all that do.
struct CasePair {
    uint32_t character = 0;
    uint32_t lowest = 0;
};

// One step of canonical decomposition; `second` is 0 where there is one part. Composition goes the
// other way if `composes`.
struct Decomposition {
    uint32_t character = 0;
    uint32_t first = 0;
    uint32_t second = 0;
    bool composes = false;
};

// Values: the place in "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp
// Cc Cf Cs Co Cn".
std::span<const uint32_t> unicode_categories();
// Values: 0 another, then Han, Hiragana, Katakana, Hangul, Latin, Greek, Cyrillic, Thai.
std::span<const uint32_t> unicode_scripts();
std::span<const uint32_t> unicode_combining_classes();
std::span<const CasePair> unicode_case_pairs();           // ascending by character
std::span<const Decomposition> unicode_decompositions();  // ascending by character, no Hangul

}  // namespace kvik
