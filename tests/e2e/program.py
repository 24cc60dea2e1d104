"""What the end-to-end tests share: how the program is called, where the model and the answers lie.

KVIK_BINARY names the program, as CTest does; by hand: KVIK_BINARY=build/release/kvik test_bits.py.
"""
import json
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BINARY = os.environ.get("KVIK_BINARY", str(ROOT / "build/release/kvik"))
MODEL = str(ROOT / ".models/smollm2-135m-q4_1.gguf")
GEMMA = str(ROOT / ".models/gemma3-270m-q4_k_m.gguf")
GOLDEN = ROOT / "tests/golden"
TIMEOUT_S = 600


def golden(model=MODEL, name="answers.json"):
    folder = "gemma3" if model == GEMMA else "smollm2"
    return json.loads((GOLDEN / folder / name).read_text())


def answers():
    return golden()


def call(*arguments, stdin="", env=None):
    """The finished process, whatever its exit status."""
    return subprocess.run([BINARY, *map(str, arguments)], input=stdin, capture_output=True,
                          encoding="utf-8", timeout=TIMEOUT_S, env=environment(env))


def environment(more=None):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("KVIK_")}
    # No configuration file of whoever runs the tests, and no network.
    return {**clean, "NO_COLOR": "1", "XDG_CONFIG_HOME": "/nowhere", "HF_HUB_OFFLINE": "1", **(more or {})}


def kvik(*arguments, stdin="", env=None):
    """The standard output of a run that must succeed."""
    done = call(*arguments, stdin=stdin, env=env)
    if done.returncode != 0:
        words = " ".join(map(str, arguments))[:200]
        raise AssertionError(f"kvik {words}\nexit status {done.returncode}: {done.stderr[-800:]}")
    return done.stdout


def kvik_json(*arguments, **how):
    return json.loads(kvik(*arguments, "--json", **how))


class InFile:
    """A JSON value in a file, for as long as the block runs: `with InFile(ids) as name:`"""

    def __init__(self, value):
        self.value = value

    def __enter__(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as file:
            json.dump(self.value, file)
        self.name = file.name
        return file.name

    def __exit__(self, *_):
        os.unlink(self.name)


def run_ids(ids, *arguments, env=None, model=MODEL):
    """`run --json` on ids: no template, end tokens sampled like any other."""
    with InFile(ids) as name:
        return kvik_json("run", model, "--raw", "--ids", "@" + name, "--ignore-eos", *arguments,
                         env=env)


def score_ids(ids, *arguments, env=None, model=MODEL):
    with InFile(ids) as name:
        return kvik_json("score", model, "--ids", "@" + name, *arguments, env=env)


def isas():
    """What KVIK_ISA may be on this machine."""
    flags = pathlib.Path("/proc/cpuinfo").read_text()
    out = ["scalar"]
    if " avx2" in flags and " fma" in flags:
        out.append("avx2")
        if " avx_vnni" in flags:
            out.append("avx2-vnni")
    if " avx512_vnni" in flags:
        out.append("avx512")
    return out
