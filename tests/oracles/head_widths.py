#!/usr/bin/env python3
"""Logits of models whose heads are no multiple of 16 wide, as transformers computes them.

    python tests/oracles/head_widths.py [--write]

Needs torch and transformers 5.24.0. Records tests/golden/head_widths.json, or compares with it. The models
are those of tests/e2e/tiny_model.py; tests/e2e/test_head_widths.py holds kvik to the record.
"""
import json
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/e2e"))
RECORD = ROOT / "tests/golden/head_widths.json"
WIDTHS = (8, 10, 20, 24, 40, 80, 100)
IDS = [(i * 7 + 3) % 32 for i in range(20)]


def computed():
    import tiny_model
    import torch
    import transformers
    rows = {}
    for kind in tiny_model.TYPES:
        for width in WIDTHS:
            with tempfile.TemporaryDirectory() as directory:
                tiny_model.write(directory, kind, width)
                model = transformers.AutoModelForCausalLM.from_pretrained(
                    directory, dtype=torch.float32, attn_implementation="eager").eval()
                with torch.no_grad():
                    logits = model(torch.tensor([IDS])).logits[0]
            rows[f"{kind} {width}"] = [[round(float(x), 5) for x in logits[row]] for row in (5, -1)]
    return {"made_by": f"transformers {transformers.__version__}, tests/oracles/head_widths.py",
            "ids": IDS, "rows": [5, len(IDS) - 1], "logits": rows}


def main():
    now = computed()
    if "--write" in sys.argv[1:]:
        RECORD.write_text(json.dumps(now, separators=(",", ":")) + "\n")
        return 0
    was = json.loads(RECORD.read_text())
    worst = max(abs(a - b) for key, rows in now["logits"].items()
                for new, old in zip(rows, was["logits"][key]) for a, b in zip(new, old))
    print(f"{len(now['logits'])} models, largest difference of a logit {worst:.6f}")
    return 0 if worst < 1e-3 and now["logits"].keys() == was["logits"].keys() else 1


if __name__ == "__main__":
    sys.exit(main())
