"""Where settings come from: arguments, KVIK_* variables, the configuration file; and `kvik doctor`."""
import json
import pathlib
import tempfile
import time
import unittest

from program import MODEL, call, kvik, kvik_json


class WithHome(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = pathlib.Path(folder.name)
        self.env = {"HOME": folder.name, "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": "",
                    "XDG_CACHE_HOME": ""}

    def write(self, text, name=".config/kvik/config.toml"):
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)

    def used(self, *arguments, **variables):
        """What a prefill of one token ran with."""
        return kvik_json("run", MODEL, "--raw", "--ids", "5", "-n", 0, *arguments,
                         env={**self.env, **variables})["used"]

    def assert_refused(self, words, *arguments, status=2):
        done = call("run", MODEL, "--ids", "5", "-n", 0, *arguments, env=self.env)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)


class Settings(WithHome):
    def test_arguments_beat_variables_beat_the_file(self):
        self.write("ctx = 100\nseed = 7\n[run]\nctx = 110\n[chat]\nctx = 120\n")
        self.assertEqual(self.used()["context"], 110)
        self.assertEqual(self.used()["seed"], 7)
        self.assertEqual(self.used(KVIK_CTX="130")["context"], 130)
        self.assertEqual(self.used("--ctx", 140, KVIK_CTX="130")["context"], 140)

    def test_another_file_or_none_is_taken_when_asked_for(self):
        self.write("ctx = 100\n")
        other = self.write("ctx = 200\n", "other.toml")
        self.assertEqual(self.used("--config", other)["context"], 200)
        self.assertEqual(self.used(KVIK_CONFIG=other)["context"], 200)
        self.assertEqual(self.used("--no-config", KVIK_CONFIG=other)["context"], 8192)

    def test_an_unknown_key_names_file_line_and_the_nearest(self):
        name = self.write("\ntmep = 1\n")
        self.assert_refused([f"{name}:2", "tmep", "temp"])

    def test_a_value_of_the_wrong_kind_names_file_and_line(self):
        name = self.write("ctx = 100\nthreads = true\n")
        self.assert_refused([f"{name}:2", "threads"])
        self.write("threads = \"many\"\n")
        self.assert_refused([f"{name}:1", "threads", "many"])

    def test_what_is_no_toml_names_file_and_line(self):
        name = self.write("ctx = 100\nthreads : 2\n")
        self.assert_refused([f"{name}:2"])

    def test_a_file_that_cannot_be_read_is_3(self):
        self.assert_refused(["gone.toml", "--no-config"], "--config", "gone.toml", status=3)

    def test_a_broken_file_hides_no_help(self):
        self.write("tmep = 1\n")
        self.assertIn("--temp", kvik("run", "--help", env=self.env))

    def test_help_names_the_variable_of_each_flag_that_has_one(self):
        text = kvik("run", "--help")
        for name in ("KVIK_CTX", "KVIK_TEMP", "KVIK_TOP_K", "KVIK_SEED", "KVIK_N", "KVIK_CALIBRATE",
                     "KVIK_CONFIG"):
            self.assertIn(f"[{name}]", text)

    def test_a_home_that_cannot_be_written_or_is_not_there_is_no_matter(self):
        self.env["HOME"] = "/proc/self"
        self.assertEqual(self.used()["context"], 8192)
        self.env["HOME"] = ""
        self.assertEqual(self.used()["context"], 8192)


class StepCosts(WithHome):
    """Whatever is known of what steps cost: an answer has the same bits, and takes no harm."""

    def answer(self, calibrate):
        return kvik_json("run", MODEL, "--raw", "--ids", "504,3575,282,4649,314", "-n", 8, "--temp", 0,
                         "--logits-hash", "--calibrate", calibrate, env=self.env)["logits_sha256"]

    def test_bits_are_the_same_known_or_not(self):
        first = self.answer("off")
        self.assertEqual(self.answer("fresh"), first)
        self.assertEqual(self.answer("on"), first)

    def test_a_damaged_file_or_a_folder_that_cannot_be_written_is_no_matter(self):
        first = self.answer("fresh")
        (kept,) = (self.home / ".cache/kvik").iterdir()
        kept.write_bytes(b"\0" * 5000)
        self.assertEqual(self.answer("on"), first)
        self.env["XDG_CACHE_HOME"] = "/proc/self"
        self.assertEqual(self.answer("fresh"), first)

    def test_one_answer_does_not_measure(self):
        self.answer("on")
        self.assertFalse((self.home / ".cache").exists())


