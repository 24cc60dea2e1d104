"""What goes wrong gives the promised exit status, and a message that names the thing and the remedy."""
import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

from program import BINARY, MODEL, TIMEOUT_S, InFile, call, environment, isas, kvik_json


def gguf_naming(architecture):
    """A well-formed file of an architecture that does not exist: header and one key."""
    def text(value):
        return struct.pack("<Q", len(value)) + value.encode()
    return (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("general.architecture")
            + struct.pack("<I", 8) + text(architecture))


class Misuse(unittest.TestCase):
    def assert_fails(self, status, words, *arguments, **how):
        done = call(*arguments, **how)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stdout, "")
        for word in words:
            self.assertIn(word, done.stderr)

    def with_file(self, data):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        name = os.path.join(folder.name, "made-up.gguf")
        pathlib.Path(name).write_bytes(data)
        return name

    def changed_model(self, old=b"", new=b"", at=None):
        """A copy of the model with some bytes in place of others."""
        data = bytearray(pathlib.Path(MODEL).read_bytes())
        at = data.index(old) if at is None else at
        data[at:at + len(new)] = new
        return self.with_file(data)

    def test_a_missing_file_is_3(self):
        self.assert_fails(3, ["nowhere.gguf"], "run", "nowhere.gguf", "hello")

    def test_a_file_that_is_no_model_is_3(self):
        name = self.with_file(b"no model at all, but long enough for a header" * 10)
        self.assert_fails(3, [name], "run", name, "hello")

    def test_an_empty_file_is_3(self):
        self.assert_fails(3, ["made-up.gguf"], "show", self.with_file(b""))

    def test_a_cut_file_is_3(self):
        with open(MODEL, "rb") as file:
            name = self.with_file(file.read(4_000_000))
        self.assert_fails(3, [name], "run", name, "hello")

    def test_an_unknown_architecture_is_6(self):
        self.assert_fails(6, ["abacus"], "run", self.with_file(gguf_naming("abacus")), "hello")

    def test_an_unknown_flag_is_2_and_names_the_nearest(self):
        self.assert_fails(2, ["--tmep", "--temp"], "run", MODEL, "hello", "--tmep", "1")

    def test_an_unknown_verb_is_2(self):
        self.assert_fails(2, ["rum"], "rum", MODEL)

    def test_a_mistyped_word_in_the_verb_s_place_gets_the_nearest(self):
        self.assert_fails(2, ["--version"], "--verison")
        self.assert_fails(2, ["run"], "rnu", MODEL)

    def test_wishes_that_contradict_each_other_are_2(self):
        for words in (("run", MODEL, "Hi", "--config", "a.toml", "--no-config"),
                      ("run", MODEL, "Hi", "--ids", "5"),
                      ("bench", MODEL, "-p", "0", "-n", "0", "-b", "none"),
                      ("show", MODEL, "--template", "--json"),
                      ("tokenize", MODEL, "--decode", "--bos")):
            with self.subTest(words=words):
                self.assert_fails(2, [], *words)

    def test_no_verb_is_2(self):
        self.assert_fails(2, ["run"])

    def test_a_flag_without_its_value_is_2(self):
        self.assert_fails(2, ["--temp"], "run", MODEL, "hello", "--temp")

    def test_values_out_of_range_are_2(self):
        for flag, value in (("--temp", "-1"), ("--temp", "nan"), ("--top-p", "2"),
                            ("--min-p", "1.5"), ("--threads", "0"), ("--threads", "many"),
                            ("--kv", "f8"), ("-n", "-3"), ("--stop", ""), ("--ctx", "0x")):
            with self.subTest(flag=flag, value=value):
                self.assert_fails(2, [flag.lstrip("-")], "run", MODEL, "hello", flag, value)

    def test_an_empty_list_of_ids_is_2(self):
        with InFile([]) as name:
            self.assert_fails(2, [], "run", MODEL, "--raw", "--ids", "@" + name)

    def test_an_id_outside_the_vocabulary_is_2(self):
        self.assert_fails(2, ["49152"], "run", MODEL, "--raw", "--ids", "5,49152")

    def test_ids_that_are_no_numbers_are_2(self):
        self.assert_fails(2, ["ids"], "run", MODEL, "--raw", "--ids", "5,x")

    def test_a_file_of_ids_that_is_missing_is_3(self):
        self.assert_fails(3, ["gone.json"], "run", MODEL, "--raw", "--ids", "@gone.json")

    def test_a_prompt_longer_than_the_context_is_7_and_says_both_numbers(self):
        with InFile([5] * 100) as name:
            self.assert_fails(7, ["100", "64", "--ctx"], "run", MODEL, "--raw", "--ids", "@" + name,
                              "--ctx", "64")

    def test_a_word_that_is_no_instruction_set_is_2(self):
        self.assert_fails(2, ["KVIK_ISA", "abacus"], "run", MODEL, "hello",
                          env={"KVIK_ISA": "abacus"})

    def test_an_instruction_set_that_the_cpu_lacks_is_6(self):
        for isa in {"scalar", "avx2", "avx2-vnni", "avx512"} - set(isas()):
            self.assert_fails(6, [isa], "run", MODEL, "hello", env={"KVIK_ISA": isa})

    def test_a_word_that_is_no_activation_type_is_2(self):
        self.assert_fails(2, ["KVIK_ACT", "int3"], "run", MODEL, "hello", env={"KVIK_ACT": "int3"})

    def test_a_wish_for_a_later_version_is_6(self):
        self.assert_fails(6, ["--draft"], "run", MODEL, "hello", "--draft", "ngram")

    def test_more_kv_than_the_budget_is_4(self):
        self.assert_fails(4, ["--cache-ram"], "run", MODEL, "hello", "--cache-ram", "1K")

    def test_surplus_words_are_2(self):
        for words in (("--version", "x"), ("--help", "x"), ("help", "run", "x"),
                      ("show", MODEL, "x"), ("run", MODEL, "two", "words")):
            with self.subTest(words=words):
                self.assert_fails(2, ["'" + words[-1] + "'"], *words)

    def test_a_number_that_sampling_cannot_use_is_2_before_the_model_is_opened(self):
        for flag, value, range_ in (("--temp", "0.0005", "0.001"), ("--temp", "1e-60", "number"),
                                    ("--repeat-penalty", "20", "10"),
                                    ("--logit-bias", "5:20000", "10000")):
            with self.subTest(flag=flag, value=value):
                self.assert_fails(2, [flag, range_], "run", "nowhere.gguf", "hello", flag, value)

    def test_an_empty_prompt_is_2(self):
        self.assert_fails(2, ["empty"], "run", MODEL, "")
        self.assert_fails(2, ["empty"], "run", MODEL, stdin="\n")

    def test_a_text_longer_than_the_context_is_7_and_says_both_numbers(self):
        self.assert_fails(7, ["64", "--ctx"], "run", MODEL, "hello " * 200, "--ctx", "64")

    def test_a_full_disk_is_told_with_what_was_written(self):
        for status, word, arguments in (
                (1, "stdout", ("run", MODEL, "Hi", "-n", "2", "--temp", "0")),
                (1, "stdout", ("run", MODEL, "Hi", "-n", "2", "--json")),
                (1, "stdout", ("show", MODEL)),
                (3, "/dev/full", ("score", MODEL, "--ids", "1,2,3", "--dump-logits", "/dev/full"))):
            with self.subTest(arguments=arguments), open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([BINARY, *arguments], stdout=full, stderr=subprocess.PIPE,
                                      stdin=subprocess.DEVNULL, encoding="utf-8",
                                      timeout=TIMEOUT_S, env=environment())
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertIn(word, done.stderr)
                self.assertIn("No space left", done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_a_template_that_is_none_is_named_with_its_file_and_the_way_without_it(self):
        name = self.changed_model(b"{% for message", b"{% fox message")
        with InFile([{"role": "user", "content": "Hi"}]) as messages:
            self.assert_fails(3, [name, "template", "--raw"], "template", name, messages)
        self.assert_fails(3, [name, "template", "--raw"], "run", name, "Hi")
        self.assertEqual(call("run", name, "Hi", "--raw", "-n", "1").returncode, 0)

    def test_check_finds_a_number_that_is_none(self):
        tensors = kvik_json("show", MODEL, "--tensors")["tensor_list"]
        norm = [t for t in tensors if t["type"] == "F32"][-1]
        name = self.changed_model(at=norm["offset"] + 8, new=struct.pack("<f", float("nan")))
        done = call("show", name, "--check")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(norm["name"], done.stdout)
        self.assertIn("element 2", done.stdout)

    def test_check_says_what_loading_would_say(self):
        name = self.with_file(gguf_naming("abacus"))
        self.assert_fails(6, ["abacus"], "show", "--check", name)
        self.assert_fails(3, ["nowhere.gguf"], "show", "--check", "nowhere.gguf")

    def test_messages_that_are_no_messages_are_2(self):
        with InFile({"role": "user"}) as name:
            self.assert_fails(2, [], "template", MODEL, name)

    def test_with_json_an_error_is_one_object(self):
        done = call("run", "nowhere.gguf", "hello", "--json")
        self.assertEqual(done.returncode, 3)
        error = json.loads(done.stdout or done.stderr)["error"]
        self.assertIn("nowhere.gguf", json.dumps(error))


if __name__ == "__main__":
    unittest.main(verbosity=2)
