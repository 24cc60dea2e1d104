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

    def test_an_escape_in_p_is_one_and_in_prompt_if_asked_for(self):
        def ids(*words):
            return kvik_json("run", MODEL, "--raw", "-n", 0, *words)["prompt_ids"]
        want, as_typed = ids('a\nb"c'), ids(r"a\nb\"c")
        self.assertNotEqual(want, as_typed)
        self.assertEqual(ids("-p", r"a\nb\"c"), want)
        self.assertEqual(ids("-e", r"a\nb\"c"), want)
        self.assertEqual(ids("--no-escape", "-p", r"a\nb\"c"), as_typed)

    def test_the_last_of_a_flag_counts(self):
        used = kvik_json("run", MODEL, "--ids", "5", "-n", 3, "-c", 99, "-c", 64, "-n", 0,
                         "--n_predict", 1)
        self.assertEqual((used["used"]["context"], len(used["ids"])), (64, 1))

    def test_numbers_that_stand_for_something(self):
        used = kvik_json("run", MODEL, "--ids", "5", "-n", 0, "-c", 0, "-t", -1)["used"]
        self.assertEqual(used["context"], kvik_json("show", MODEL)["hyper_parameters"]
                         ["context_length"])
        self.assertGreater(used["threads"], 0)

    def test_what_changes_nothing_is_named_as_typed_with_its_reason(self):
        told = quick("--n-gpu-layers", 99, "-v", "--mlock").stderr
        self.assertIn("--n-gpu-layers changes nothing here: kvik computes on the CPU", told)
        self.assertIn("-v changes nothing here: kvik writes no log", told)
        self.assertIn("--mlock changes nothing here", told)
        self.assertEqual(told.count("on the CPU"), 1)

    def test_verbs_of_llama_cpp_get_a_pointer(self):
        for verb, word in (("llama-cli", "kvik -m"), ("cli", "kvik run"), ("server", "no server yet"),
                           ("llama-server", "no server yet"), ("llama-bench", "kvik bench"),
                           ("completion", "--raw"), ("quantize", "llama-quantize"),
                           ("llama-perplexity", "kvik score"), ("llama-tokenize", "tokenize")):
            with self.subTest(verb=verb):
                done = call(verb, "-m", MODEL)
                self.assertEqual(done.returncode, 6, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1)
                self.assertIn(word, done.stderr)
        self.assertEqual(kvik("-v"), kvik("--version"))

    def test_a_model_that_is_none_says_what_is_expected(self):
        with tempfile.TemporaryDirectory() as folder:
            for model in ("", folder):
                done = call("run", model, "hello")
                self.assertIn(done.returncode, (2, 3))
                for word in ("GGUF file", "Hugging Face directory", "kvik list"):
                    self.assertIn(word, done.stderr)
        done = subprocess.run([BINARY, "run", MODEL], stdin=subprocess.DEVNULL, capture_output=True,
                              encoding="utf-8", timeout=TIMEOUT_S, env=environment())
        for word in ("PROMPT", "-p TEXT", "-f FILE"):
            self.assertIn(word, done.stderr)

    def test_timings_are_shown_if_asked_for(self):
        for flag in ("--verbose", "--show-timings"):
            told = quick(flag).stderr
            for word in ("load ", "prompt ", "answer ", "cached"):
                self.assertIn(word, told)

    def test_texts_of_llama_perplexity_and_llama_tokenize(self):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write("The sky is\nblue")
            file.flush()
            want = kvik("score", MODEL, "--file", file.name)
            self.assertEqual(kvik("score", "-m", MODEL, "-f", file.name), want)
            self.assertEqual(kvik("score", "-m", MODEL, "-p", r"The sky is\nblue"), want)
            done = call("score", "-m", MODEL, "-f", file.name, "-ngl", 99)
            self.assertEqual((done.stdout, done.stderr.count("\n")), (want, 1))
            ids = kvik("tokenize", MODEL, "--json", "--text", "The sky is\nblue")
            for words in (("-p", r"The sky is\nblue"), ("-f", file.name), ("The sky is\nblue",),
                          ("--no-escape", "-p", "The sky is\nblue")):
                self.assertEqual(kvik("tokenize", "-m", MODEL, "--ids", *words), ids, words)

    def test_a_conversation_starts_with_the_prompt(self):
        for words in (("-m", MODEL, "-cnv", "-p", "hello"), ("chat", MODEL, "hello"),
                      ("chat", "-m", MODEL, "-p", "hello", "-sys", "Be short.")):
            with self.subTest(words=words):
                answers = kvik(*words, *QUICK, stdin="and\n/exit\n")
                self.assertGreaterEqual(answers.count("\n"), 2, answers)

    def test_what_is_piped_beside_a_prompt_is_told_of(self):
        words = f"'{BINARY}' run '{MODEL}' hello -n 1 --temp 0"

        def notes(script):
            done = subprocess.run(["sh", "-c", script], capture_output=True, encoding="utf-8",
                                  timeout=TIMEOUT_S, env=environment(), stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stderr.count("stdin is not read beside PROMPT: --prompt-file - adds it")
        self.assertEqual(notes(f"echo text | {words}"), 1)
        self.assertEqual(notes(f"{words} < '{__file__}'"), 1)
        self.assertEqual(notes(f"echo text | {words} --prompt-file -"), 0)
        self.assertEqual(notes(f"printf 'a\\nb\\nc\\n' | while read -r line; do {words}; done"), 0)
        self.assertEqual(notes(f"while read -r line; do {words}; break; done < '{__file__}'"), 0)
        self.assertEqual(notes(words), 0)

    def test_what_a_chat_alone_has_a_use_for_is_told(self):
        for flags in (("--no-autosave",), ("--overflow", "truncate"), ("--no-wrap",)):
            done = quick(*flags)
            self.assertEqual(done.returncode, 2)
            self.assertIn("kvik chat MODEL", done.stderr)

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

    def test_bench_takes_the_lists_and_flags_of_llama_bench(self):
        done = call("bench", "-m", MODEL, "-p", "4,8", "-n", "1,2", "-t", "1,2", "-r", 1, "-o",
                    "json", "-ngl", 99, "-fa", 1, "-mmp", "0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        got = [(t["threads"], t["test"], t["n"]) for t in json.loads(done.stdout)]
        self.assertEqual(got, [(n, *test) for n in (1, 2) for test in
                               (("pp", 4), ("pp", 8), ("tg", 1), ("tg", 2))])
        for words, hint in ((("-pg", "8,2"), "-n"), (("-o", "csv"), "json")):
            done = call("bench", MODEL, *words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(hint, done.stderr)


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
        for words, status in ((["--keepalive", "5m"], 0), (["--insecure"], 0),
                              (["--format", "json"], 2),
                              (["--think", "false"], 2), (["--hidethinking"], 2),
                              (["--dimensions", "8"], 2), (["--truncate"], 2)):
            with self.subTest(words=words):
                done = quick(*words)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_lines_that_the_terminal_would_break(self):
        self.assertEqual(quick("--nowordwrap").stderr, "")

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
