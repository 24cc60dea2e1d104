"""Models as Hugging Face directories: config.json, safetensors in one file or in shards."""
import array
import json
import math
import os
import pathlib
import random
import struct
import tempfile
import unittest

from program import InFile, call, kvik, kvik_json

N_LAYERS, HIDDEN, N_HEADS, N_KV_HEADS, HEAD_DIM, FF, VOCAB = 2, 32, 2, 1, 16, 64, 50
IDS = [1, 7, 3, 9, 20, 11]

CONFIG = {
    "model_type": "llama", "num_hidden_layers": N_LAYERS, "hidden_size": HIDDEN,
    "num_attention_heads": N_HEADS, "num_key_value_heads": N_KV_HEADS, "intermediate_size": FF,
    "vocab_size": VOCAB, "max_position_embeddings": 64, "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0, "tie_word_embeddings": True, "hidden_act": "silu",
}


def tensors():
    """Name -> (shape, floats): the same at every call."""
    draw = random.Random(1)
    kv = N_KV_HEADS * HEAD_DIM
    shapes = {"model.embed_tokens.weight": [VOCAB, HIDDEN], "model.norm.weight": [HIDDEN]}
    for i in range(N_LAYERS):
        for name, shape in {
                "input_layernorm": [HIDDEN], "post_attention_layernorm": [HIDDEN],
                "self_attn.q_proj": [N_HEADS * HEAD_DIM, HIDDEN], "self_attn.k_proj": [kv, HIDDEN],
                "self_attn.v_proj": [kv, HIDDEN], "self_attn.o_proj": [HIDDEN, N_HEADS * HEAD_DIM],
                "mlp.gate_proj": [FF, HIDDEN], "mlp.up_proj": [FF, HIDDEN],
                "mlp.down_proj": [HIDDEN, FF]}.items():
            shapes[f"model.layers.{i}.{name}.weight"] = shape
    out = {}
    for name, shape in shapes.items():
        n = 1
        for dim in shape:
            n *= dim
        centre = 1.0 if len(shape) == 1 else 0.0
        out[name] = (shape, [centre + draw.uniform(-0.3, 0.3) for _ in range(n)])
    return out


def write_safetensors(path, named):
    header, data = {}, b""
    for name, (shape, values) in named.items():
        raw = array.array("f", values).tobytes()
        header[name] = {"dtype": "F32", "shape": shape,
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


class Directory(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        (self.path / "config.json").write_text(json.dumps(CONFIG))
        write_safetensors(self.path / "model.safetensors", tensors())

    def score(self):
        with InFile(IDS) as name:
            return kvik_json("score", self.path, "--ids", "@" + name)

    def test_runs_and_scores_ids_without_a_tokenizer(self):
        got = kvik_json("run", self.path, "--raw", "--ids", "1,7,3", "-n", 5, "--temp", 0,
                        "--ignore-eos")
        self.assertEqual(len(got["ids"]), 5)
        self.assertEqual(got["text"], "")
        self.assertEqual(len(self.score()["logprobs"]), len(IDS) - 1)

    def test_text_without_a_tokenizer_is_refused_by_name(self):
        done = call("run", self.path, "Hello")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("tokenizer", done.stderr)

    def write_tokenizer(self, n_more):
        """Byte-level BPE of 26 letters and n_more other characters, each a token."""
        characters = [chr(ord("a") + i) for i in range(26)] + [chr(0x3b1 + i) for i in range(n_more)]
        (self.path / "tokenizer.json").write_text(json.dumps({
            "added_tokens": [], "normalizer": None, "post_processor": None,
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True},
            "decoder": {"type": "ByteLevel"},
            "model": {"type": "BPE", "merges": [],
                      "vocab": {c: i for i, c in enumerate(characters)}}}))

    def test_rows_of_the_embedding_without_a_token_have_no_text(self):
        self.write_tokenizer(0)
        self.assertEqual(json.loads(kvik("tokenize", self.path, "--jsonl", stdin='"abz"\n')),
                         [0, 1, 25])
        got = kvik_json("run", self.path, "ab", "--raw", "-n", 40, "--temp", 5, "--min-p", 0)
        self.assertTrue(any(i >= 26 for i in got["ids"]), got["ids"])
        self.assertEqual(len(got["text"]), sum(i < 26 for i in got["ids"]))

    def test_a_token_without_a_row_of_the_embedding_is_refused_where_it_is_used(self):
        # As Gemma 3's <image_soft_token>, which the text model has no row for.
        self.write_tokenizer(VOCAB - 26 + 1)
        self.assertEqual(len(self.score()["logprobs"]), len(IDS) - 1)
        done = call("run", self.path, "--raw", "--ids", VOCAB, "-n", 1, "--json")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("50", done.stderr)

    def test_logits_that_are_no_numbers_are_an_error(self):
        named = tensors()
        named["model.embed_tokens.weight"][1][-1] = math.nan
        write_safetensors(self.path / "model.safetensors", named)
        self.assert_refused(1, "logits at position 0 are NaN", "show --check")

    def test_show_waits_for_no_pipe(self):
        os.unlink(self.path / "config.json")
        os.mkfifo(self.path / "config.json")
        done = call("show", self.path)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("not a regular file", done.stderr)

    def test_shards_and_one_file_are_the_same_model(self):
        whole = self.score()
        named = tensors()
        names = sorted(named)
        shards = [names[:5], names[5:]]
        weight_map = {}
        for i, part in enumerate(shards):
            file = f"model-{i + 1:05}-of-00002.safetensors"
            write_safetensors(self.path / file, {name: named[name] for name in part})
            weight_map.update({name: file for name in part})
        (self.path / "model.safetensors.index.json").write_text(
            json.dumps({"metadata": {}, "weight_map": weight_map}))
        os.unlink(self.path / "model.safetensors")
        self.assertEqual(self.score(), whole)

    def test_show_tells_what_it_holds(self):
        facts = kvik_json("show", self.path)
        self.assertEqual(facts["architecture"], "llama")
        self.assertTrue(facts["supported"])
        self.assertIn("llama", kvik("show", self.path))

    def assert_refused(self, status, *words):
        done = call("score", self.path, "--ids", "1,2")
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_an_unknown_architecture_is_named(self):
        (self.path / "config.json").write_text(json.dumps({**CONFIG, "model_type": "mamba"}))
        self.assert_refused(6, "config.json", "'model_type' is 'mamba'", "llama")

    def test_an_unknown_rope_is_named(self):
        (self.path / "config.json").write_text(
            json.dumps({**CONFIG, "rope_scaling": {"rope_type": "yarn", "factor": 4.0}}))
        self.assert_refused(6, "rope_type' is 'yarn'", "llama3")

    def test_missing_files_are_named(self):
        os.unlink(self.path / "model.safetensors")
        self.assert_refused(3, "model.safetensors")
        os.unlink(self.path / "config.json")
        self.assert_refused(3, "config.json")

    def test_a_missing_tensor_is_named(self):
        named = tensors()
        del named["model.layers.1.mlp.up_proj.weight"]
        write_safetensors(self.path / "model.safetensors", named)
        self.assert_refused(3, "'model.layers.1.mlp.up_proj.weight' [64, 32] is missing")

    def test_one_file_of_it_is_no_model(self):
        done = call("score", self.path / "model.safetensors", "--ids", "1,2")
        self.assertEqual(done.returncode, 3)
        self.assertIn("give the directory", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
