#!/usr/bin/env python3
"""Records in tests/golden/token_homes.json what transformers makes of every home that an end token or
an added token has in a Hugging Face directory, alone and in pairs. Needs transformers (see
tests/oracles/requirements.txt). Without --write it compares with the record; a difference is status 1."""
import itertools
import json
import os
import pathlib
import sys
import tempfile

import shared

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_VERBOSITY"] = "error"
RECORD = shared.GOLDEN / "token_homes.json"
CONFIG, MAP, ADDED, GENERATION, MODEL = (
    "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "generation_config.json", "config.json")


def byte_alphabet():
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in plain]
    return {b: chr(b) for b in plain} | {b: chr(256 + i) for i, b in enumerate(others)}


def tokenizer():
    """256 bytes, "th", two special tokens and one that is not special."""
    vocab = {c: b for b, c in sorted(byte_alphabet().items())} | {"th": 256}
    added = [{"id": 257 + i, "content": c, "special": s, "single_word": False, "lstrip": False, "rstrip": False,
              "normalized": not s} for i, (c, s) in enumerate([("<A>", True), ("<B>", True), ("<C>", False)])]
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
            "post_processor": None, "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                      "vocab": vocab, "merges": [["t", "h"]]}}


def token(content, **flags):
    return {"content": content, "lstrip": False, "normalized": False, "rstrip": False, "single_word": False, **flags}


def home(file, key, wrap):
    return lambda content: (file, {key: wrap(content)})


# Each home -> the file that it is in and what a token is there.
HOMES = {
    "decoder": home(CONFIG, "added_tokens_decoder", lambda c: {"260": token(c, special=True)}),
    "decoder_text": home(CONFIG, "added_tokens_decoder", lambda c: {"260": token(c, special=False, lstrip=True)}),
    "additional": home(CONFIG, "additional_special_tokens", lambda c: [c]),
    "extra_list": home(CONFIG, "extra_special_tokens", lambda c: [c]),
    "extra_named": home(CONFIG, "extra_special_tokens", lambda c: {"image_token": c}),
    "own_name": home(CONFIG, "audio_token", lambda c: c),
    "map_additional": home(MAP, "additional_special_tokens", lambda c: [c]),
    "map_extra": home(MAP, "extra_special_tokens", lambda c: [token(c, rstrip=True)]),
    "map_extra_named": home(MAP, "extra_special_tokens", lambda c: {"image_token": c}),
    "added_file": lambda c: (ADDED, {c: 260}),
    **{f"{n}": home(CONFIG, f"{n}_token", lambda c: c) for n in ("bos", "eos", "unk", "sep", "pad", "cls", "mask")},
    "eos_object": home(CONFIG, "eos_token", lambda c: {"__type": "AddedToken", **token(c, lstrip=True)}),
    "map_eos": home(MAP, "eos_token", lambda c: c),
    "map_eos_object": home(MAP, "eos_token", lambda c: token(c, rstrip=True)),
    "map_pad": home(MAP, "pad_token", lambda c: c),
}


def merged(parts):
    files = {}
    for name, fields in parts:
        into = files.setdefault(name, {})
        for key, value in fields.items():
            if isinstance(value, dict) and isinstance(into.get(key), dict) and key == "added_tokens_decoder":
                value = {**into[key], **{str(int(i) + 1) if i in into[key] else i: t for i, t in value.items()}}
            elif key in into:
                return None  # one key has one value
            into[key] = value
    return files


def added_cases():
    yield "none", {}
    for name, put in HOMES.items():
        for what in ("<A>", "<C>", "th", "<X>"):  # special, added, of the vocabulary, new
            yield f"{name} {what}", merged([put(what)])
    for (a, put_a), (b, put_b) in itertools.combinations(HOMES.items(), 2):
        for x, y in (("<X>", "<X>"), ("<X>", "<Y>"), ("<Y>", "<X>"), ("<A>", "<X>")):
            files = merged([put_a(x), put_b(y)])
            if files is not None:
                yield f"{a} {x}, {b} {y}", files


def added(files):
    import transformers
    with tempfile.TemporaryDirectory() as d:
        d = pathlib.Path(d)
        (d / "tokenizer.json").write_text(json.dumps(tokenizer(), ensure_ascii=False))
        (d / MODEL).write_text("{}")
        for name, fields in files.items():
            if name == CONFIG:
                fields = {"tokenizer_class": "PreTrainedTokenizerFast", **fields}
            (d / name).write_text(json.dumps(fields))
        if CONFIG not in files:
            (d / CONFIG).write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"}))
        try:
            t = transformers.AutoTokenizer.from_pretrained(d)
        except Exception as error:
            return {"error": type(error).__name__}
        return {"added": {str(i): [a.content, a.special, a.lstrip, a.rstrip, a.normalized] for i, a in sorted(t._tokenizer.get_added_tokens_decoder().items())},
                **{n: getattr(t, n + "_token_id") for n in ("bos", "eos")}}


def end_cases():
    for g, c, nested in itertools.product(("no file", "nothing", None, 3, [3, 4], [4, 4, 3]), ("nothing", None, 5, [5, 3]), ("no", 6)):
        files = {MODEL: {} if c == "nothing" else {"eos_token_id": c}}
        if nested != "no":
            files[MODEL]["text_config"] = {"eos_token_id": nested}
        if g != "no file":
            files[GENERATION] = {} if g == "nothing" else {"eos_token_id": g}
        yield f"generation_config {g}, config {c}, text_config {nested}", files
    for model_type in ("llama", "mistral", "qwen2", "qwen3", "gemma3_text", "gemma3", "gpt2"):
        for fields in ({}, {"eos_token_id": None}, {"eos_token_id": 7}):
            yield f"the class {model_type}, config {fields}", {MODEL: {"model_type": model_type, **fields}}


def ends(files):
    """As a model is loaded: generation_config.json, or else the fields of config.json."""
    import transformers
    if GENERATION in files:
        got = transformers.GenerationConfig.from_dict(dict(files[GENERATION])).eos_token_id
    elif "model_type" in files[MODEL]:
        fields = dict(files[MODEL])
        config = transformers.AutoConfig.for_model(fields.pop("model_type"), **fields)
        got = transformers.GenerationConfig.from_model_config(config).eos_token_id
    else:
        got = transformers.GenerationConfig.from_model_config(json.loads(json.dumps(files[MODEL]))).eos_token_id
    return [] if got is None else got if isinstance(got, list) else [got]


def main():
    import transformers
    record = {"transformers": transformers.__version__, "tokenizer": tokenizer(),
              "added": [{"name": n, "files": f, "want": added(f)} for n, f in added_cases()],
              "ends": [{"name": n, "files": f, "want": ends(f)} for n, f in end_cases()]}
    lines = [f'"transformers": {json.dumps(record["transformers"])}', f'"tokenizer": {json.dumps(record["tokenizer"])}']
    for key in ("added", "ends"):
        lines.append(f'"{key}": [\n' + ",\n".join(json.dumps(c) for c in record[key]) + "\n]")
    text = "{" + ",\n".join(lines) + "}\n"
    print(f"token_homes: {len(record['added'])} ways to add a token, {len(record['ends'])} ways to name an end token")
    return shared.settle(RECORD, text)


if __name__ == "__main__":
    sys.exit(main())
