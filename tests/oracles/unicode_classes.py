#!/usr/bin/env python3
"""Records in tests/golden/unicode.json which characters `tokenizers` takes for which class, what it takes
for the same but for case, and what its NFC makes of every character; and what CPython's str says of
every character, which is what a chat template sees: src/text/unicode_tables.cpp is held against it.
Without --write it compares with the record; a difference is status 1."""
import hashlib
import json
import sys
import unicodedata

import tokenizers
from tokenizers import Regex, normalizers, pre_tokenizers

import shared

RECORD = shared.GOLDEN / "unicode.json"
CLASSES = ("Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co Cn "
           "Han Hiragana Katakana Hangul Latin Greek Cyrillic Thai").split()
ALL = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
STEP = 0x1000


def members(pattern, codes):
    split = pre_tokenizers.Split(Regex(pattern), "removed")
    found = set()
    for at in range(0, len(codes), STEP):
        part = codes[at:at + STEP]
        text = "".join(map(chr, part))
        left = set()
        for _, (begin, end) in split.pre_tokenize_str(text):
            left.update(text[begin:end])
        found.update(c for c in part if chr(c) not in left)
    return sorted(found)


def digest(lines):
    sha = hashlib.sha256()
    for line in lines:
        sha.update((line if isinstance(line, bytes) else str(line).encode()) + b"\n")
    return sha.hexdigest()


# What Unicode 16.0 says of characters otherwise than 14.0, which CPython 3.11 has: a letter each that
# got an upper case, six that became lower case, a mark that takes room, and Han that became numbers.
CHANGED = [0x19B, 0x264, 0x10FC, 0xA7F2, 0xA7F3, 0xA7F4, 0xAB69, 0x1171E,
           0x4E24, 0x4EAC, 0x4FE9, 0x5006, 0x62D0, 0x6D1E, 0x7695, 0x79ED, 0x920E, 0x94A9]


def is_old(code):
    kind = unicodedata.category(chr(code))
    noncharacter = 0xFDD0 <= code <= 0xFDEF or code & 0xFFFE == 0xFFFE
    return (kind != "Cn" or noncharacter) and code not in CHANGED


def of_python(code):
    """A line: what str says of a character, it in three cases, and a sigma behind it."""
    c = chr(code)
    answers = (c.isspace(), c.isprintable(), c.isalpha(), c.isdigit(), c.isnumeric(), c.isalnum(), c.isupper(), c.islower())
    sigmas = (c + "\u03a3").lower(), ("a" + c + "\u03a3").lower(), ("a\u03a3" + c + "a").lower(), ("a\u03a3" + c).lower()
    return f"{code}:{''.join(str(int(a)) for a in answers)}:{c.upper()}:{c.lower()}:{c.title()}:{'.'.join(sigmas)}"


def gaps(codes):
    """First and last of each stretch of ALL that is not in `codes`."""
    left, out = [c for c in ALL if c not in codes], []
    for c in left:
        if out and out[-1][1] == c - 1:
            out[-1][1] = c
        else:
            out.append([c, c])
    return out


def main():
    classes = {}
    for name in CLASSES + ["s"]:
        found = members(r"\s" if name == "s" else rf"\p{{{name}}}", ALL)
        classes[name] = [len(found), digest(found)]
    letters = [c for c in ALL if chr(c).isalpha() and chr(c).lower() != chr(c).upper()]
    alike = {c: members(f"(?i:{chr(c)})", letters) for c in [*range(0x41, 0x5B), *range(0x61, 0x7B)]}
    nfc = normalizers.NFC()
    old = {c for c in ALL if is_old(c)}
    record = {"tokenizers": tokenizers.__version__, "classes": classes,
              "cases": [len(alike), digest(f"{c}:{','.join(map(str, same))}" for c, same in sorted(alike.items()))],
              "nfc": digest(nfc.normalize_str(f"e\u0323{chr(c)}\u0301").encode() for c in ALL),
              "python": {"unicode": unicodedata.unidata_version, "characters": len(old), "not": gaps(old),
                         "digest": digest(of_python(c) for c in ALL if c in old)}}
    newer = json.dumps(record["python"].pop("not"))
    text = json.dumps(record, indent=1)[:-4] + f',\n  "not": {newer}\n }}\n}}\n'
    print(f"unicode_classes: {len(classes)} classes of {len(ALL)} characters, {len(alike)} letters in any case, "
          f"{len(old)} characters as CPython has them")
    return shared.settle(RECORD, text)


if __name__ == "__main__":
    sys.exit(main())
