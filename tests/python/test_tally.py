"""tools/tally.py counts tests, not programs."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import tally  # noqa: E402


def block(output, verdict):
    return (f"1/2 Testing: x\n1/2 Test: x\nCommand: x\nOutput:\n----------\n{output}<end of output>\n"
            f"Test time = 0.1 sec\n----------\nTest {verdict}.\n")


class Count(unittest.TestCase):
    def test_counts_each_test_of_a_googletest_program(self):
        output = ("[ RUN      ] A.b\n[       OK ] A.b (0 ms)\n[ RUN      ] A.c\n"
                  "[  FAILED  ] A.c (3 ms)\n[  PASSED  ] 1 test.\n[  FAILED  ] 1 test, listed below:\n"
                  "[  FAILED  ] A.c\n")
        self.assertEqual(tally.count(block(output, "Failed")), (1, 1))

    def test_counts_each_test_of_a_unittest_program(self):
        output = ("test_a (m.C.test_a) ... ok\ntest_b (m.C.test_b) ... FAIL\n"
                  "test_c (m.C.test_c) ... printed\nERROR\nFAILED (failures=1, errors=1)\n")
        self.assertEqual(tally.count(block(output, "Failed")), (1, 2))

    def test_a_program_that_dies_without_a_word_has_failed_once(self):
        self.assertEqual(tally.count(block("[ RUN      ] A.b\n", "Failed")), (0, 1))

    def test_a_program_that_names_no_test_counts_as_one(self):
        self.assertEqual(tally.count(block("tidy\n", "Passed")), (1, 0))

    def test_adds_up_all_programs(self):
        self.assertEqual(tally.count(block("", "Passed") + block("", "Failed")), (1, 1))


class Program(unittest.TestCase):
    def test_a_folder_without_a_run_is_a_failure(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, ROOT / "tools/tally.py", "--plain", folder],
                                  capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (1, "0 0\n"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
