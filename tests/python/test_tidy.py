"""Each law of tools/tidy.py, broken once in a made-up tree."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TIDY = ROOT / "tools/tidy.py"

CMAKE = """kvik_module(base)
kvik_module(cache DEPENDS base)
kvik_module(kernels DEPENDS base)
kvik_module(testing DEPENDS base cache)
kvik_module(model DEPENDS base cache LINK x::y TEST_LINK kvik_testing)
"""
ESSAY = "// What it is.\n#pragma once\n"
GOOD = {
    "CMakeLists.txt": CMAKE,
    "src/base/result.h": ESSAY + "enum class ErrorKind : int { failed = 1, usage = 2 };\n",
    "src/base/result.cpp": '#include "base/result.h"\n',
    "src/base/result_test.cpp": '#include "base/result.h"\n',
    "src/cache/kv_spec.h": ESSAY + '#include "base/result.h"\n',
    "src/cache/pool.h": ESSAY,
    "src/testing/rig.h": ESSAY + '#include "cache/pool.h"\n',
    "src/model/model.h": ESSAY + '#include "cache/kv_spec.h"\n',
    "src/model/model.cpp": '#include "model/model.h"\n#include <vector>\n',
    "src/model/model_test.cpp": '#include "model/model.h"\n#include "testing/rig.h"\n',
    "src/cli/main.cpp": '#include "model/model.h"\n',
    "src/kernels/isa/avx2.cpp": "#include <immintrin.h>\n#include <stdint.h>\n",
    "src/kernels/kernels_test.cpp": "",
    "tools/tool.py": "def f():\n    return 1\n",
    "tests/tests.cmake": "python3 tools/tool.py # tests.cmake is included by the list file\n",
    "Makefile": "include tests/tests.cmake\n",
    "docs/contracts.md": "see contracts.md\n| 1 | `failed` |\n| 2 | `usage` |\n",
    "README.md": "docs/contracts.md\n",
}


def run(changes):
    """(exit status, findings) of the good tree with the changes; None takes a file away."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {**GOOD, **changes}.items():
            if text is not None:
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, "utf-8")
        done = subprocess.run([sys.executable, TIDY, folder], capture_output=True, text=True)
    return done.returncode, done.stderr.splitlines(), done.stdout


class Laws(unittest.TestCase):
    def assert_found(self, changes, *words):
        status, findings, _ = run(changes)
        self.assertEqual(status, 1, findings)
        self.assertEqual(len(findings), 1, findings)
        for word in words:
            self.assertIn(word, findings[0])

    def test_a_good_tree_has_no_finding(self):
        self.assertEqual(run({})[:2], (0, []))

    def test_an_include_against_the_arrows(self):
        self.assert_found({"src/kernels/k.cpp": '#include "cache/kv_spec.h"\n'},
                          "kernels may not include cache")

    def test_the_test_rig_is_for_tests_alone(self):
        self.assert_found({"src/model/rigged.cpp": '#include "testing/rig.h"\n'},
                          "model may not include testing")

    def test_a_header_behind_a_narrow_arrow(self):
        self.assert_found({"src/model/m.cpp": '#include "cache/pool.h"\n'},
                          "model may include only cache/kv_spec.h")

    def test_a_module_without_a_line_in_cmake(self):
        self.assert_found({"src/other/o_test.cpp": ""}, "no kvik_module(other")

    def test_a_circle_of_modules(self):
        self.assert_found({
            "CMakeLists.txt": CMAKE.replace("(base)", "(base DEPENDS cache)"),
            "src/base/b.cpp": '#include "cache/kv_spec.h"\n'}, "base -> cache -> base")

    def test_an_include_of_nothing(self):
        self.assert_found({"src/base/b.cpp": '#include "base/gone.h"\n'}, '"base/gone.h" is no file')

    def test_a_dead_header(self):
        self.assert_found({"src/base/dead.h": ESSAY,
                           "src/base/dead.cpp": '#include "base/dead.h"\n',
                           "src/base/dead_test.cpp": '#include "base/dead.h"\n'},
                          "src/base/dead.h: nobody")

    def test_a_dead_file(self):
        self.assert_found({"scripts/forgotten": "echo\n"}, "scripts/forgotten: no other file")

    def test_a_character_outside_ascii(self):
        self.assert_found({"src/base/b.cpp": "\n// caf\u00e9\n"}, "src/base/b.cpp:2: not ASCII")

    def test_support_of_tests_in_the_program(self):
        self.assert_found({"tests/support/rig.h": ESSAY,
                           "src/base/result.cpp": '#include "support/rig.h"\n'},
                          "src/base/result.cpp: includes support/rig.h, which is for tests alone")

    def test_a_header_without_an_essay(self):
        self.assert_found({"src/cache/pool.h": "#pragma once\n"}, "does not open with an essay")

    def test_an_essay_that_is_too_long(self):
        self.assert_found({"src/cache/pool.h": "// x\n" * 31 + "#pragma once\n"}, "31 lines")

    def test_a_header_without_pragma_once(self):
        self.assert_found({"src/cache/pool.h": "// x\n"}, "#pragma once")

    def test_a_module_without_a_test(self):
        self.assert_found({"src/base/result_test.cpp": None}, "src/base: has no *_test.cpp")

    def test_a_library_header_in_an_instruction_set_file(self):
        self.assert_found({"src/kernels/isa/avx2.cpp": "#include <vector>\n"}, "sees <vector>")

    def test_a_library_header_that_comes_through_another_header(self):
        self.assert_found({"src/kernels/isa/avx2.cpp": '#include "kernels/body.inl"\n',
                           "src/kernels/body.inl": "// x\n#include <algorithm>\n"},
                          "sees <algorithm> through src/kernels/body.inl")

    def test_a_mark_of_unfinished_work(self):
        self.assert_found({"src/base/b.cpp": "// TO" + "DO later\n"}, "b.cpp:1: unfinished")

    def test_a_skipped_test(self):
        self.assert_found({"src/base/b_test.cpp": "GTEST_" + "SKIP();\n"}, "b_test.cpp:1: unfinished")

    def test_an_exit_code_that_the_contract_does_not_name(self):
        self.assert_found({"docs/contracts.md": "contracts.md\n| 1 | `failed` |\n"}, "| 2 | `usage` |")


class Report(unittest.TestCase):
    def test_lists_the_longest_files_and_functions(self):
        _, _, output = run({"src/base/long.cpp": "int longest(int x) {\n" + "    x;\n" * 40 + "}\n"})
        self.assertIn("42 longest (src/base/long.cpp)", output)
        self.assertIn("42 src/base/long.cpp", output)


if __name__ == "__main__":
    unittest.main(verbosity=2)
