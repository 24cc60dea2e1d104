#!/usr/bin/env python3
"""Everything that a kernel's change may move, measured in one go and written to bench/history.

    bench/table.py MODELS PEER [--avx2-peer PEER] [--part NAME,...] [--rounds 5] [--dry]

MODELS is a folder of NAME.gguf (or links): smollm2-135m-q4_1, smollm2-135m-q4_0, gemma3-270m-q4_k_m, and
of a model of some 2 B parameters, for which no cache helps, wide-q4_0, wide-q4_1, wide-q8_0. One that is
missing is named and left out. PEER is a llama-bench program; --avx2-peer another, compiled for AVX2.

    engines   prefill and decode of each model beside PEER       -> versus.csv
    depth     decode at depth 4096 beside PEER; q8 KV over f16 at 4096 and 8000, by turns -> versus.csv
    avx2      prefill and decode on the AVX2 kernels beside the AVX2 peer -> versus.csv
    rows      a step with 1 to 16 rows over a step with one       -> bench.csv
    streams   8 sequences decoding together over one              -> bench.csv

A quarter of an hour. Leave the machine alone meanwhile. Standard library only.
"""
import argparse
import csv
import datetime
import json
import pathlib
import subprocess
import sys

import versus

FOLDER = pathlib.Path(__file__).resolve().parent
HISTORY = FOLDER / "history/bench.csv"
FIELDS = ["date", "commit", "machine", "isa", "model", "threads", "kv", "test", "n", "rows",
          "streams", "depth", "runs", "tokens_per_s", "ms", "x1", "x1_min", "x1_max", "percent", "of"]
SMALL = ("smollm2-135m-q4_1", "smollm2-135m-q4_0", "gemma3-270m-q4_k_m")
WIDE = ("wide-q4_1", "wide-q4_0")
WIDTHS = "1,2,4,5,8,16"


def plan(o):
    """part -> [(program, model, arguments)]"""
    prompt = {**{m: ["--prefill", "512", "--decode", "128"] for m in SMALL},
              **{m: ["--prefill", "256", "--decode", "32"] for m in WIDE}}
    peer, few = ["--peer", o.peer], ["--rounds", str(min(3, o.rounds))]
    depth = ["--test", "depth", "--decode", "32", *few]
    q8 = ["--peer", o.kvik, "--peer-flags", "--kv f16", "--kv", "q8"]
    avx2 = ["--peer", o.avx2_peer or o.peer, "--isa", "avx2"]
    first = SMALL[0]
    return {
        "engines": [("versus", m, [*peer, *prompt[m]]) for m in (*SMALL, *WIDE)],
        "depth": [("versus", first, [*peer, *depth, "--depth", "4096"]),
                  ("versus", first, [*q8, *depth, "--depth", "4096"]),
                  ("versus", first, [*q8, *depth, "--depth", "8000"])],
        "avx2": [("versus", m, [*avx2, *prompt[m]]) for m in (first, SMALL[2], "wide-q4_0")],
        "rows": [("bench", m, ["--test", "rows", "-b", WIDTHS])
                 for m in (first, *WIDE, "wide-q8_0")],
        "streams": [("bench", m, ["--test", "streams", "-b", "1,8"]) for m in (first, "wide-q4_0")],
    }


def run_versus(o, model, arguments):
    rounds = [] if "--rounds" in arguments else ["--rounds", str(o.rounds)]
    done = subprocess.run([sys.executable, FOLDER / "versus.py", "--kvik", o.kvik, "--model", model,
                           "--threads", str(o.threads), *rounds, *arguments,
                           *([] if o.dry else ["--record"])])
    return done.returncode == 0


def run_bench(o, model, arguments):
    command = [o.kvik, "bench", str(model), "--json", "-r", str(o.rounds), "--threads",
               str(o.threads), *arguments]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        return False
    rows = json.loads(done.stdout)
    for row in rows:
        print(f"{row['test']} {row['rows'] * row['streams']:3} {row['tokens_per_s']:9.1f} tokens/s "
              f"{row['ms']:10.3f} ms  x1 {row['x1']:.2f} ({row['x1_min']:.2f} .. {row['x1_max']:.2f})"
              f"  {row['percent']:.0f} % of {row['of']}")
    if not o.dry:
        record(o, model, rows)
    return True


def record(o, model, rows):
    isa = json.loads(subprocess.run([o.kvik, "run", str(model), "--raw", "--ids", "5", "-n", "1",
                                     "--json"], stdout=subprocess.PIPE, text=True,
                                    check=True).stdout)["used"]["isa"]
    shared = {"date": datetime.date.today().isoformat(), "commit": versus.commit(),
              "machine": versus.machine(), "isa": isa, "model": model.name, "threads": o.threads,
              "kv": "f16"}
    is_new = not HISTORY.exists()
    with open(HISTORY, "a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, extrasaction="ignore")
        if is_new:
            writer.writeheader()
        writer.writerows({**shared, **{key: round(value, 3) if isinstance(value, float) else value
                                       for key, value in row.items()}} for row in rows)


def options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=pathlib.Path)
    parser.add_argument("peer")
    parser.add_argument("--avx2-peer", help="default: PEER, with the best that it has")
    parser.add_argument("--part", default="engines,depth,avx2,rows,streams")
    parser.add_argument("--kvik", default=str(FOLDER.parent / "build/release/kvik"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--dry", action="store_true", help="write nothing to bench/history")
    return parser.parse_args()


def main():
    o = options()
    parts, failed = plan(o), []
    for name in o.part.split(","):
        if name not in parts:
            sys.exit(f"--part {name} is none of {', '.join(parts)}")
        for program, model_name, arguments in parts[name]:
            model = o.models / f"{model_name}.gguf"
            print(f"\n== {name}: {model_name}", flush=True)
            if not model.exists():
                print(f"left out: {model} is missing")
                continue
            run = run_versus if program == "versus" else run_bench
            if not run(o, model, arguments):
                failed.append(f"{name} of {model_name}")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
