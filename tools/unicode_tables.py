#!/usr/bin/env python3
"""Writes src/text/unicode_tables.cpp: the character tables that token ids hang on.

Classes, scripts and cases are those of Unicode 16.0 (what the expressions of `tokenizers` 0.23 know),
normalisation is that of Unicode 9.0 (what its normalisers know). Needs CPython 3.11 (cases of what
Unicode 14.0 had) and, from PyPI, unicodedata2 16.0.0 (categories, digits, decompositions), fonttools
4.60.2 (scripts), regex 2026.11.19 (which characters differ in case alone, properties), and Perl 5.36
(which characters Unicode 9.0 had). tests/oracles/unicode_classes.py holds the result against
`tokenizers` and against CPython."""
import pathlib
import subprocess
import unicodedata

import regex
import regex._regex
import unicodedata2
from fontTools.unicodedata import script

OUT = pathlib.Path(__file__).parent.parent / "src" / "text" / "unicode_tables.cpp"
CATEGORIES = ("Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co Cn").split()
SCRIPTS = {"Hani": 1, "Hira": 2, "Kana": 3, "Hang": 4, "Latn": 5, "Grek": 6, "Cyrl": 7, "Thai": 8}
END = 0x110000


def runs(values):
    """(first, value) wherever the value changes."""
    out, last = [], None
    for code, value in enumerate(values):
        if value != last:
            out.append((code, value))
            last = value
    return out


def of_unicode_9():
    program = 'for (0..0x10FFFF) { next if $_ >= 0xD800 && $_ < 0xE000; print "$_\\n" if chr($_) =~ /\\p{Present_In: 9.0}/ }'
    return {int(line) for line in subprocess.run(["perl", "-e", program], capture_output=True, check=True, text=True).stdout.split()}


def alike(code, category):
    """Characters that differ from it in case alone, of Unicode 16.0."""
    return [a for a in regex._regex.get_all_cases(regex.I | regex.U, code) if category[a] != "Cn"]


def traits(category):
    """What a character is beyond its category, a bit each: upper case, lower case, passed over when the
    end of a word is looked for, a digit, a number."""
    is_a = {name: regex.compile(rf"\p{{{name}}}") for name in ("Uppercase", "Lowercase", "Case_Ignorable")}
    out = []
    for c in range(END):
        kind, text = category[c], chr(c)
        if kind == "Cn" or kind == "Cs":
            out.append(0)
            continue
        upper, lower, passed = (bool(is_a[name].match(text)) for name in is_a)
        implied = kind in ("Mn", "Me", "Cf", "Lm", "Sk")
        assert passed or not implied, hex(c)
        digit, number = unicodedata2.digit(text, None) is not None, unicodedata2.numeric(text, None) is not None
        assert (digit or kind != "Nd") and (number or kind not in ("Nd", "Nl", "No")), hex(c)
        out.append((upper and kind != "Lu") | (lower and kind != "Ll") << 1 | (passed and not implied) << 2
                   | (digit and kind != "Nd") << 3 | (number and kind not in ("Nd", "Nl", "No")) << 4)
    return out


def case_maps(category):
    """character -> (lower, upper, title), each a text: as CPython has them, and what is newer from its pair."""
    assert unicodedata.unidata_version == "14.0.0"
    out = {}
    for c in range(END):
        if category[c] in ("Cn", "Cs"):
            continue
        text = chr(c)
        maps = text.lower(), text.upper(), text.title()
        pair = alike(c, category)
        if any(unicodedata.category(chr(a)) == "Cn" for a in pair) and len(pair) == 2:
            upper, lower = sorted(map(chr, pair), key=lambda a: unicodedata2.category(a) == "Ll")
            maps = lower, upper, upper
        if maps != (text, text, text):
            out[c] = maps
    return out


def maps_of(pairs):
    return [f"{{0x{c:X}, 0x{ord(to):X}}}" for c, to in pairs]


def three(text):
    return "{" + ", ".join(f"0x{code:X}" for code in ([*map(ord, text)] + [0, 0])[:3]) + "}"


