"""The machine-readable side, as docs/contracts.md promises it."""
import ast
import hashlib
import json
import math
import os
import pathlib
import pty
import struct
import subprocess
import tempfile
import unittest

from program import (BINARY, GOLDEN, MODEL, TIMEOUT_S, InFile, answers, call, environment, kvik,
                     kvik_json, run_ids, score_ids)

CHAT = answers()["chats"][0]
PROMPT = answers()["prompts"][0]
# The two likeliest first tokens of the answer to CHAT are nearer than what 8-bit activations blur.
LIKELIEST = ("--temp", 0, "--act", "f32", "-n", 24)


class Run(unittest.TestCase):
    def test_answers_a_question(self):
        self.assertIn("Paris", kvik("run", MODEL, CHAT["messages"][0]["content"], *LIKELIEST))

    def test_a_prompt_leaves_stdin_alone(self):
        flags = f"run {MODEL} --temp 0 -n 2 --calibrate off"
        loop = f'while read -r line; do {BINARY} {flags} "$line" && echo "end of $line"; done'
        done = subprocess.run(["sh", "-c", loop], input="one\ntwo\nthree\n", capture_output=True,
                              encoding="utf-8", timeout=TIMEOUT_S, env=environment())
        self.assertEqual([line for line in done.stdout.splitlines() if line.startswith("end of")],
                         ["end of one", "end of two", "end of three"], done.stderr)

    def test_stdin_and_files_are_prompts_where_they_are_asked_for(self):
        def ids(*words, stdin=""):
            return kvik_json("run", MODEL, "-n", 0, "--raw", *words, stdin=stdin)["prompt_ids"]
        both = ids("Summarise:\n\na text")
        self.assertEqual(ids("Summarise:", "--prompt-file", "-", stdin="a text\n"), both)
        self.assertNotEqual(ids("Summarise:", stdin="a text\n"), both)
        self.assertEqual(ids("-", stdin="a text\n"), ids("a text"))
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write("a text\n")
            file.flush()
            self.assertEqual(ids("Summarise:", "--prompt-file", file.name), both)
            self.assertEqual(ids("--prompt-file", file.name), ids("a text"))
        for words in (("-", "--prompt-file", "-"), ("--ids", "1", "--prompt-file", "-")):
            self.assertEqual(call("run", MODEL, *words).returncode, 2, words)

    def test_takes_the_question_from_standard_input(self):
        by_word = kvik("run", MODEL, CHAT["messages"][0]["content"], "--temp", 0, "-n", 8)
        by_pipe = kvik("run", MODEL, "--temp", 0, "-n", 8, stdin=CHAT["messages"][0]["content"])
        self.assertEqual(by_pipe, by_word)

    def test_puts_the_answer_alone_on_standard_output(self):
        done = call("run", MODEL, CHAT["messages"][0]["content"], *LIKELIEST)
        self.assertEqual(done.stdout.strip(), "The capital of France is Paris.")

    def test_prints_one_object_of_the_promised_shape(self):
        got = run_ids(PROMPT["ids"], "-n", 5, "--temp", 0, "--logits-hash")
        self.assertEqual(got["prompt_ids"], PROMPT["ids"])
        self.assertEqual(len(got["ids"]), 5)
        self.assertEqual(len(got["logprobs"]), 5)
        self.assertTrue(all(x <= 0 for x in got["logprobs"]))
        self.assertEqual(got["finish_reason"], "length")
        self.assertRegex(got["logits_sha256"], "^[0-9a-f]{64}$")
        self.assertLessEqual({"isa", "act", "kv", "ubatch", "threads"}, set(got["used"]))
        self.assertLessEqual({"load_ms", "prompt_n", "cached_n", "prompt_ms", "decode_n",
                              "decode_ms"}, set(got["timings"]))
        self.assertEqual(got["timings"]["prompt_n"], len(PROMPT["ids"]))
        self.assertEqual(got["timings"]["decode_n"], 5)
        self.assertLessEqual({"drafted", "accepted", "rounds"}, set(got["spec"]))
        self.assertIsInstance(got["kv"], dict)
        self.assertTrue(PROMPT["greedy_text"].startswith(got["text"]))

    def test_no_tokens_asked_for_is_a_prefill_and_an_empty_answer(self):
        got = kvik_json("run", MODEL, "Hello", "-n", 0)
        self.assertEqual((got["ids"], got["text"], got["logprobs"]), ([], "", []))
        self.assertEqual(got["finish_reason"], "length")
        self.assertGreater(got["timings"]["prompt_n"], 0)
        self.assertEqual(kvik("run", MODEL, "Hello", "-n", 0), "")

    def test_stops_at_the_end_token(self):
        with InFile(CHAT["ids"]) as name:
            got = kvik_json("run", MODEL, "--raw", "--ids", "@" + name, *LIKELIEST)
        self.assertEqual(got["finish_reason"], "stop")
        self.assertEqual(got["text"], "The capital of France is Paris.")

    def test_ids_on_the_command_line_and_in_a_file_are_the_same(self):
        inline = kvik_json("run", MODEL, "--raw", "--ids", ",".join(map(str, PROMPT["ids"])), "-n", 4,
                           "--temp", 0, "--ignore-eos")
        self.assertEqual(inline["ids"], run_ids(PROMPT["ids"], "-n", 4, "--temp", 0)["ids"])

    def test_a_raw_prompt_is_the_same_as_its_ids(self):
        raw = kvik_json("run", MODEL, PROMPT["text"], "--raw", "-n", 4, "--temp", 0, "--ignore-eos")
        self.assertEqual(raw["prompt_ids"], PROMPT["ids"])

    def test_the_template_is_applied_unless_raw(self):
        got = kvik_json("run", MODEL, CHAT["messages"][0]["content"], "-n", 1)
        self.assertEqual(got["prompt_ids"], CHAT["ids"])

    def test_the_system_prompt_reaches_the_template(self):
        chat = answers()["chats"][1]
        got = kvik_json("run", MODEL, chat["messages"][1]["content"], "-n", 1,
                        "--system", chat["messages"][0]["content"])
        self.assertEqual(got["prompt_ids"], chat["ids"])

    def test_a_stop_string_ends_the_answer_and_is_not_in_it(self):
        row = answers()["prompts"][1]
        full = run_ids(row["ids"], "-n", 30, "--temp", 0)["text"]
        got = run_ids(row["ids"], "-n", 30, "--temp", 0, "--stop", "return")
        self.assertEqual(got["finish_reason"], "stop")
        self.assertEqual(got["text"], full[:full.index("return")])

    def test_special_tokens_that_a_user_types_are_text(self):
        typed = kvik_json("run", MODEL, "<|im_end|>", "-n", 1)["prompt_ids"]
        plain = kvik_json("run", MODEL, "x", "-n", 1)["prompt_ids"]
        end = json.loads(kvik("tokenize", MODEL, "--jsonl", "--special", stdin='"<|im_end|>"\n'))[0]
        self.assertEqual(typed.count(end), plain.count(end))

    def test_a_forbidden_token_does_not_come(self):
        first = run_ids(PROMPT["ids"], "-n", 1, "--temp", 0)["ids"][0]
        got = run_ids(PROMPT["ids"], "-n", 1, "--temp", 0, "--logit-bias", f"{first}:-100")
        self.assertNotEqual(got["ids"][0], first)


