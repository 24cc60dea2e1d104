"""tests/instructions/count.py tells a step that costs more from one that costs what it did."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/instructions"))
import count  # noqa: E402


class Differences(unittest.TestCase):
    def test_what_stays_within_the_tolerance_is_no_difference(self):
        self.assertEqual(list(count.differences({"a": 1000}, {"a": 1019})), [])
        self.assertEqual(list(count.differences({"a": 1000}, {"a": 981})), [])

    def test_more_instructions_and_fewer_are_both_told(self):
        self.assertIn("slower", *count.differences({"a": 1000}, {"a": 1021}))
        self.assertIn("faster", *count.differences({"a": 1000}, {"a": 979}))

    def test_a_step_on_one_side_only_is_told(self):
        self.assertIn("not measured", *count.differences({"a": 1}, {}))
        self.assertIn("none are expected", *count.differences({}, {"a": 1}))


class Files(unittest.TestCase):
    def test_reads_what_it_wrote(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "expected.csv")
            count.write(path, "GNU 12.2.0", {"Q4_0 decode": 5, "b": 7})
            self.assertEqual(count.read(path), ("GNU 12.2.0", {"Q4_0 decode": 5, "b": 7}))

    def test_takes_the_dumps_in_the_order_of_the_steps(self):
        with tempfile.TemporaryDirectory() as folder:
            for number, total in ((1, 30), (2, 4), (10, 1)):
                pathlib.Path(folder, f"counts.{number}").write_text(f"x: 1\ntotals: {total}\n")
            self.assertEqual(count.counts_of(folder, ["a", "b"]), {"a": 30, "b": 4})
            with self.assertRaises(SystemExit):
                count.counts_of(folder, ["a", "b", "c"])


class Program(unittest.TestCase):
    def run_it(self, *arguments, path=None):
        environment = {**os.environ, **({"PATH": path} if path else {})}
        return subprocess.run([sys.executable, ROOT / "tests/instructions/count.py", *arguments],
                              capture_output=True, text=True, env=environment)

    def test_without_valgrind_it_fails_and_says_what_to_run(self):
        compiler = count.read(count.EXPECTED)[0]
        done = self.run_it("/bin/true", "--compiler", compiler, path="/nowhere")
        self.assertEqual(done.returncode, 1)
        self.assertIn("scripts/setup", done.stderr)

    def test_another_compiler_fails_and_says_what_to_do(self):
        done = self.run_it("/bin/true", "--compiler", "Other 99.1")
        self.assertEqual(done.returncode, 1)
        self.assertIn(count.REWRITE, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
