"""Command lines as users of llama-cli and Ollama type them: each works or is told in one line."""
import collections
import json
import pathlib
import resource
import subprocess
import tempfile
import unittest

from program import BINARY, MODEL, TIMEOUT_S, call, environment, kvik, kvik_json

# Every flag of `llama-cli --help` (llama.cpp common/arg.cpp in xllamacpp 2026.10.11549, and those
# that versions of 2025 had), with a value that its users would give. Names of a line mean the same.
#   works    does what it says      idle     accepted, one line says that it changes nothing
#   silent   is so anyway           refused  status 2, one line says what to write instead
WORKS, IDLE, SILENT, REFUSED = "works", "idle", "silent", "refused"
LLAMA_CLI = json.loads((pathlib.Path(__file__).parent / "llama_cli_flags.json").read_text())

QUICK = ("-n", 1, "--temp", 0)


def quick(*arguments, **how):
    return call("run", MODEL, "hello", *QUICK, *arguments, **how)


class LlamaCli(unittest.TestCase):
    def command_line(self, row, name):
        words = [name]
        if "value" in row:
            words.append(__file__ if row["value"] == "FILE" else row["value"])
        if "-m" in row["names"] or "-hf" in row["names"]:
            return ["hello", *words]
        if "-p" in row["names"] or "-f" in row["names"]:
            return ["/nowhere.gguf", *words]
        return ["/nowhere.gguf", "hello", *words]

    def test_every_flag_works_or_is_told_in_one_line(self):
        seen = collections.Counter()
        for row in LLAMA_CLI["flags"]:
            for name in row["names"]:
                with self.subTest(flag=name):
                    # A model that is not there: what is refused is refused before it is opened.
                    done = call("run", *self.command_line(row, name))
                    lines = done.stderr.splitlines()
                    kind = (REFUSED if done.returncode in (2, 6) else
                            IDLE if "nothing here" in done.stderr else SILENT)
                    self.assertEqual(kind, SILENT if row["kind"] == WORKS else row["kind"],
                                     done.stderr)
                    if kind == REFUSED:
                        self.assertEqual(len(lines), 1, done.stderr)
                        self.assertIn(name, lines[0])
                        self.assertNotIn("has no flag", lines[0])
                    else:
                        self.assertEqual(done.returncode, 3, done.stderr)
                        self.assertEqual(len(lines), 2 if kind == IDLE else 1, done.stderr)
                    seen[row["kind"]] += 1
        print(f"{sum(seen.values())} names of {len(LLAMA_CLI['flags'])} flags: {dict(seen)}",
              flush=True)
        self.assertGreater(sum(seen.values()), 350)

    def test_chat_knows_the_same_flags(self):
        for row in LLAMA_CLI["flags"]:
            for name in row["names"]:
                with self.subTest(flag=name):
                    done = call("chat", *self.command_line(row, name))
                    self.assertNotIn("has no flag", done.stderr)
                    self.assertLessEqual(len(done.stderr.splitlines()), 2, done.stderr)

    def test_with_or_without_a_verb_the_answer_is_the_same(self):
        want = kvik("run", MODEL, "The sky is", "-n", 4, "--temp", 0)
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write("The sky is\n")
            file.flush()
            for words in (("-m", MODEL, "-p", "The sky is"),
                          ("-p", "The sky is", "--model", MODEL),
                          ("run", "-m", MODEL, "The sky is"),
                          ("-m", MODEL, "-f", file.name),
                          ("-m", MODEL, "--prompt-file", file.name),
                          (MODEL, "The sky is"),
                          ("run", "-m", MODEL, "--prompt", "The sky is", "-c", 512, "-t", 1, "-s", 5,
                           "--single-turn")):
                with self.subTest(words=words):
                    got = kvik(*words, "--n-predict", 4, "--temperature", 0)
                    self.assertEqual(got, want)

    def test_no_conversation_completes_the_text_as_it_stands(self):
        raw = kvik("run", MODEL, "Once upon", "--raw", *QUICK)
        self.assertEqual(kvik("-m", MODEL, "-no-cnv", "-p", "Once upon", *QUICK), raw)

    def test_an_escape_in_the_prompt_is_one_if_asked_for(self):
        def ids(*words):
            return kvik_json("run", MODEL, "--raw", "-n", 0, *words)["prompt_ids"]
        self.assertEqual(ids("-e", "-p", r"a\nb\"c"), ids("-p", 'a\nb"c'))
        self.assertNotEqual(ids("-p", r"a\nb"), ids("-p", "a\nb"))

    def test_a_conversation_starts_with_the_prompt(self):
        for words in (("-m", MODEL, "-cnv", "-p", "hello"), ("chat", MODEL, "hello"),
                      ("chat", "-m", MODEL, "-p", "hello", "-sys", "Be short.")):
            with self.subTest(words=words):
                answers = kvik(*words, *QUICK, stdin="and\n/exit\n")
                self.assertGreaterEqual(answers.count("\n"), 2, answers)

    def test_lengths_without_an_end_are_taken(self):
        for n in ("-1", "-2"):
            done = kvik_json("run", MODEL, "--raw", "--ids", "5,6", "--ctx", 16, "--ignore-eos",
                             "-n", n)
            self.assertEqual(len(done["prompt_ids"]) + len(done["ids"]), 16)

    def test_types_of_k_and_v_are_one(self):
        used = kvik_json("run", MODEL, "--ids", "5", "--raw", "-n", 0, "-ctk", "q8_0", "-ctv",
                         "q8_0")["used"]
        self.assertEqual(used["kv"], "q8")
        done = quick("-ctk", "q8_0", "-ctv", "f16")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--kv", done.stderr)

    def test_two_hundred_answers_are_not_asked_for_by_mistake(self):
        done = quick("--n", 200)
        self.assertEqual(done.returncode, 2)
        for word in ("--samples", "-n"):
            self.assertIn(word, done.stderr)

    def test_bench_keeps_its_p_and_n(self):
        tests = json.loads(kvik("bench", "-m", MODEL, "-p", 8, "-n", 2, "-r", 1, "--json"))
        self.assertEqual([(t["test"], t["n"]) for t in tests], [("pp", 8), ("tg", 2)])