def array(name, kind, items):
    lines, line = [], "   "
    for item in items:
        if len(line) + len(item) + 2 > 100:
            lines.append(line)
            line = "   "
        line += " " + item + ","
    lines.append(line)
    return f"constexpr std::array<{kind}, {len(items)}> {name} = {{{{\n" + "\n".join(lines) + "\n}};\n"


def packed(pairs):
    return [f"0x{code << 8 | value:X}" for code, value in pairs]


def main():
    assert unicodedata2.unidata_version == "16.0.0"
    category = [unicodedata2.category(chr(c)) for c in range(END)]
    scripts = [SCRIPTS.get(script(chr(c)), 0) if category[c] != "Cn" else 0 for c in range(END)]
    # Characters that differ in case alone, each beside the lowest of them.
    cases = []
    for c in range(END):
        # I with a dot and i without one fold to themselves but in Turkish.
        if category[c] == "Cn" or c in (0x130, 0x131):
            continue
        lowest = min((a for a in alike(c, category) if a not in (0x130, 0x131)), default=c)
        if lowest < c:
            cases.append((c, lowest))
    maps = case_maps(category)
    special = {c: m for c, m in maps.items() if len(m[1]) > 1 or len(m[2]) > 1}
    single = {c: m for c, m in maps.items() if c not in special}
    old = of_unicode_9()
    combining = [unicodedata2.combining(chr(c)) if c in old else 0 for c in range(END)]
    parts = []
    for c in sorted(old):
        text = unicodedata2.decomposition(chr(c))
        if not text or text.startswith("<"):
            continue
        codes = [int(code, 16) for code in text.split()] + [0]
        whole = unicodedata2.normalize("NFC", unicodedata2.normalize("NFD", chr(c))) == chr(c)
        parts.append((c, codes[0], codes[1], int(whole)))
    text = f"""// Written by tools/unicode_tables.py of unicodedata2 16.0.0, fonttools 4.60.2 and regex 2026.11.19 on
// 2026-12-01: Unicode 16.0, normalisation of Unicode 9.0. Do not edit.
#include "text/unicode_tables.h"

#include <array>

namespace kvik {{
namespace {{

// clang-format off
{array("kCategories", "uint32_t", packed(runs([CATEGORIES.index(c) for c in category])))}
{array("kScripts", "uint32_t", packed(runs(scripts)))}
{array("kCombining", "uint32_t", packed(runs(combining)))}
{array("kCases", "CasePair", [f"{{0x{a:X}, 0x{b:X}}}" for a, b in cases])}
{array("kTraits", "uint32_t", packed(runs(traits(category))))}
{array("kLower", "CaseMap", maps_of((c, m[0]) for c, m in maps.items() if len(m[0]) == 1 and m[0] != chr(c)))}
{array("kUpper", "CaseMap", maps_of((c, m[1]) for c, m in single.items() if m[1] != chr(c)))}
{array("kTitle", "CaseMap", maps_of((c, m[2]) for c, m in single.items() if m[2] != m[1]))}
{array("kSpecial", "SpecialCase", [f"{{0x{c:X}, {three(m[1])}, {three(m[2])}}}" for c, m in special.items()])}
{array("kParts", "Decomposition", [f"{{0x{c:X}, 0x{a:X}, 0x{b:X}, {w}}}" for c, a, b, w in parts])}
// clang-format on

}}  // namespace

std::span<const uint32_t> unicode_categories() {{
    return kCategories;
}}
std::span<const uint32_t> unicode_scripts() {{
    return kScripts;
}}
std::span<const uint32_t> unicode_combining_classes() {{
    return kCombining;
}}
std::span<const CasePair> unicode_case_pairs() {{
    return kCases;
}}
std::span<const uint32_t> unicode_traits() {{
    return kTraits;
}}
std::span<const CaseMap> unicode_lower() {{
    return kLower;
}}
std::span<const CaseMap> unicode_upper() {{
    return kUpper;
}}
std::span<const CaseMap> unicode_title() {{
    return kTitle;
}}
std::span<const SpecialCase> unicode_special_cases() {{
    return kSpecial;
}}
std::span<const Decomposition> unicode_decompositions() {{
    return kParts;
}}

}}  // namespace kvik
"""
    OUT.write_text(text)
    print(f"{OUT}: {len(text)} bytes")


if __name__ == "__main__":
    main()
