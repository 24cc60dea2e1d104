"""The experiments of `kvik lab`, as a user runs them: short ones, with the real models."""
import csv
import pathlib
import re
import tempfile
import unittest

from program import GEMMA, MODEL, ROOT, call, kvik

TURNS = 3
PARTS = ["grow"] * TURNS + ["edit", "reset", "reset", "back"]


def read_csv(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.out = pathlib.Path(self.folder.name, "report")


class Multiturn(Folder):
    def run_on(self, model, *arguments):
        kvik("lab", "multiturn", model, "--turns", TURNS, "--answer", 12, "--rounds", 1,
             "--out", self.out, "--python", "/nowhere/python3", *arguments)
        return read_csv(self.out / "multiturn.csv")

    def by_way(self, rows):
        return ([row for row in rows if row["reuse"] == way] for way in ("on", "off"))

    def check(self, model):
        on, off = self.by_way(self.run_on(model))
        self.assertEqual([row["part"] for row in on], PARTS)
        self.assertEqual([row["part"] for row in off], PARTS)
        for one, other in zip(on, off):
            self.assertEqual(one["logits_sha256"], other["logits_sha256"])
            self.assertRegex(one["logits_sha256"], "^[0-9a-f]{64}$")
            self.assertEqual(one["prompt_tokens"], other["prompt_tokens"])
            self.assertEqual(other["reused_tokens"], "0")
            self.assertEqual(int(one["reused_tokens"]) + int(one["computed_tokens"]),
                             int(one["prompt_tokens"]))
            for column in ("first_ms", "total_ms", "at_depth_ms", "first_over_depth", "speed_up"):
                self.assertGreater(float(one[column]), 0, column)
        for before, after in zip(on[:TURNS], on[1:TURNS]):
            # All that was there but the answer's last token, which was never computed.
            self.assertEqual(int(after["reused_tokens"]), int(before["prompt_tokens"]) + 12 - 1)
        self.assertEqual(on[-1]["reused_tokens"], on[-1]["known_tokens"])
        return on

    def test_a_turn_computes_its_own_tokens_and_an_edit_starts_where_it_differs(self):
        on = self.check(MODEL)
        for row in on:
            self.assertEqual(row["reused_tokens"], row["known_tokens"], row)
        edit = on[TURNS]
        self.assertLess(int(edit["computed_tokens"]), 80)

    def test_so_it_does_where_most_layers_have_a_window(self):
        self.check(GEMMA)

    def test_the_page_needs_nothing_else_and_shows_every_turn(self):
        self.run_on(MODEL, "--reuse", "on")
        page = (self.out / "report.html").read_text("utf-8")
        self.assertIn("<svg", page)
        self.assertIn("prefers-color-scheme: dark", page)
        self.assertEqual(re.findall(r"(?:src|href)=\"(?!data:)", page), [])
        self.assertEqual(len(re.findall(r"<td>grow</td>", page)), TURNS)

    def test_without_an_interpreter_that_has_matplotlib_it_says_what_to_do(self):
        done = call("lab", "multiturn", MODEL, "--turns", 2, "--answer", 1, "--rounds", 1,
                    "--reuse", "on", "--out", self.out, "--python", "/nowhere/python3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("/nowhere/python3", done.stderr)
        self.assertTrue((self.out / "report.html").exists())


class Plots(Folder):
    PYTHON = ROOT / ".venv/bin/python3"

    def test_every_chart_is_a_file_and_stands_in_the_page_for_light_and_dark(self):
        self.assertTrue(self.PYTHON.exists(), "scripts/venv installs it")
        done = call("lab", "eviction", "--cache-tokens", "8192,16384", "--out", self.out,
                    "--python", self.PYTHON)
        self.assertEqual(done.returncode, 0, done.stderr)
        pictures = sorted(path.name for path in self.out.glob("*.png"))
        self.assertEqual(pictures, sorted(f"eviction-{trace}-{what}.png"
                                          for trace in ("chat", "agents", "retrieval")
                                          for what in ("hits", "recompute")))
        for name in pictures:
            self.assertEqual((self.out / name).read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
        page = (self.out / "report.html").read_text("utf-8")
        self.assertNotIn("<svg", page)
        self.assertEqual(page.count("<picture>"), len(pictures))
        self.assertEqual(page.count('srcset="data:image/png;base64,'), len(pictures))
        self.assertEqual(page.count("prefers-color-scheme: dark)"), len(pictures) + 1)


class Eviction(Folder):
    def test_every_policy_is_played_on_every_trace(self):
        text = kvik("lab", "eviction", "--cache-tokens", "8192,65536", "--out", self.out,
                    "--python", "/nowhere/python3")
        for word in ("lru", "fifo", "lfu", "cost", "chat", "agents", "retrieval"):
            self.assertIn(word, text)
        rows = read_csv(self.out / "eviction.csv")
        self.assertEqual(len(rows), 3 * 4 * 2)
        for row in rows:
            self.assertLessEqual(float(row["hit_percent"]), float(row["most_percent"]), row)

    def test_the_same_seed_gives_the_same_table(self):
        again = ("lab", "eviction", "--cache-tokens", 16384, "--seed", 5)
        self.assertEqual(kvik(*again), kvik(*again))


class Names(unittest.TestCase):
    def test_alone_it_lists_the_experiments(self):
        for arguments in (("lab",), ("lab", "--help"), ("help", "lab")):
            text = kvik(*arguments)
            self.assertIn("multiturn", text)
            self.assertIn("eviction", text)

    def test_each_has_a_help_of_its_own(self):
        self.assertIn("--turns", kvik("lab", "multiturn", "--help"))
        self.assertIn("--seed", kvik("lab", "eviction", "--help"))

    def test_one_that_does_not_exist_is_misuse_and_the_nearest_is_named(self):
        done = call("lab", "multitrun")
        self.assertEqual(done.returncode, 2)
        self.assertIn("multiturn", done.stderr)

    def test_more_turns_than_the_script_has_are_misuse(self):
        self.assertEqual(call("lab", "multiturn", MODEL, "--turns", 11).returncode, 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
