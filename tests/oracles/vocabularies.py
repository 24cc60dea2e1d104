#!/usr/bin/env python3
"""Ids of real vocabularies: what `kvik tokenize` gives beside what the models' own tokenizers give.

    python tests/oracles/vocabularies.py [--models DIR] [--kvik PROGRAM]

llama.cpp's source package has GGUF files without tensors, texts, and the ids that the model's own
tokenizer makes of each (ggml-vocab-NAME.gguf, .inp, .out); DIR is a folder of these. Nothing is recorded,
and with --write nothing happens.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import shared

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Tokenizers that kvik does not have: it says so.
REFUSED = {"bert-bge": "is 'bert'", "gemma-4": "is 'gemma4'"}


def differences(kvik, folder, name):
    """(texts, differences) of a vocabulary."""
    vocabulary = folder / f"ggml-vocab-{name}.gguf"
    texts = pathlib.Path(f"{vocabulary}.inp").read_text().split("\n__ggml_vocab_test__\n")
    wanted = [[int(word) for word in line.split()] for line in pathlib.Path(f"{vocabulary}.out").read_text().split("\n")]
    done = subprocess.run([kvik, "tokenize", vocabulary, "--jsonl"], input="".join(json.dumps(text) + "\n" for text in texts),
                          capture_output=True, encoding="utf-8")
    if name in REFUSED:
        is_refused = done.returncode == 6 and REFUSED[name] in done.stderr
        return 0, [] if is_refused else [f"status {done.returncode}: {done.stderr.strip()}"]
    if done.returncode != 0:
        return 0, [f"status {done.returncode}: {done.stderr.strip()}"]
    got = [json.loads(line) for line in done.stdout.splitlines()]
    if len(got) != len(texts):
        return 0, [f"{len(got)} lines of {len(texts)} texts"]
    return len(texts), [f"{text[:40]!r}: theirs {w[:12]}, ours {g[:12]}" for text, w, g in zip(texts, wanted, got) if w != g]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", help="a folder of vocabularies, instead of the package's")
    parser.add_argument("--kvik", default=os.environ.get("KVIK_BINARY", str(ROOT / "build/release/kvik")))
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    if chosen.write:
        return 0
    n_texts = n_bad = 0
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(chosen.models or shared.fetched(made, lambda path: path.startswith("ggml-vocab-")))
        names = sorted(path.name.removeprefix("ggml-vocab-").removesuffix(".gguf.inp") for path in folder.glob("*.gguf.inp"))
        for name in names:
            n, bad = differences(chosen.kvik, folder, name)
            n_texts += n
            n_bad += len(bad)
            for line in bad:
                print(f"{name}: {line}")
    print(f"{len(names)} vocabularies, {len(REFUSED)} refused by name, {n_texts} texts: {n_bad} differ")
    return 1 if n_bad or not names else 0


if __name__ == "__main__":
    sys.exit(main())
