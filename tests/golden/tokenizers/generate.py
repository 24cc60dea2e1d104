#!/usr/bin/env python3
"""The tokenizers of this folder, and what the `tokenizers` package makes of random strings.

    generate.py train TEXT... --out DIR          trains small tokenizers on the texts: DIR/<name>/
    generate.py freeze DIR [--strings 90]       writes <name>.json and <name>.strings.json beside this file
    generate.py compare DIR --kvik 'kvik tokenize' [--strings 100000] [--seed 1] [--only NAME]
                                                 compares `kvik tokenize DIR/<name> --jsonl` string by string

Needs the package `tokenizers` (0.23). Differences that must be are
named in reason() below.
"""
import argparse
import json
import pathlib
import random
import re
import subprocess
import sys
import unicodedata

from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers,
                        pre_tokenizers, processors, trainers)

HERE = pathlib.Path(__file__).resolve().parent
CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
WORDS = r"|[^\r\n\p{L}\p{N}]?\p{L}+|"
REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA3 = CONTRACTIONS + WORDS + r"\p{N}{1,3}" + REST
QWEN2 = CONTRACTIONS + WORDS + r"\p{N}" + REST
MARK = "\u2581"
BYTES = [f"<0x{b:02X}>" for b in range(256)]


def byte_level(texts, size, pattern, specials, normalizer=None):
    """Byte-level BPE: GPT-2's own pattern where there is none."""
    tokenizer = Tokenizer(models.BPE())
    if normalizer:
        tokenizer.normalizer = normalizer
    step = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=pattern is None)
    if pattern:
        step = pre_tokenizers.Sequence(
            [pre_tokenizers.Split(Regex(pattern), "isolated", invert=False), step])
    tokenizer.pre_tokenizer = step
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train(texts, trainers.BpeTrainer(
        vocab_size=size, special_tokens=specials, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return tokenizer


def train_gpt2(texts):
    """As GPT-2: the end of text is in the vocabulary, and is found in normalised text."""
    tokenizer = byte_level(texts, 700, None, [])
    tokenizer.add_special_tokens([AddedToken("<|endoftext|>", special=True, normalized=True)])
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return tokenizer, {"bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>",
                       "add_bos_token": False}


def train_llama3(texts):
    """As Llama 3: specials after the vocabulary, whole pieces without merges, BOS by template."""
    tokenizer = byte_level(texts, 800, LLAMA3, [])
    names = ["<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>",
             "<|eom_id|>", "<|eot_id|>"]
    tokenizer.add_special_tokens(names)
    tree = json.loads(tokenizer.to_str())
    tree["model"]["ignore_merges"] = True
    # Whole pieces that no merge leads to.
    vocab = tree["model"]["vocab"]
    words = ["\u0120Petersburg", "\u0120nevertheless", "zebra"]
    shift = len(words)
    for token in tree["added_tokens"]:
        token["id"] += shift
    for word in words:
        vocab[word] = len(vocab)
    tokenizer = Tokenizer.from_str(json.dumps(tree))
    bos = tokenizer.token_to_id("<|begin_of_text|>")
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=True),
        processors.TemplateProcessing(single="<|begin_of_text|> $A",
                                      special_tokens=[("<|begin_of_text|>", bos)])])
    return tokenizer, {"bos_token": "<|begin_of_text|>", "eos_token": "<|eot_id|>"}


def train_qwen2(texts):
    """As Qwen 2: normal form C, digits one by one, tokens that are added and not special."""
    tokenizer = byte_level(texts, 700, QWEN2, [], normalizers.NFC())
    tokenizer.add_special_tokens(["<|endoftext|>", "<|im_start|>", "<|im_end|>"])
    tokenizer.add_tokens([AddedToken("<tool_call>", normalized=False),
                          AddedToken("</tool_call>", normalized=False),
                          AddedToken("caf\u00e9", normalized=True),
                          AddedToken("<left>", normalized=False, lstrip=True),
                          AddedToken("<right>", normalized=False, rstrip=True)])
    return tokenizer, {"bos_token": None, "eos_token": "<|im_end|>", "add_bos_token": False}


