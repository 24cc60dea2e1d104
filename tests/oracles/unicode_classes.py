#!/usr/bin/env python3
"""Records in tests/golden/unicode.json which characters `tokenizers` takes for which class, what it takes
for the same but for case, and what its NFC makes of every character: src/text/unicode_tables.cpp is
held against it. Without --write it compares with the record; a difference is status 1."""
import hashlib
import json
import pathlib
import sys

import tokenizers
from tokenizers import Regex, normalizers, pre_tokenizers

RECORD = pathlib.Path(__file__).parent.parent / "golden" / "unicode.json"
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


def main():
    classes = {}
    for name in CLASSES + ["s"]:
        found = members(r"\s" if name == "s" else rf"\p{{{name}}}", ALL)
        classes[name] = [len(found), digest(found)]
    letters = [c for c in ALL if chr(c).isalpha() and chr(c).lower() != chr(c).upper()]
    alike = {c: members(f"(?i:{chr(c)})", letters) for c in [*range(0x41, 0x5B), *range(0x61, 0x7B)]}
    nfc = normalizers.NFC()
    record = {"tokenizers": tokenizers.__version__, "classes": classes,
              "cases": [len(alike), digest(f"{c}:{','.join(map(str, same))}" for c, same in sorted(alike.items()))],
              "nfc": digest(nfc.normalize_str(f"e\u0323{chr(c)}\u0301").encode() for c in ALL)}
    text = json.dumps(record, indent=1) + "\n"
    print(f"unicode_classes: {len(classes)} classes of {len(ALL)} characters, {len(alike)} letters in any case")
    if "--write" in sys.argv:
        RECORD.write_text(text)
    elif RECORD.read_text() != text:
        print(f"unicode_classes: {RECORD} differs: run with --write and look at the difference")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
