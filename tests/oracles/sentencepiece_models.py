#!/usr/bin/env python3
"""Ids of directories that have a tokenizer.model and no tokenizer.json.

    python tests/oracles/sentencepiece_models.py [--write]

Needs sentencepiece, protobuf and transformers 5.24.0. --write trains two small models on docs/, BPE and
unigram, and records tests/golden/tokenizers/sentencepiece.json: the files, and the ids that transformers
gives for BPE and sentencepiece itself for unigram (transformers takes the pieces of a unigram model for
those of a BPE model where the class is LlamaTokenizer). Without it, the ids of the recorded models are
compared. src/model/sentencepiece_model_test.cpp holds kvik to the record.
"""
import base64
import json
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORD = ROOT / "tests/golden/tokenizers/sentencepiece.json"
LLAMA = {"tokenizer_class": "LlamaTokenizer"}
# kind: model type, tokenizer_config.json
KINDS = {
    "bpe": ("bpe", LLAMA),
    "bpe with bos": ("bpe", dict(LLAMA, add_bos_token=True, bos_token="<s>", eos_token="</s>")),
    "bpe with the model's own bos": ("bpe", dict(LLAMA, add_bos_token=True)),
    "bpe, a space after every special": ("bpe", dict(LLAMA, legacy=True)),
    "bpe without a space before": ("bpe", dict(LLAMA, add_prefix_space=False)),
    "bpe without a class": ("bpe", {}),
    "unigram": ("unigram", LLAMA),
}
TEXTS = ["Hello world, kvik reads 1234 tokens", "two  spaces\n\n and\ttabs ", "\u00fcml\u00e4ut \u65e5\u672c \U0001f600",
         "", "a", "the prefix cache of a model, computed once"]
SPECIAL_TEXTS = [" a leading space", "a<s>b </s> c", "x <turn>y"]  # sentencepiece itself finds no specials


def train(kind):
    import sentencepiece
    with tempfile.TemporaryDirectory() as directory:
        text = pathlib.Path(directory, "text")
        words = "\n".join(path.read_text() for path in sorted((ROOT / "docs").glob("*.md")))[:60000]
        text.write_text(words)
        sentencepiece.SentencePieceTrainer.train(
            input=str(text), model_prefix=directory + "/m", model_type=kind, vocab_size=500, byte_fallback=True,
            normalization_rule_name="identity", remove_extra_whitespaces=False, split_digits=True,
            user_defined_symbols=["<turn>"] if kind == "bpe" else [], minloglevel=2)
        model = pathlib.Path(directory, "m.model").read_bytes()
    return base64.b64encode(model).decode()


def ids_of(kind, config, model):
    import sentencepiece
    import transformers
    with tempfile.TemporaryDirectory() as directory:
        file = pathlib.Path(directory, "tokenizer.model")
        file.write_bytes(base64.b64decode(model))
        if kind == "unigram":
            return [sentencepiece.SentencePieceProcessor(model_file=str(file)).encode(text) for text in TEXTS]
        pathlib.Path(directory, "tokenizer_config.json").write_text(json.dumps(config))
        pathlib.Path(directory, "config.json").write_text(json.dumps({"model_type": "llama"}))
        tokenizer = transformers.AutoTokenizer.from_pretrained(directory)
        return [tokenizer(text)["input_ids"] for text in TEXTS + SPECIAL_TEXTS]


def computed(models):
    return {"texts": TEXTS + SPECIAL_TEXTS, "models": models,
            "kinds": {name: {"model": kind, "tokenizer_config": json.dumps(config),
                             "ids": ids_of(kind, config, models[kind])}
                      for name, (kind, config) in KINDS.items()}}


def main():
    if "--write" in sys.argv[1:]:
        now = computed({kind: train(kind) for kind in ("bpe", "unigram")})
        RECORD.write_text(json.dumps(now, separators=(",", ":")).replace("],", "],\n") + "\n")
        return 0
    was = json.loads(RECORD.read_text())
    same = was == computed(was["models"])
    print(f"{len(KINDS)} kinds of directories: {'the same ids' if same else 'ids differ'}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