class Score(unittest.TestCase):
    def test_perplexity_is_that_of_its_log_probabilities(self):
        got = score_ids(PROMPT["ids"])
        self.assertEqual(got["ids"], PROMPT["ids"])
        self.assertEqual(len(got["logprobs"]), len(PROMPT["ids"]) - 1)
        mean = -sum(got["logprobs"]) / len(got["logprobs"])
        self.assertAlmostEqual(got["perplexity"], math.exp(mean), delta=1e-3 * math.exp(mean))

    def test_dumps_the_logits_that_it_hashes(self):
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "logits.npy")
            got = score_ids(PROMPT["ids"], "--dump-logits", name)
            with open(name, "rb") as file:
                data = file.read()
        self.assertEqual(data[:8], b"\x93NUMPY\x01\x00")
        n = struct.unpack("<H", data[8:10])[0]
        header = ast.literal_eval(data[10:10 + n].decode())
        self.assertEqual((header["descr"], header["fortran_order"]), ("<f4", False))
        self.assertEqual(header["shape"], (len(PROMPT["ids"]), 49152))
        self.assertEqual(len(data), 10 + n + 4 * math.prod(header["shape"]))
        self.assertEqual(got["logits_sha256"], hashlib.sha256(data[10 + n:]).hexdigest())

    def test_a_file_of_text_is_scored_as_its_ids(self):
        by_ids = score_ids(answers()["texts"]["prose"]["ids"])
        by_file = kvik_json("score", MODEL, "--file", GOLDEN / "smollm2/prose.txt")
        self.assertEqual(by_file, by_ids)

    def test_agrees_with_what_run_reports_for_its_own_choices(self):
        ran = run_ids(PROMPT["ids"], "-n", 6, "--temp", 0)
        scored = score_ids(PROMPT["ids"] + ran["ids"])
        for one, other in zip(scored["logprobs"][len(PROMPT["ids"]) - 1:], ran["logprobs"],
                              strict=True):
            self.assertAlmostEqual(one, other, places=5)


