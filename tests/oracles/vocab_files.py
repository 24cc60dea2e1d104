#!/usr/bin/env python3
"""Ids of directories that have vocab.json and merges.txt and no tokenizer.json, as transformers gives them.

    python tests/oracles/vocab_files.py [--write]

Needs transformers 5.24.0. Records tests/golden/tokenizers/vocab_files.json, or compares with it;
src/model/hf_vocab_files_test.cpp holds kvik to the record. The vocabularies are those of gpt2.json and
qwen2.json beside the record.
"""
import json
import pathlib
import sys
import tempfile

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests/golden/tokenizers"
RECORD = GOLDEN / "vocab_files.json"
END = {"content": "<|endoftext|>", "special": True, "normalized": False, "lstrip": False, "rstrip": False,
       "single_word": False}
# kind: vocabulary, tokenizer_config.json, config.json
KINDS = {
    "gpt2": ("gpt2", {"tokenizer_class": "GPT2Tokenizer"}, {"model_type": "gpt2"}),
    "gpt2 by its model": ("gpt2", {}, {"model_type": "gpt2"}),
    "gpt2 with a space before": ("gpt2", {"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": True},
                                 {"model_type": "gpt2"}),
    "qwen2": ("qwen2", {"tokenizer_class": "Qwen2Tokenizer"}, {"model_type": "qwen2"}),
    "qwen2 with an added token": ("qwen2", {
        "tokenizer_class": "Qwen2Tokenizer", "eos_token": "<|turn|>", "added_tokens_decoder": {
            "END": END, "NEXT": dict(END, content="<|turn|>")}}, {"model_type": "qwen2"}),
}
TEXTS = ["Hello world, it's 1234; DON'T", "  two  spaces\n\n x ", "cafe\u0301 na\u00efve \u65e5\u672c", "", "a",
         "a<|endoftext|>b <|turn|> c", "#include <x>\r\n\t## 3.14"]


def files_of(kind):
    vocabulary, tokenizer_config, config = KINDS[kind]
    model = json.loads((GOLDEN / f"{vocabulary}.json").read_text())
    vocab = dict(model["model"]["vocab"])
    merges = [m if isinstance(m, str) else " ".join(m) for m in model["model"]["merges"]]
    names = {"END": vocab.setdefault("<|endoftext|>", len(vocab)), "NEXT": len(vocab)}
    text = json.dumps(tokenizer_config)
    for name, number in names.items():
        text = text.replace(f'"{name}"', f'"{number}"')
    return {"vocab.json": json.dumps(vocab, ensure_ascii=False),
            "merges.txt": "#version: 0.2\n" + "\n".join(merges) + "\n",
            "tokenizer_config.json": text, "config.json": json.dumps(config)}


def computed():
    import transformers
    rows = {}
    for kind in KINDS:
        with tempfile.TemporaryDirectory() as directory:
            files = files_of(kind)
            for name, text in files.items():
                pathlib.Path(directory, name).write_text(text, encoding="utf-8")
            tokenizer = transformers.AutoTokenizer.from_pretrained(directory)
            rows[kind] = {"files": {n: t for n, t in files.items() if n.endswith("config.json")},
                          "vocabulary": KINDS[kind][0],
                          "ids": [tokenizer(text)["input_ids"] for text in TEXTS]}
    return {"made_by": f"transformers {transformers.__version__}, tests/oracles/vocab_files.py",
            "texts": TEXTS, "kinds": rows}


def main():
    now = computed()
    if "--write" in sys.argv[1:]:
        RECORD.write_text(json.dumps(now, indent=1) .replace("\n     ", "") + "\n")
        return 0
    was = json.loads(RECORD.read_text())
    same = was["kinds"] == now["kinds"] and was["texts"] == now["texts"]
    print(f"{len(KINDS)} kinds of directories, {len(TEXTS)} texts: {'the same ids' if same else 'ids differ'}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
