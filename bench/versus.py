#!/usr/bin/env python3
"""kvik and another engine by turns on the same model, in one run, so that both meet the same machine.

    bench/versus.py --peer PEER [--test prefill,decode,depth,rows] [--rounds 5] [--record]

Each round runs one engine and then the other (A B, B A, A B, ...); a ratio is taken within a round, so
that a slow minute of the machine slows both sides of it. PEER is one of:

    .../llama-bench     measured by its own report
    .../llama-server    started on a free port of this machine, measured by the timings of its answers
    xllamacpp           the wheel, in a process of --python, measured the same way
    .../kvik            another build of kvik, or the same with other flags (--peer-flags)
    http://HOST:PORT    any server with /v1/completions: time to the first token and between tokens,
                        by the clock on this side, HTTP included; kvik is then measured on the same
                        text by `kvik run`, in a fresh process and without HTTP, unless --kvik is a
                        URL too. The rest measures warm: `kvik bench` against the peer's own numbers.

Tests: prefill of --prefill tokens; decode of --decode tokens; depth: the same after --depth tokens;
rows: one step with 2, 4, 5, 8 and 16 tokens (llama-bench and kvik only; llama-bench computes the logits
of the last one, kvik of all). --record appends the medians to bench/history/versus.csv.
Standard library only, but for --plot.
"""
import argparse
import csv
import datetime
import importlib.util
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import textwrap

import peers
from peers import Test

ROOT = pathlib.Path(__file__).resolve().parent.parent
HISTORY = ROOT / "bench/history/versus.csv"
FIELDS = ["date", "commit", "machine", "isa", "model", "threads", "test", "n", "rounds",
          "kvik_p50", "peer_p50", "unit", "ratio_p50", "ratio_min", "ratio_max", "depth", "kv",
          "peer", "percent", "of"]
ROWS = (2, 4, 5, 8, 16)