class Ollama(unittest.TestCase):
    def test_every_verb_works_or_is_told_in_one_line(self):
        for verb in ("list", "ls", "ps", "pull", "rm", "serve", "create", "cp", "push", "stop",
                     "signin", "signout", "launch"):
            with self.subTest(verb=verb):
                done = call(verb, env={"HOME": "/nowhere", "OLLAMA_MODELS": "/nowhere"})
                if verb not in ("list", "ls"):  # works: it names the folders that it searched
                    self.assertLessEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertTrue(done.stdout + done.stderr)

    def test_every_flag_of_run_works_or_is_told_in_one_line(self):
        for words, status in ((["--verbose"], 0), (["--keepalive", "5m"], 0), (["--insecure"], 0),
                              (["--nowordwrap"], 0), (["--format", "json"], 2),
                              (["--think", "false"], 2), (["--hidethinking"], 2),
                              (["--dimensions", "8"], 2), (["--truncate"], 2)):
            with self.subTest(words=words):
                done = quick(*words)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_a_word_that_is_no_model_is_told(self):
        done = call("no-such-model")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no-such-model", done.stderr)
        done = call("nowhere/no.gguf", "Hi")
        self.assertEqual(done.returncode, 3)


class Limits(unittest.TestCase):
    def test_a_limit_on_the_size_of_files_is_an_error_not_a_signal(self):
        with tempfile.TemporaryDirectory() as folder:
            dump = pathlib.Path(folder) / "logits.npy"
            done = subprocess.run(
                [BINARY, "score", MODEL, "--ids", "1,2,3", "--dump-logits", dump],
                capture_output=True, encoding="utf-8", timeout=TIMEOUT_S, env=environment(),
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn(str(dump), done.stderr)
            self.assertIn("File too large", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
