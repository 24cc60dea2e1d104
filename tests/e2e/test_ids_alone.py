"""A tokenizer that kvik cannot use blocks text, and a chat template that it cannot use blocks chat: every
such kind of a GGUF file and of a directory. Ids, score and show work."""
import json
import pathlib
import tempfile
import unittest

import tiny_model
from program import call, kvik_json
from tiny_gguf import STRING, U32, llama_metadata, llama_tensors, write_file

TOKENS = ["<s>", "</s>", *"abcdefghijklmnopqrstuvwxyz", "\u0120", "th", "he", "the"]
assert len(TOKENS) == tiny_model.VOCAB
MERGES = ["t h", "h e", "th e"]
TEMPLATE = "{% for m in messages %}{{ m.content }}{% endfor %}"
MODEL, PRE, CHAT = "tokenizer.ggml.model", "tokenizer.ggml.pre", "tokenizer.chat_template"


def write_gguf(path, **changes):
    """Byte-level BPE over TOKENS; `changes` replace values, of None leave them out."""
    values = {MODEL: "gpt2", PRE: "gpt2", CHAT: TEMPLATE, "merges": MERGES, "tokens": TOKENS} | changes
    texts = [(key, STRING, value) for key, value in values.items() if isinstance(value, str)]
    lists = [(f"tokenizer.ggml.{key}", STRING, values[key]) for key in ("tokens", "merges") if values[key]]
    ends = [("tokenizer.ggml.bos_token_id", U32, 0), ("tokenizer.ggml.eos_token_id", U32, 1)]
    write_file(path, llama_metadata("tiny") + texts + ends, lists, llama_tensors(len(TOKENS)))


# What it is, the changes, a word of the reason.
GGUF_TOKENIZERS = [
    ("a pre-tokenizer that nobody knows", {PRE: "no-such"}, "no-such"),
    *((f"the tokenizer model {name}", {MODEL: name}, name)
      for name in ("bert", "t5", "rwkv", "plamo2", "gemma4", "none", "no-such")),
    ("no merges", {"merges": None}, "merges"),
    ("no tokenizer", {MODEL: None, PRE: None, "merges": None, "tokens": None}, "tokenizer"),
]
GGUF_TEMPLATES = [
    ("an empty template", {CHAT: ""}, "empty"),
    ("only templates of other names", {CHAT: None, CHAT + ".rag": TEMPLATE, CHAT + ".tools": TEMPLATE}, "--template"),
]


def tokenizer_json():
    added = [{"id": i, "content": TOKENS[i], "special": True, "single_word": False, "lstrip": False, "rstrip": False,
              "normalized": False} for i in (0, 1)]
    return {"version": "1.0", "added_tokens": added, "normalizer": None,
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True},
            "post_processor": None, "decoder": {"type": "ByteLevel"},
            "model": {"type": "BPE", "unk_token": None, "vocab": {t: i for i, t in enumerate(TOKENS)}, "merges": MERGES}}


def put(place, value):
    """Sets a value of tokenizer.json: `put("model.type", "WordPiece")`."""
    def change(root):
        *way, last = place.split(".")
        for name in way:
            root = root[int(name)] if isinstance(root, list) else root[name]
        root[last] = value
    return change


def sequence(key, *steps):
    return {"type": "Sequence", key: list(steps)}


SPACES = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
BYTES = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}


def split(pattern, behavior="Isolated", **more):
    return sequence("pretokenizers", {"type": "Split", "pattern": pattern, "behavior": behavior, **more}, BYTES)


def frame(ids):
    return {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "x"}}], "special_tokens": {"x": {"ids": ids}}}