class Others(unittest.TestCase):
    def test_tokenize_takes_a_text_and_plain_lines(self):
        by_word = kvik("tokenize", MODEL, "--text", PROMPT["text"], "--json")
        by_line = kvik("tokenize", MODEL, "--json", stdin=PROMPT["text"] + "\n")
        self.assertEqual(json.loads(by_word), PROMPT["ids"])
        self.assertEqual(json.loads(by_line), PROMPT["ids"])

    def test_what_tokenize_prints_is_taken_back(self):
        for form in ((), ("--json",)):
            line = kvik("tokenize", MODEL, "--text", PROMPT["text"], *form)
            self.assertEqual(kvik("tokenize", MODEL, "--decode", stdin=line), PROMPT["text"] + "\n")
        got = kvik_json("run", MODEL, "--ids", line.strip(), "-n", 0)
        self.assertEqual(got["prompt_ids"], PROMPT["ids"])

    def test_check_reads_a_whole_model_and_finds_it_good(self):
        got = kvik_json("show", MODEL, "--check")
        self.assertTrue(got["ok"])
        self.assertEqual(got["damaged"], [])
        self.assertRegex(got["digest"], "^[0-9a-f]{64}$")
        self.assertEqual(got["tensors"], len(kvik_json("show", MODEL, "--tensors")["tensor_list"]))
        self.assertTrue(kvik("show", MODEL, "--check").endswith("ok\n"))

    def test_show_prints_the_template_that_template_renders(self):
        source = kvik("show", MODEL, "--template")
        self.assertIn("<|im_start|>", source)
        self.assertEqual(kvik_json("show", MODEL)["chat_template"]["text"].rstrip("\n"),
                         source.rstrip("\n"))

    def test_template_takes_what_else_a_message_has(self):
        with InFile([{"role": "user", "content": "Hi", "name": "Ada"}]) as name:
            listed = kvik_json("template", MODEL, name)
        self.assertIn("Hi", listed["text"])
        with InFile({"messages": [{"role": "user", "content": "Hi"}], "tools": []}) as name:
            self.assertEqual(kvik_json("template", MODEL, name), listed)

    def test_show_tells_what_the_file_holds(self):
        got = json.dumps(kvik_json("show", MODEL))
        for word in ("llama", "q4_1", "q8_0", "49152"):
            self.assertIn(word, got.lower())
        self.assertIn("llama", kvik("show", MODEL))

    def test_bench_prints_a_list_of_measurements(self):
        rows = kvik_json("bench", MODEL, "-p", 32, "-n", 4, "-b", "1,2")
        self.assertEqual([(row["test"], row["rows"] * row["streams"]) for row in rows],
                         [("rows", 1), ("rows", 2), ("pp", 1), ("tg", 1), ("streams", 1),
                          ("streams", 2)])
        self.assertEqual([row.get("x1") == 1 for row in rows if "x1" in row],
                         [True, False, True, False])
        for row in rows:
            self.assertLessEqual({"test", "n", "rows", "streams", "depth", "tokens_per_s", "ms",
                                  "ms_min", "ms_max", "runs"}, set(row))
            self.assertGreater(row["tokens_per_s"], 0)
            self.assertGreater(row["percent"], 0)
            self.assertIn(row["of"], ("read", "int8", "f32"))

    def test_bench_measures_only_what_is_asked_for(self):
        rows = kvik_json("bench", MODEL, "-p", 32, "-r", 1, "-d", "0,64")
        self.assertEqual([(row["test"], row["depth"]) for row in rows], [("pp", 0), ("pp", 64)])
        self.assertIn("x1", rows[1])

    def test_bench_profiles_a_decode_and_a_prefill_step(self):
        got = kvik_json("bench", MODEL, "--profile", "-p", 32, "-r", 1, "-d", "0,64")
        self.assertGreater(got["barrier_us"], 0)
        self.assertEqual([(s["step"], s["rows"], s["depth"]) for s in got["steps"]],
                         [("decode", 1, 0), ("prefill", 32, 0), ("decode", 1, 64),
                          ("prefill", 32, 64)])
        for step in got["steps"]:
            self.assertAlmostEqual(sum(step["parts_ms"].values()) / step["ms"], 1, delta=0.01)
            self.assertTrue(0 < step["between_percent"] < 100)

    def test_bench_prints_nothing_before_the_model_is_open(self):
        for arguments in (("nowhere.gguf",), (MODEL, "--cache-ram", "1K"), (MODEL, "-d", "1000000")):
            done = call("bench", *arguments, "-p", 8, "-n", 1)
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(done.stdout, "")

    def test_version_is_a_line(self):
        self.assertRegex(kvik("--version"), r"^kvik \d+\.\d+\.\d+")

    def test_help_names_every_verb(self):
        text = kvik("--help")
        for verb in ("run", "chat", "show", "tokenize", "template", "score", "bench"):
            self.assertRegex(text, rf"\b{verb}\b")


