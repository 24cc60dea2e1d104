"""bench/table.py measures what it finds, names what it does not, and keeps what it measured."""
import contextlib
import csv
import io
import json
import pathlib
import stat
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import table  # noqa: E402

ROW = {"test": "rows", "n": 5, "rows": 5, "streams": 1, "depth": 0, "tokens_per_s": 70.12345,
       "ms": 2.5, "ms_min": 2, "ms_max": 3, "runs": 5, "percent": 60.4, "of": "read", "x1": 1.25,
       "x1_min": 1.2, "x1_max": 1.3}
FAKE_KVIK = f"""#!/usr/bin/env python3
import sys
print({json.dumps([ROW])!r} if sys.argv[1] == "bench" else '{{"used": {{"isa": "avx2"}}}}')
"""


class Table(unittest.TestCase):
    def run_it(self, *arguments):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            kvik = folder / "kvik"
            kvik.write_text(FAKE_KVIK)
            kvik.chmod(kvik.stat().st_mode | stat.S_IXUSR)
            (folder / "wide-q4_0.gguf").touch()
            out = io.StringIO()
            history = folder / "bench.csv"
            with mock.patch.object(sys, "argv", ["table.py", name, "peer", "--kvik", str(kvik),
                                                 *arguments]), \
                    mock.patch.object(table, "HISTORY", history), contextlib.redirect_stdout(out):
                table.main()
            rows = list(csv.DictReader(history.open(newline=""))) if history.exists() else []
            return out.getvalue(), rows

    def test_a_model_that_is_there_is_measured_and_kept(self):
        text, rows = self.run_it("--part", "rows")
        self.assertIn("x1 1.25 (1.20 .. 1.30)  60 % of read", text)
        self.assertEqual([row["model"] for row in rows], ["wide-q4_0.gguf"])
        self.assertEqual((rows[0]["tokens_per_s"], rows[0]["isa"], rows[0]["x1"]),
                         ("70.123", "avx2", "1.25"))

    def test_a_model_that_is_missing_is_named(self):
        text, _ = self.run_it("--part", "rows", "--dry")
        self.assertIn("wide-q8_0.gguf is missing", text)

    def test_a_dry_run_keeps_nothing(self):
        self.assertEqual(self.run_it("--part", "streams", "--dry")[1], [])

    def test_a_part_that_does_not_exist_is_refused(self):
        with self.assertRaisesRegex(SystemExit, "speed is none of"):
            self.run_it("--part", "speed")


if __name__ == "__main__":
    unittest.main(verbosity=2)