JSON_TOKENIZERS = [
    *((f"the model {kind}", [put("model.type", kind)], kind) for kind in ("WordPiece", "WordLevel", "NoSuch")),
    *((f"a {key}", [put(f"model.{key}", "##")], key) for key in ("continuing_subword_prefix", "end_of_word_suffix")),
    ("merges by chance", [put("model.dropout", 0.1)], "dropout"),
    ("an unknown token beside bytes", [put("model.unk_token", "<s>")], "unknown token"),
    ("neither bytes nor marks", [put("pre_tokenizer", None)], "spaces"),
    ("an expression without bytes", [put("normalizer", SPACES), put("pre_tokenizer", split({"Regex": "a"})["pretokenizers"][0])],
     "without being over bytes"),
    ("Unigram over bytes", [put("model.type", "Unigram"), put("model.vocab", [[t, 0.0] for t in TOKENS])], "Unigram"),
    *((f"the normaliser {kind}", [put("normalizer", {"type": kind})], f"'{kind}'")
      for kind in ("NFD", "NFKC", "NFKD", "Lowercase", "Strip", "StripAccents", "BertNormalizer", "Nmt", "Precompiled", "ByteLevel")),
    ("one normaliser in a sequence", [put("normalizer", sequence("normalizers", {"type": "NFC"}, {"type": "NFKC"}))], "normalizers[1]"),
    ("a replaced expression", [put("normalizer", {**SPACES, "pattern": {"Regex": " +"}})], "regular expression"),
    ("replaced after spaces", [put("normalizer", sequence("normalizers", SPACES, SPACES))], "normalizers[1]"),
    ("33 normalisers", [put("normalizer", sequence("normalizers", *[{"type": "NFC"}] * 33))], "33"),
    *((f"the pre-tokenizer {kind}", [put("pre_tokenizer", {"type": kind})], f"'{kind}'")
      for kind in ("BertPreTokenizer", "Whitespace", "WhitespaceSplit", "Punctuation", "CharDelimiterSplit", "UnicodeScripts", "NoSuch")),
    ("a step after bytes", [put("pre_tokenizer", sequence("pretokenizers", BYTES, {"type": "Digits"}))], "'Digits'"),
    ("another mark of spaces", [put("pre_tokenizer", {"type": "Metaspace", "replacement": "_"})], "replacement"),
    ("another prepend_scheme", [put("pre_tokenizer", {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "last"})], "'last'"),
    *((f"the behaviour {how}", [put("pre_tokenizer", split({"Regex": "a"}, how))], how)
      for how in ("Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous")),
    ("neither String nor Regex", [put("pre_tokenizer", split({}))], "neither"),
    ("an expression that can match nothing", [put("pre_tokenizer", split({"Regex": "a*"}))], "nothing"),
    ("an expression with a boundary", [put("pre_tokenizer", split({"Regex": "\\bx"}))], "\\b"),
    ("an expression that does not end", [put("pre_tokenizer", split({"Regex": "(a"}))], "'(a'"),
    *((f"the post-processor {kind}", [put("post_processor", {"type": kind})], f"'{kind}'")
      for kind in ("BertProcessing", "RobertaProcessing", "NoSuch")),
    ("a token of two ids before a text", [put("post_processor", frame([0, 1]))], "2 ids"),
    *((f"the decoder {kind}", [put("decoder", {"type": kind})], f"'{kind}'") for kind in ("WordPiece", "BPEDecoder", "CTC", "NoSuch")),
    ("a token for whole words", [put("added_tokens.1.single_word", True)], "whole words"),
    ("a text that grows", [put("normalizer", {"type": "Replace", "pattern": {"String": "a"}, "content": "b" * 65})], "grow"),
]


def write_directory(path, changes=()):
    tiny_model.write(path, "llama", 16)
    root = tokenizer_json()
    for change in changes:
        change(root)
    (path / "tokenizer.json").write_text(json.dumps(root))
    (path / "tokenizer_config.json").write_text(json.dumps({"bos_token": "<s>", "eos_token": "</s>", "chat_template": TEMPLATE}))


def field(number, data):
    return bytes([number << 3 | 2, len(data)]) + data


UNKNOWN = field(1, field(1, b"<unk>") + b"\x18\x02")
PIECES = [  # tokenizer.model
    ("a table of characters", UNKNOWN + field(3, b"\x20\x00" + field(1, b"nmt_nfkc") + field(2, b"xx")), "nmt_nfkc"),
    ("spaces removed", UNKNOWN + field(3, b"\x20\x01"), "remove_extra_whitespaces"),
    ("spaces kept", UNKNOWN + field(3, b"\x20\x00\x28\x00"), "escape_whitespaces"),
    ("whole words", UNKNOWN + field(2, b"\x18\x03") + field(3, b"\x20\x00"), "model type 3"),
    ("a piece that is not used", UNKNOWN + field(1, field(1, b"a") + b"\x18\x05") + field(3, b"\x20\x00"), "piece 1"),
]