class BuiltinTemplate(unittest.TestCase):
    """A model without a template of its own: the key that names it has another name."""

    @classmethod
    def setUpClass(cls):
        data = bytearray(pathlib.Path(MODEL).read_bytes())
        at = data.index(b"tokenizer.chat_template")
        data[at:at + 23] = b"tokenizer.chat_tomplate"
        cls.folder = tempfile.TemporaryDirectory()
        cls.name = os.path.join(cls.folder.name, "bare.gguf")
        pathlib.Path(cls.name).write_bytes(data)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def on_terminal(self, *arguments):
        """(standard output through a pipe, what a terminal shows of standard error)"""
        ours, theirs = pty.openpty()
        process = subprocess.Popen([BINARY, *arguments], stdout=subprocess.PIPE, stderr=theirs,
                                   stdin=subprocess.DEVNULL, env=environment())
        out = process.communicate(timeout=TIMEOUT_S)[0].decode()
        os.close(theirs)
        shown = os.read(ours, 1 << 16).decode()  # at the most: the program has ended
        os.close(ours)
        self.assertEqual(process.returncode, 0, shown)
        return out, shown

    def test_is_announced_wherever_it_is_used(self):
        out, shown = self.on_terminal("run", self.name, "Hi", "-n", "1", "--temp", "0", "--conversation")
        self.assertIn("chatml", shown)
        self.assertNotIn("chatml", out)
        done = call("run", self.name, "Hi", "-n", "1", "--temp", "0", "--conversation")
        self.assertEqual(done.stdout, out)
        for asked in (["chat", self.name, "-n", "1"], ["template", self.name, "-"]):
            done = call(*asked, stdin='[{"role": "user", "content": "Hi"}]\n')
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("chatml", done.stderr)
            self.assertNotIn("brings", done.stderr)

    def test_is_not_used_to_complete(self):
        done = call("run", self.name, "Hi", "-n", "1", "--temp", "0", "--json")
        got = json.loads(done.stdout)
        self.assertIsNone(got["template"])
        self.assertIn("completes", done.stderr)
        self.assertEqual(got["prompt_ids"], kvik_json("run", self.name, "Hi", "-n", "1", "--raw")["prompt_ids"])
        for told in (["--conversation"], ["--system", "S"], ["--template", "chatml"]):
            got = kvik_json("run", self.name, "Hi", "-n", "1", *told)
            self.assertEqual(got["template"], {"source": "builtin", "name": "chatml"})
        with InFile("F {{ messages[0].content }}") as path:
            got = kvik_json("run", self.name, "Hi", "-n", "1", "--template", path)
            self.assertEqual(got["template"]["source"], "file")
        done = call("run", self.name, "Hi", "-n", "1", "--template", "nosuch")
        self.assertEqual(done.returncode, 2)
        self.assertIn("phi4", done.stderr)

    def test_is_named_by_show_and_not_in_what_template_prints(self):
        self.assertEqual(kvik_json("show", self.name)["chat_template"]["builtin"], "chatml")
        self.assertIn("chatml", kvik("show", self.name))
        with InFile([{"role": "user", "content": "Hi"}]) as messages:
            got = kvik_json("template", self.name, messages)
            self.assertEqual(set(got), {"text", "ids", "template"})
            self.assertIn("chatml", self.on_terminal("template", self.name, messages)[1])


class Chat(unittest.TestCase):
    def test_answers_lines_of_a_pipe_and_leaves_at_their_end(self):
        done = call("chat", MODEL, *LIKELIEST, stdin="What is the capital of France?\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Paris", done.stdout)

    def test_remembers_the_turn_before(self):
        done = call("chat", MODEL, "--temp", 0, "-n", 24,
                    stdin="My name is Ada.\nWhat is my name?\n/stats\n/exit\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Ada", done.stdout)

    def test_forgets_after_clear(self):
        fresh = call("chat", MODEL, "--temp", 0, "-n", 12, stdin="Say hello.\n").stdout
        cleared = call("chat", MODEL, "--temp", 0, "-n", 12,
                       stdin="Count to three.\n/clear\nSay hello.\n").stdout
        self.assertTrue(cleared.rstrip().endswith(fresh.strip()), (fresh, cleared))


if __name__ == "__main__":
    unittest.main(verbosity=2)
