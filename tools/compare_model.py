#!/usr/bin/env python3
"""Logits of a Hugging Face directory: kvik beside Transformers.

    tools/compare_model.py DIRECTORY [--kvik PROGRAM] [--ids 1,2,3]

Needs torch and transformers (tests/oracles/requirements.txt). Prints the largest difference of a logit
and at how many positions the most likely token is another. Exit status 1: they differ by more than
rounding explains.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Both add up some thousand f32 terms per layer in orders of their own.
TOLERANCE = 2e-3


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory")
    parser.add_argument("--kvik", default=str(ROOT / "build/release/kvik"))
    parser.add_argument("--ids", help="token ids; 32 spread over the vocabulary if left out")
    arguments = parser.parse_args()

    import torch
    import transformers
    model = transformers.AutoModelForCausalLM.from_pretrained(
        arguments.directory, dtype=torch.float32, attn_implementation="eager").eval()
    vocab = model.config.vocab_size
    ids = ([int(i) for i in arguments.ids.split(",")] if arguments.ids
           else [(i * 7919 + 3) % vocab for i in range(32)])
    with torch.no_grad():
        theirs = model(torch.tensor([ids])).logits[0].numpy()
    with tempfile.TemporaryDirectory() as folder:
        dump = f"{folder}/logits.npy"
        subprocess.run([arguments.kvik, "score", arguments.directory, "--ids", ",".join(map(str, ids)),
                        "--dump-logits", dump, "--kv", "f32", "--act", "f32"],
                       check=True, stdout=subprocess.DEVNULL)
        ours = np.load(dump)
    worst = float(np.abs(ours - theirs).max())
    others = int((ours.argmax(1) != theirs.argmax(1)).sum())
    print(f"{len(ids)} positions, {vocab} logits each: largest difference {worst:.6f} "
          f"(of {np.abs(theirs).max():.3f}), another most likely token at {others} of them")
    return 0 if worst <= TOLERANCE * max(1.0, float(np.abs(theirs).max())) else 1


if __name__ == "__main__":
    sys.exit(main())