class Doctor(WithHome):
    def doctor(self, *arguments, **variables):
        done = call("doctor", *arguments, env={**self.env, **variables})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_tells_what_the_machine_has_and_what_follows(self):
        got = json.loads(self.doctor("--json"))
        self.assertGreaterEqual(got["cpu"]["cores"], 1)
        self.assertGreater(got["memory"]["bytes"], 0)
        for rate in got["measured"].values():
            self.assertGreater(rate["one"], 0)
            self.assertGreater(rate["all"], 0)
        self.assertIn(got["chosen"]["isa"], ("scalar", "avx2", "avx2-vnni", "avx512"))
        self.assertEqual(got["files"]["config"], f"{self.home}/.config/kvik/config.toml")
        self.assertFalse(got["files"]["config_found"])
        self.assertIsInstance(got["warnings"], list)

    def test_chooses_what_variables_and_the_file_say(self):
        self.write("threads = 1\ncache-ram = \"2G\"\n")
        got = json.loads(self.doctor("--json", KVIK_ISA="scalar"))
        self.assertEqual(got["chosen"]["isa"], "scalar")
        self.assertEqual(got["chosen"]["threads"], 1)
        self.assertEqual(got["chosen"]["cache_bytes"], 2 << 30)
        self.assertEqual(got["files"]["variables"], ["KVIK_ISA=scalar"])
        self.assertTrue(got["files"]["config_found"])

    def test_a_broken_configuration_is_a_warning(self):
        self.write("tmep = 1\n")
        got = json.loads(self.doctor("--json"))
        self.assertIn("tmep", got["warnings"][0]["finding"])
        self.assertIn("tmep", self.doctor())

    def test_a_variable_that_nothing_reads_is_a_warning(self):
        got = json.loads(self.doctor("--json", KVIK_THREAD="1", KVIK_CTX="64"))
        self.assertEqual(got["files"]["variables"], ["KVIK_CTX=64"])
        self.assertIn("KVIK_THREADS?", got["warnings"][0]["finding"])

    def test_shows_and_keeps_what_a_step_of_a_model_costs(self):
        got = json.loads(self.doctor(MODEL, "--json"))["steps"]
        self.assertEqual(got["rows"], [1, 2, 4, 8, 12, 16])
        self.assertEqual(got["depths"][:2], [0, 2048])
        for shallow, deep in zip(*got["ms"][:2]):
            self.assertTrue(0 < shallow <= deep)
        kept = list((self.home / ".cache/kvik").iterdir())
        self.assertEqual(len(kept), 1)
        self.assertTrue(kept[0].name.startswith("step-costs-"))
        self.assertIn("depth 2048", self.doctor(MODEL))
        self.assertEqual(list((self.home / ".cache/kvik").iterdir()), kept)

    def test_measures_no_step_when_that_is_off(self):
        self.assertIsNone(json.loads(self.doctor("--json"))["steps"])
        got = json.loads(self.doctor(MODEL, "--json", KVIK_CALIBRATE="off"))["steps"]
        self.assertIsNone(got["prompt_ms"])
        self.assertFalse((self.home / ".cache").exists())

    def test_is_done_soon(self):
        start = time.monotonic()
        self.doctor()
        print(f"doctor {time.monotonic() - start:.1f} s", flush=True)
        self.assertLess(time.monotonic() - start, 20)  # of a machine that may be busy


if __name__ == "__main__":
    unittest.main(verbosity=2)
