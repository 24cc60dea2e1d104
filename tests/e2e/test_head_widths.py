"""Heads that are no multiple of 16 wide: the logits that transformers computes, on every instruction set."""
import array
import json
import pathlib
import tempfile
import unittest

import tiny_model
from program import GOLDEN, isas, kvik

RECORD = json.loads((GOLDEN / "head_widths.json").read_text())


class HeadWidths(unittest.TestCase):
    def logits(self, directory, env=None):
        dump = f"{directory}/l.npy"
        kvik("score", directory, "--ids", ",".join(map(str, RECORD["ids"])), "--dump-logits", dump,
             "--kv", "f32", "--act", "f32", env=env)
        data = pathlib.Path(dump).read_bytes()
        values = array.array("f", data[-4 * tiny_model.VOCAB * len(RECORD["ids"]):])
        return [values[row * tiny_model.VOCAB:(row + 1) * tiny_model.VOCAB] for row in range(len(RECORD["ids"]))]

    def test_logits_are_those_of_transformers(self):
        self.assertEqual(len(RECORD["logits"]), 28)
        for name, want in RECORD["logits"].items():
            kind, width = name.split()
            with self.subTest(name), tempfile.TemporaryDirectory() as directory:
                tiny_model.write(directory, kind, int(width))
                got = self.logits(directory)
                # Both add up some 100 terms of 32 bits in orders of their own, layer after layer.
                worst = max(abs(a - b) for row, old in zip(RECORD["rows"], want) for a, b in zip(got[row], old))
                self.assertLess(worst, 1e-3)
                for isa in isas():
                    self.assertEqual(self.logits(directory, env={"KVIK_ISA": isa}), got)


if __name__ == "__main__":
    unittest.main()