class IdsAlone(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name)
        self.messages = self.folder / "messages.json"
        self.messages.write_text(json.dumps([{"role": "user", "content": "the"}]))
        self.text = self.folder / "text.txt"
        self.text.write_text("the the")
        self.n_made = 0

    def new_path(self, ending=""):
        self.n_made += 1
        return self.folder / f"m{self.n_made}{ending}"

    def ids_work(self, model):
        got = kvik_json("run", model, "--ids", "2,3,4", "-n", 3, "--temp", 0, "--ignore-eos", "--calibrate", "off")
        self.assertEqual(len(got["ids"]), 3)
        self.assertEqual(len(kvik_json("score", model, "--ids", "2,3,4,5")["logprobs"]), 3)
        self.assertEqual(call("show", model).returncode, 0)
        return kvik_json("show", model)

    def blocked(self, words, reason, remedy, stdin="", status=6):
        done = call(*words, stdin=stdin)
        self.assertEqual((done.returncode, done.stdout), (status, ""), (words, done.stderr))
        self.assertEqual(done.stderr.strip().count("\n"), 0, done.stderr)
        self.assertIn(reason, done.stderr)
        self.assertRegex(done.stderr, remedy)

    def text_is_blocked(self, model, reason):
        shown = self.ids_work(model)
        self.assertTrue(kvik_json("show", model, "--check")["ok"])
        if shown["tokenizer"] is not None:
            self.assertIn(reason, shown["tokenizer"]["unsupported"])
        for words, stdin in ((("run", model, "the"), ""), (("run", model, "--raw", "the"), ""), (("tokenize", model), "the\n"),
                             (("template", model, self.messages), ""), (("score", model, "--file", self.text), ""), (("chat", model), "the\n")):
            self.blocked(words, reason, "use another model|convert the model again|token ids", stdin)

    def chat_is_blocked(self, model, reason, status=6):
        shown = self.ids_work(model)
        self.assertEqual(call("show", model, "--check").returncode, 0 if status == 6 else status)
        self.assertEqual(shown["tokenizer"]["n_tokens"], len(TOKENS))
        ids = json.loads(call("tokenize", model, "--json", "--text", "the").stdout)
        self.assertEqual(kvik_json("run", model, "--raw", "the", "-n", 1)["prompt_ids"], ids)
        self.assertEqual(call("score", model, "--file", self.text).returncode, 0)
        for words, stdin in ((("run", model, "the"), ""), (("template", model, self.messages), ""), (("chat", model), "the\n")):
            self.blocked(words, reason, "--raw|--template", stdin, status)
        mine = self.folder / "mine.jinja"
        mine.write_text(TEMPLATE)
        self.assertEqual(kvik_json("run", model, "the", "--template", mine, "-n", 1)["prompt_ids"], ids)

    def test_the_models_of_this_test_take_text(self):
        plain = self.new_path(".gguf")
        write_gguf(plain)
        directory = self.new_path()
        write_directory(directory)
        for model in (plain, directory):
            for words in (("run", model, "the", "-n", 1), ("tokenize", model, "--text", "the"), ("template", model, self.messages)):
                self.assertEqual(call(*words).returncode, 0, call(*words).stderr)
            self.assertEqual(call("chat", model, "-n", 1, stdin="the\n").returncode, 0)

    def test_tokenizers_of_gguf(self):
        for what, changes, reason in GGUF_TOKENIZERS:
            with self.subTest(what):
                path = self.new_path(".gguf")
                write_gguf(path, **changes)
                self.text_is_blocked(path, reason)

    def test_chat_templates_of_gguf(self):
        for what, changes, reason in GGUF_TEMPLATES:
            with self.subTest(what):
                path = self.new_path(".gguf")
                write_gguf(path, **changes)
                self.chat_is_blocked(path, reason)

    def test_a_template_that_is_none_is_a_broken_file_and_blocks_chat_alone(self):
        path = self.new_path(".gguf")
        write_gguf(path, **{CHAT: "{% for %}"})
        self.chat_is_blocked(path, "line 1 column 8", status=3)

    def test_tokenizers_of_directories(self):
        for what, changes, reason in JSON_TOKENIZERS:
            with self.subTest(what):
                path = self.new_path()
                write_directory(path, changes)
                self.text_is_blocked(path, reason)

    def test_pieces_of_directories(self):
        for what, pieces, reason in PIECES:
            with self.subTest(what):
                path = self.new_path()
                tiny_model.write(path, "llama", 16)
                (path / "tokenizer.model").write_bytes(pieces)
                self.text_is_blocked(path, reason)

    def test_vocabularies_of_directories(self):
        for config, reason in (({}, "tokenizer_class"), ({"tokenizer_class": "BertTokenizer"}, "BertTokenizer")):
            with self.subTest(config):
                path = self.new_path()
                tiny_model.write(path, "llama", 16)
                (path / "vocab.json").write_text(json.dumps({t: i for i, t in enumerate(TOKENS)}))
                (path / "merges.txt").write_text("#version: 0.2\n" + "\n".join(MERGES) + "\n")
                (path / "tokenizer_config.json").write_text(json.dumps(config))
                self.text_is_blocked(path, reason)

    def test_chat_templates_of_directories(self):
        several = [{"name": "rag", "template": TEMPLATE}, {"name": "tools", "template": TEMPLATE}]
        for what, source, reason in (("empty", "", "empty"), ("named", several, "--template")):
            with self.subTest(what):
                path = self.new_path()
                write_directory(path)
                config = json.loads((path / "tokenizer_config.json").read_text())
                (path / "tokenizer_config.json").write_text(json.dumps({**config, "chat_template": source}))
                self.chat_is_blocked(path, reason)


if __name__ == "__main__":
    unittest.main()
