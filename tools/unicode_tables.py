#!/usr/bin/env python3
"""Writes src/text/unicode_tables.cpp: the character tables that token ids hang on.

Classes, scripts and cases are those of Unicode 16.0 (what the expressions of `tokenizers` 0.23 know),
normalisation is that of Unicode 9.0 (what its normalisers know). Needs, from PyPI, unicodedata2 16.0.0
(categories, decompositions), fonttools 4.60.2 (scripts), regex 2026.11.19 (cases), and Perl 5.36 (which
characters Unicode 9.0 had). tests/oracles/unicode_classes.py holds the result against `tokenizers`."""
import pathlib
import subprocess

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
        alike = [a for a in regex._regex.get_all_cases(regex.I | regex.U, c) if category[a] != "Cn"]
        # I with a dot and i without one fold to themselves but in Turkish.
        if category[c] == "Cn" or c in (0x130, 0x131):
            continue
        alike = [a for a in alike if a not in (0x130, 0x131)]
        if min(alike, default=c) < c:
            cases.append((c, min(alike)))
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
std::span<const Decomposition> unicode_decompositions() {{
    return kParts;
}}

}}  // namespace kvik
"""
    OUT.write_text(text)
    print(f"{OUT}: {len(text)} bytes")


if __name__ == "__main__":
    main()
