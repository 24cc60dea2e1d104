"""What the program costs and how it ends: memory, closed pipes, interrupts."""
import os
import resource
import signal
import subprocess
import sys
import tempfile
import unittest

from program import (BINARY, GEMMA, GOLDEN, MODEL, TIMEOUT_S, InFile, answers, call, environment,
                     golden, kvik_json, run_ids)

MIB = 1 << 20
IDS = answers()["texts"]["russian"]["ids"]

# Runs the rest of its arguments and prints the child's peak resident size in bytes; a process of its
# own, because the peak that the kernel keeps for children is that of the largest one ever.
PEAK = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
sys.exit(done.returncode)
"""


def peak_bytes(*arguments, stdin=""):
    done = subprocess.run([sys.executable, "-c", PEAK, BINARY, *map(str, arguments)], input=stdin,
                          capture_output=True, text=True, timeout=TIMEOUT_S, env=environment())
    if done.returncode != 0:
        raise AssertionError(f"exit status {done.returncode}: {done.stderr}")
    return int(done.stdout)


class Memory(unittest.TestCase):
    def test_peak_is_the_file_the_kv_and_a_little(self):
        n_tokens = 600
        # f16: K and V of 30 layers with 3 heads of 64, and of 18 layers with one head of 256.
        for model, width in ((MODEL, 30 * 3 * 64), (GEMMA, 18 * 256)):
            kv_bytes = n_tokens * 2 * width * 2
            with InFile(golden(model)["texts"]["russian"]["ids"][:n_tokens - 8]) as name:
                peak = peak_bytes("run", model, "--raw", "--ids", "@" + name, "-n", 8,
                                  "--ignore-eos")
            limit = 1.15 * os.path.getsize(model) + kv_bytes + 64 * MIB
            print(f"peak {peak / MIB:.0f} MiB of {limit / MIB:.0f}", flush=True)
            with self.subTest(model=model):
                self.assertLessEqual(peak, limit)

    def test_twenty_times_what_the_cache_holds_takes_no_more_than_its_budget(self):
        budget = 16 * MIB
        token_bytes = 30 * 3 * 64 * 2 * 2
        words = (GOLDEN / "smollm2/prose.txt").read_text().split()
        n_words = 220  # of a message: a token each at least
        n_messages = 20 * budget // token_bytes // n_words + 1
        starts = [67 * i % (len(words) - n_words) for i in range(n_messages)]
        messages = [" ".join([f"{i}:", *words[at:at + n_words]]) for i, at in enumerate(starts)]
        chat = ["chat", MODEL, "-n", 2, "--cache-ram", budget, "--calibrate", "off"]
        alone = peak_bytes(*chat, stdin="Hi\n")
        many = peak_bytes(*chat, stdin="\n/clear\n".join(messages) + "\n")
        print(f"peak {alone / MIB:.0f} MiB for a word, {many / MIB:.0f} MiB for {n_messages} "
              f"conversations of {n_words} words, budget {budget / MIB:.0f} MiB", flush=True)
        self.assertLessEqual(many - alone, budget + 64 * MIB)

    def test_threads_that_cannot_be_started_are_an_error_with_a_remedy(self):
        # Each of 1024 threads reserves a stack; the address space has no room for them.
        limited = lambda: resource.setrlimit(resource.RLIMIT_AS, (1_300_000_000, 1_300_000_000))
        done = subprocess.run([BINARY, "run", MODEL, "Hi", "-n", "1", "--threads", "1024"],
                              capture_output=True, text=True, timeout=TIMEOUT_S,
                              env=environment(), preexec_fn=limited, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("--threads", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


class Time(unittest.TestCase):
    def test_the_first_token_comes_soon_after_loading(self):
        runs = [run_ids(answers()["prompts"][0]["ids"], "-n", 1)["timings"] for _ in range(3)]
        best = min(t["load_ms"] + t["prompt_ms"] for t in runs)
        # Wall time on a shared machine: printed, and bound only where it would be a blunder.
        print(f"load to first token {best:.0f} ms", flush=True)
        self.assertLess(best, 5_000)


class Endings(unittest.TestCase):
    def test_a_closed_pipe_ends_it_without_a_crash(self):
        with InFile(IDS[:16]) as name:
            process = subprocess.Popen(
                [BINARY, "run", MODEL, "--raw", "--ids", "@" + name, "-n", "2000", "--ignore-eos",
                 "--ctx", "2048"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env=environment())
            process.stdout.read(1)
            process.stdout.close()
            errors = process.stderr.read().decode()
            status = process.wait(timeout=TIMEOUT_S)
            process.stderr.close()
        self.assertNotIn("terminate", errors)
        self.assertIn(status, (0, 1, 141, -signal.SIGPIPE), errors)

    def test_an_interrupt_stops_the_answer_with_130(self):
        with InFile(IDS[:16]) as name, tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(
                [BINARY, "run", MODEL, "--raw", "--ids", "@" + name, "-n", "2000", "--ignore-eos",
                 "--ctx", "2048"], stdout=subprocess.PIPE, stderr=errors, env=environment())
            process.stdout.read(1)
            process.send_signal(signal.SIGINT)
            process.stdout.read()
            status = process.wait(timeout=TIMEOUT_S)
            process.stdout.close()
        self.assertEqual(status, 130)

    def test_the_context_ends_an_answer_with_length(self):
        with InFile(IDS[:60]) as name:
            got = kvik_json("run", MODEL, "--raw", "--ids", "@" + name, "--ignore-eos", "--ctx", 64)
        self.assertEqual(got["finish_reason"], "length")
        self.assertLessEqual(60 + len(got["ids"]), 65)

    def test_an_answer_that_the_context_cut_says_so(self):
        done = call("run", MODEL, "--raw", "Once upon", "--ignore-eos", "--ctx", 16)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, "^kvik: the context is full, 1[67] of 16 tokens: raise --ctx$")


if __name__ == "__main__":
    unittest.main(verbosity=2)