def train_gemma(texts):
    """As Gemma: U+2581 for spaces, merges over characters, bytes for what has no token."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Replace(" ", MARK)
    tokenizer.pre_tokenizer = pre_tokenizers.Split(MARK, "merged_with_next")
    runs = ["\n" * n for n in range(2, 5)] + [MARK * n for n in range(2, 5)]
    tokenizer.train(texts, trainers.BpeTrainer(
        vocab_size=1000, show_progress=False, limit_alphabet=120,
        special_tokens=["<pad>", "<eos>", "<bos>", "<unk>"] + BYTES))
    tree = json.loads(tokenizer.to_str())
    tree["pre_tokenizer"] = {"type": "Split", "pattern": {"String": " "},
                             "behavior": "MergedWithPrevious", "invert": False}
    tree["decoder"] = {"type": "Sequence", "decoders": [
        {"type": "Replace", "pattern": {"String": MARK}, "content": " "},
        {"type": "ByteFallback"}, {"type": "Fuse"}]}
    tree["added_tokens"] = [t for t in tree["added_tokens"] if t["content"] not in BYTES]
    # Runs of spaces and lines: tokens that merges lead to, and that are added as well.
    vocab, merges = tree["model"]["vocab"], tree["model"]["merges"]
    for run in runs:
        if run not in vocab:
            vocab[run] = len(vocab)
            if len(run) > 1 and run[0] in vocab:
                merges.append([run[:len(run) // 2], run[len(run) // 2:]])
    tokenizer = Tokenizer.from_str(json.dumps(tree))
    tokenizer.add_tokens([AddedToken(run, normalized=False) for run in runs])
    tokenizer.add_special_tokens(["<start_of_turn>", "<end_of_turn>"])
    bos = tokenizer.token_to_id("<bos>")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<bos> $A", special_tokens=[("<bos>", bos)])
    return tokenizer, {"bos_token": "<bos>", "eos_token": "<eos>", "add_bos_token": True}


def train_llama2(texts):
    """As Llama 2: a space before every stretch by the normaliser, tokens added in normalised text."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Replace(" ", MARK)
    tokenizer.pre_tokenizer = pre_tokenizers.Split(MARK, "merged_with_next")
    tokenizer.train(texts, trainers.BpeTrainer(
        vocab_size=560, show_progress=False, limit_alphabet=90,
        special_tokens=["<unk>", "<s>", "</s>"] + BYTES))
    tree = json.loads(tokenizer.to_str())
    tree["normalizer"] = {"type": "Sequence", "normalizers": [
        {"type": "Prepend", "prepend": MARK},
        {"type": "Replace", "pattern": {"String": " "}, "content": MARK}]}
    tree["pre_tokenizer"] = None
    tree["added_tokens"] = [t for t in tree["added_tokens"] if t["content"] not in BYTES]
    tokenizer = Tokenizer.from_str(json.dumps(tree))
    tokenizer.add_tokens([AddedToken("[TOOL]", normalized=True),
                          AddedToken("[RAW]", normalized=False)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", 1)])
    return tokenizer, {"bos_token": {"content": "<s>"}, "eos_token": {"content": "</s>"},
                       "add_bos_token": True}


def train_mistral(texts):
    """As Mistral: the same by a pre-tokenizer, before the text's start alone, and unknown tokens."""
    tokenizer, config = train_llama2(texts)
    tree = json.loads(tokenizer.to_str())
    tree["normalizer"] = None
    tree["pre_tokenizer"] = {"type": "Metaspace", "replacement": MARK, "prepend_scheme": "first",
                             "split": False}
    tree["model"]["byte_fallback"] = False
    return Tokenizer.from_str(json.dumps(tree)), config


def train_unigram(texts):
    """Unigram, as SentencePiece trains it, with bytes for what has no piece."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement=MARK, prepend_scheme="first")
    tokenizer.decoder = decoders.Metaspace(replacement=MARK, prepend_scheme="first")
    tokenizer.train(texts, trainers.UnigramTrainer(
        vocab_size=900, show_progress=False, unk_token="<unk>",
        special_tokens=["<unk>", "<s>", "</s>"] + BYTES))
    tree = json.loads(tokenizer.to_str())
    tree["model"]["byte_fallback"] = True
    tree["added_tokens"] = [t for t in tree["added_tokens"] if t["content"] not in BYTES]
    tokenizer = Tokenizer.from_str(json.dumps(tree))
    return tokenizer, {"bos_token": "<s>", "eos_token": "</s>"}


TRAINERS = {"gpt2": train_gpt2, "llama3": train_llama3, "qwen2": train_qwen2,
            "gemma": train_gemma, "llama2": train_llama2, "mistral": train_mistral,
            "unigram": train_unigram}


def train(texts, out):
    for name, trainer in TRAINERS.items():
        tokenizer, config = trainer(texts)
        folder = pathlib.Path(out, name)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "tokenizer.json").write_text(tokenizer.to_str(pretty=False), "utf-8")
        (folder / "tokenizer_config.json").write_text(json.dumps(config), "utf-8")
        # Of a model that has no weights; `kvik tokenize` needs none.
        (folder / "config.json").write_text(json.dumps({
            "model_type": "llama", "hidden_size": 64, "intermediate_size": 64,
            "num_hidden_layers": 1, "num_attention_heads": 1, "rms_norm_eps": 1e-5,
            "max_position_embeddings": 64, "vocab_size": tokenizer.get_vocab_size()}), "utf-8")
        print(name, tokenizer.get_vocab_size(), "tokens")


# Ranges of characters that random strings draw from, and how often.
RANGES = [(6, 0x20, 0x7E), (2, 0xA0, 0x17F), (2, 0x400, 0x45F), (1, 0x370, 0x3FF),
          (1, 0x5D0, 0x5EA), (1, 0x620, 0x64A), (1, 0x900, 0x97F), (1, 0xE00, 0xE5B),
          (1, 0x1100, 0x11FF), (1, 0x3041, 0x30FF), (2, 0x4E00, 0x9FFF), (1, 0xAC00, 0xD7A3),
          (1, 0x300, 0x36F), (1, 0x1F300, 0x1F6FF), (1, 0xE000, 0xF8FF), (1, 0x1D400, 0x1D7FF),
          (1, 0x00, 0x1F), (1, 0x7F, 0x9F), (1, 0x2000, 0x206F), (1, 0xFE00, 0xFE0F),
          (1, 0x2460, 0x24FF), (1, 0x1E00, 0x1EFF), (1, 0x10000, 0x10FFFF)]
SPACES = [" ", "  ", "   ", "\t", "\n", "\r\n", "\n\n", "\n\n\n", "\r", "\x0b", "\x0c", "\x85",
          "\xa0", "\u1680", "\u180e", "\u2003", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000",
          "\u200b", "\u2060", "\ufeff", MARK, MARK + MARK, " " + MARK]
PIECES = ["'s", "'S", "'ll", "'LL", "'\u017f", "'Re", "''", "I'm", "don't", "the", " the",
          " Petersburg", "zebra", " nevertheless", "caf\u00e9", "cafe\u0301", "CAF\u00c9",
          "e\u0301\u0327", "e\u0327\u0301", "\u1100\u1161\u11a8", "\uac00\u11a8", "\u212b",
          "\u2126", "\u0958", "\ufb1d", "\u0344", "\u0f73", "12", "123", "1234567", "\u0663\u0664",
          "\u00bd", "\u2167", "3.14", "0x1F", "<0x41>", "<0x0A>", "<0x", "1st", "\U0001f600",
          "\U0001f469\u200d\U0001f680", "\U0001f44d\U0001f3fd", "\U0001f1e9\U0001f1ea", "\0",
          "\0\0", "if (x) {\n    y();\n}", "\u0438 \u0434\u0430\u0436\u0435", "...", "!?", "--"]


def character(random_):
    total = sum(weight for weight, _, _ in RANGES)
    at = random_.randrange(total)
    for weight, low, high in RANGES:
        if at < weight:
            code = random_.randint(low, high)
            return chr(code) if not 0xD800 <= code <= 0xDFFF else "\ufffd"
        at -= weight
    raise AssertionError("weights add up")


def broken(random_, special):
    """A special token's spelling with something done to it."""
    at = random_.randrange(len(special) + 1)
    return random_.choice([special[:at], special[at:], special[:at] + " " + special[at:],
                           special[:at] + character(random_) + special[at:], special.upper(),
                           special + special, special + "\u0338"])


def string(random_, specials, corpus):
    """One random string, mostly short, now and then a very long run."""
    if random_.randrange(400) == 0:
        unit = random_.choice(SPACES + PIECES + [character(random_)])
        return unit * random_.choice([100, 1000, 5000])
    out = []
    for _ in range(random_.randrange(1, 24)):
        kind = random_.randrange(10)
        if kind < 3:
            out.append("".join(character(random_) for _ in range(random_.randrange(1, 6))))
        elif kind < 5:
            out.append(random_.choice(SPACES))
        elif kind < 7:
            out.append(random_.choice(PIECES))
        elif kind == 7:
            out.append(random_.choice(specials))
        elif kind == 8:
            out.append(broken(random_, random_.choice(specials)))
        else:
            at = random_.randrange(len(corpus))
            out.append(corpus[at:at + random_.randrange(1, 60)])
    return "".join(out)


def strings(tokenizer, count, seed):
    tree = json.loads(tokenizer.to_str())
    specials = [t["content"] for t in tree["added_tokens"]]
    corpus = " ".join(t for t in sorted(tokenizer.get_vocab())
                      if t.isprintable() and t not in BYTES)
    random_ = random.Random(seed)
    for _ in range(count):
        yield string(random_, specials, corpus)


class Oracle:
    """The package's ids of a text, with specials as text or recognised."""

    def __init__(self, file):
        self.tokenizer = Tokenizer.from_file(str(file))
        is_unigram = json.loads(self.tokenizer.to_str())["model"]["type"] == "Unigram"
        self.as_text = (without_names(self.tokenizer) if is_unigram
                        else Tokenizer.from_file(str(file)))
        self.as_text.encode_special_tokens = True

    def ids(self, text, as_text):
        tokenizer = self.as_text if as_text else self.tokenizer
        return tokenizer.encode(text, add_special_tokens=False).ids


# Where kvik differs from the package, and why.
BYTE_NAME = re.compile(r"<0x[0-9A-F]{2}>")


def reason(name, text):
    """Why the ids of this text may differ, if they may."""
    if name == "unigram" and BYTE_NAME.search(text):
        return "a byte token's name is text: the package takes it for the byte"
    if any(unicodedata.category(c) == "Cn" for c in text):
        return "characters that the package's Unicode tables know and the pattern library's do not"
    return None


def without_names(tokenizer):
    """A Unigram model whose control tokens have names that no text has.

    The package looks for the likeliest pieces among all tokens, so that the name of a control token
    becomes that token even where specials are to be text. kvik never does that.
    """
    tree = json.loads(tokenizer.to_str())
    names = {t["content"]: f"\U0010fffd{t['id']}\U0010fffd" for t in tree["added_tokens"]
             if t["special"]}
    for token in tree["added_tokens"]:
        token["content"] = names.get(token["content"], token["content"])
    for pair in tree["model"]["vocab"]:
        pair[0] = names.get(pair[0], pair[0])
    return Tokenizer.from_str(json.dumps(tree))


def compare_one(name, folder, binary, count, seed):
    oracle = Oracle(folder / "tokenizer.json")
    texts = list(strings(oracle.tokenizer, count, seed))
    lines = "".join(json.dumps(text) + "\n" for text in texts)
    different, argued = 0, {}
    for as_text in (True, False):
        command = binary.split() + [str(folder), "--jsonl"] + ([] if as_text else ["--special"])
        result = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
        answers = result.stdout.splitlines()
        assert len(answers) == len(texts), f"{len(answers)} lines for {len(texts)} strings"
        for text, answer in zip(texts, answers):
            want = oracle.ids(text, as_text)
            if json.loads(answer) == want:
                continue
            why = reason(name, text)
            if why:
                argued[why] = argued.get(why, 0) + 1
                continue
            different += 1
            if different <= 5:
                print(f"{name} {'as text' if as_text else 'special'} {text[:300]!r}\n"
                      f"  package {want[:60]}\n  kvik    {answer[:300]}", file=sys.stderr)
    print(f"{name}: {len(texts)} strings, as text and with specials: {different} differences")
    for why, n in argued.items():
        print(f"  {n} more: {why}")
    return different


def freeze(source, count):
    """Small enough for the repository: the tokenizer itself and short strings with their ids."""
    for name in TRAINERS:
        folder = pathlib.Path(source, name)
        oracle = Oracle(folder / "tokenizer.json")
        rows = []
        for text in strings(oracle.tokenizer, 100 * count, 7):
            if len(text) <= 40 and not reason(name, text) and len(rows) < count:
                rows.append([text, oracle.ids(text, True), oracle.ids(text, False)])
        (HERE / f"{name}.json").write_text(
            (folder / "tokenizer.json").read_text("utf-8"), "utf-8")
        (HERE / f"{name}.strings.json").write_text(
            "[\n" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows) + "\n]\n",
            "utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    one = verbs.add_parser("train")
    one.add_argument("texts", nargs="+")
    one.add_argument("--out", required=True)
    one = verbs.add_parser("freeze")
    one.add_argument("folder")
    one.add_argument("--strings", type=int, default=90)
    one = verbs.add_parser("compare")
    one.add_argument("folder")
    one.add_argument("--kvik", required=True, help="the program up to its MODEL argument: 'kvik tokenize'")
    one.add_argument("--strings", type=int, default=100_000)
    one.add_argument("--seed", type=int, default=1)
    one.add_argument("--only", choices=list(TRAINERS))
    arguments = parser.parse_args()
    if arguments.verb == "train":
        train(arguments.texts, arguments.out)
        return 0
    if arguments.verb == "freeze":
        freeze(arguments.folder, arguments.strings)
        return 0
    names = [arguments.only] if arguments.only else list(TRAINERS)
    return 1 if sum(compare_one(name, pathlib.Path(arguments.folder, name), arguments.kvik,
                                arguments.strings, arguments.seed) for name in names) else 0


if __name__ == "__main__":
    sys.exit(main())
