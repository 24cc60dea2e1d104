"""The README's examples run, and give what they say.

In a ```sh block each line that calls build/release/kvik is run from the root of the tree; a comment
at its end that begins with `->` is what its output must hold.
"""
import os
import pathlib
import re
import subprocess
import unittest

from program import BINARY, ROOT, TIMEOUT_S, environment


def examples(name):
    """(line of shell, expected text or nothing) of the kvik calls in a document."""
    for block in re.findall(r"^```sh\n(.*?)^```", (ROOT / name).read_text("utf-8"), re.M | re.S):
        for line in re.sub(r"\\\n\s*", "", block).splitlines():
            command, _, expected = line.partition("# ->")
            if "build/release/kvik" in command and not command.lstrip().startswith("#"):
                yield command.strip(), expected.strip()


class Examples(unittest.TestCase):
    def run_all(self, name):
        found = list(examples(name))
        for command, expected in found:
            with self.subTest(command=command):
                done = subprocess.run(
                    ["bash", "-c", "set -o pipefail\n" + command.replace("build/release/kvik",
                                                                          BINARY)],
                    cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT_S,
                    stdin=subprocess.DEVNULL, env=environment())
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(expected, done.stdout)
        return found

    def test_of_the_readme(self):
        self.assertGreaterEqual(len(self.run_all("README.md")), 5)

    def test_of_the_contract(self):
        self.assertGreaterEqual(len(self.run_all("docs/contracts.md")), 1)


class Names(unittest.TestCase):
    def test_every_path_that_a_document_names_is_there(self):
        documents = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *(ROOT / "docs").rglob("*.md")]
        for document in documents:
            for link in re.findall(r"\]\(([^)#:]+)\)", document.read_text("utf-8")):
                with self.subTest(document=document.name, link=link):
                    self.assertTrue((document.parent / link).exists())
            for name in re.findall(r"`((?:src|tests|tools|scripts|docs|bench)/[\w./-]+)`",
                                   document.read_text("utf-8")):
                with self.subTest(document=document.name, path=name):
                    self.assertTrue(os.path.exists(ROOT / pathlib.PurePosixPath(name)))


if __name__ == "__main__":
    unittest.main(verbosity=2)