def options(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", required=True, help="see above")
    parser.add_argument("--peer-flags", default="", help="more flags for the peer's program, in one word")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has xllamacpp")
    parser.add_argument("--kvik", default=str(ROOT / "build/release/kvik"), help="the program, or a URL")
    parser.add_argument("--model", default=str(ROOT / ".models/smollm2-135m-q4_1.gguf"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--isa", help="kvik's --isa")
    parser.add_argument("--kv", help="kvik's --kv; peers keep f16")
    parser.add_argument("--test", default="prefill,decode")
    parser.add_argument("--prefill", type=int, default=512)
    parser.add_argument("--decode", type=int, default=128)
    parser.add_argument("--depth", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--csv", help="write the rounds here")
    parser.add_argument("--plot", metavar="FILE.png", help="draw the ratios and their spread")
    parser.add_argument("--record", action="store_true", help=f"append to {HISTORY.name}")
    return parser.parse_args(arguments)


def tests_of(o):
    """The tests that are asked for, in their order."""
    tests = []
    for word in o.test.split(","):
        if word == "prefill":
            tests.append(Test("pp", o.prefill, 0))
        elif word == "decode":
            tests.append(Test("tg", o.decode, 0))
        elif word == "depth":
            tests.append(Test("tg", o.decode, o.depth))
        elif word == "rows":
            tests += [Test("rows", m, 0) for m in ROWS]
        else:
            sys.exit(f"--test {word} is none of prefill, decode, depth, rows")
    return tests


def name_of(test):
    words = {"pp": f"prefill {test.n}", "tg": f"decode {test.n}", "rows": f"{test.n} rows"}
    return words[test.kind] + (f" at {test.depth}" if test.depth else "")


def machine():
    text = pathlib.Path("/proc/cpuinfo").read_text()
    name = re.search(r"^model name\s*:\s*(.*)$", text, re.M)
    return f"{name.group(1) if name else platform.machine()}, {os.cpu_count()} CPUs"


def commit():
    done = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"],
                          capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def median(values):
    return statistics.median(values)


def run_rounds(ours, theirs, tests, n_rounds):
    """[(kvik's, the peer's)], a dictionary test -> Speed each."""
    rounds = []
    for number in range(n_rounds):
        order = (ours, theirs) if number % 2 == 0 else (theirs, ours)
        speeds = {side: side.measure(tests, number) for side in order}
        rounds.append((speeds[ours], speeds[theirs]))
        print(f"round {number + 1}: " + "  ".join(
            f"{name_of(t)} {speeds[ours][t].tokens_per_s:.1f} / {speeds[theirs][t].tokens_per_s:.1f}"
            f" = {speeds[ours][t].tokens_per_s / speeds[theirs][t].tokens_per_s:.2f}"
            for t in tests), flush=True)
    return rounds


def summary(tests, rounds, shared):
    """A row of FIELDS for each test."""
    for test in tests:
        ours = [kvik[test].tokens_per_s for kvik, _ in rounds]
        theirs = [peer[test].tokens_per_s for _, peer in rounds]
        ratios = [a / b for a, b in zip(ours, theirs)]
        percents = [kvik[test].percent for kvik, _ in rounds if kvik[test].percent is not None]
        yield {**shared, "rounds": len(rounds), "unit": "tokens/s",
               "test": test.kind, "n": test.n, "depth": test.depth,
               "kvik_p50": f"{median(ours):.1f}", "peer_p50": f"{median(theirs):.1f}",
               "ratio_p50": f"{median(ratios):.2f}", "ratio_min": f"{min(ratios):.2f}",
               "ratio_max": f"{max(ratios):.2f}",
               "percent": f"{median(percents):.0f}" if percents else "",
               "of": rounds[-1][0][test].of}


def table(tests, rows):
    lines = [f"{'':22}{'kvik':>9}{'peer':>9}{'ratio':>8}   {'spread':16}percent of"]
    for test, row in zip(tests, rows):
        spread = f"{row['ratio_min']} .. {row['ratio_max']}"
        share = f"{row['percent']} {row['of']}" if row["percent"] else "-"
        lines.append(f"{name_of(test):22}{row['kvik_p50']:>9}{row['peer_p50']:>9}"
                     f"{row['ratio_p50']:>8}   {spread:16}{share}")
    return "\n".join(lines)


def write_rounds(path, tests, rounds):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["round", "test", "n", "depth", "kvik", "peer"])
        for number, (ours, theirs) in enumerate(rounds, 1):
            writer.writerows([number, t.kind, t.n, t.depth, ours[t].tokens_per_s,
                              theirs[t].tokens_per_s] for t in tests)


def append_history(path, rows):
    """Appends; a file of fewer columns gets the new ones first, with what its rows meant by them."""
    path = pathlib.Path(path)
    old = []
    if path.exists():
        with open(path, newline="") as file:
            reader = csv.DictReader(file)
            columns, old = reader.fieldnames, list(reader)
        if columns == FIELDS:
            old = None  # nothing to rewrite
    if old is not None:
        with open(path, "w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS, restval="")
            writer.writeheader()
            writer.writerows({"depth": 0, "kv": "f16", "peer": "llama-bench", **row} for row in old)
    with open(path, "a", newline="") as file:
        csv.DictWriter(file, FIELDS).writerows(rows)


def plot(path, title, tests, rows):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(7, 1.2 + 0.45 * len(tests)), layout="constrained")
    ratios = [float(row["ratio_p50"]) for row in rows]
    below = [float(row["ratio_p50"]) - float(row["ratio_min"]) for row in rows]
    above = [float(row["ratio_max"]) - float(row["ratio_p50"]) for row in rows]
    axes.barh([name_of(t) for t in tests], ratios, xerr=[below, above], capsize=3)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.invert_yaxis()
    axes.set_xlabel("tokens/s of kvik over those of the peer: median, least and most of the rounds")
    figure.suptitle(textwrap.fill(title, 95), fontsize=9)
    figure.savefig(path, dpi=150)


def main():
    o = options()
    tests = tests_of(o)
    if o.plot and importlib.util.find_spec("matplotlib") is None:
        sys.exit("--plot needs matplotlib: python3 -m pip install matplotlib")
    with peers.sides(o) as (ours, theirs):
        missing = [name_of(t) for t in tests if not (ours.has(t) and theirs.has(t))]
        if missing:
            sys.exit(f"{theirs.name} has no test of {', '.join(missing)}")
        rounds = run_rounds(ours, theirs, tests, o.rounds)
        shared = {"date": datetime.date.today().isoformat(), "commit": commit(),
                  "machine": machine(), "isa": ours.isa(), "kv": o.kv or "f16",
                  "peer": theirs.name, "model": pathlib.Path(o.model).name, "threads": o.threads}
    rows = list(summary(tests, rounds, shared))
    title = (f"{shared['machine']}, {o.threads} threads, {shared['model']}, {shared['isa']}, "
             f"{shared['kv']} KV, against {theirs.name}, tokens/s, medians of {o.rounds} rounds")
    print(f"\n{title}\n{table(tests, rows)}")
    if ours.note or theirs.note:
        print(f"{ours.note}{theirs.note}")
    if o.csv:
        write_rounds(o.csv, tests, rounds)
    if o.plot:
        plot(o.plot, title, tests, rows)
    if o.record:
        append_history(HISTORY, rows)


if __name__ == "__main__":
    main()
