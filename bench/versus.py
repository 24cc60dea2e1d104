#!/usr/bin/env python3
"""kvik and llama.cpp by turns on the same model, in one run, so that both meet the same machine.

    bench/versus.py --peer PATH/TO/llama-bench [--rounds 5] [--csv FILE] [--record]

Each round runs one engine and then the other (A B, B A, A B, ...); a ratio is taken within a round, so
that a slow minute of the machine slows both sides of it. --record appends the medians to
bench/history/versus.csv. Standard library only.
"""
import argparse
import csv
import datetime
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HISTORY = ROOT / "bench/history/versus.csv"
FIELDS = ["date", "commit", "machine", "isa", "model", "threads", "test", "n", "rounds",
          "kvik_p50", "peer_p50", "unit", "ratio_p50", "ratio_min", "ratio_max"]


def options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", required=True, help="the llama-bench program")
    parser.add_argument("--kvik", default=str(ROOT / "build/release/kvik"))
    parser.add_argument("--model", default=str(ROOT / ".models/smollm2-135m-q4_1.gguf"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--prefill", type=int, default=512)
    parser.add_argument("--decode", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--csv", help="write the rounds here")
    parser.add_argument("--record", action="store_true", help=f"append to {HISTORY.name}")
    return parser.parse_args()


def make_links(folder):
    """A pip build of llama.cpp ships its library links as a list; they are made where missing."""
    listed = folder / "_symlinks.json"
    if listed.exists():
        for link, target in json.loads(listed.read_text()).items():
            if not os.path.lexists(folder / link):
                (folder / link).symlink_to(target)


def output_of(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800,
                          stdin=subprocess.DEVNULL)
    if done.returncode:
        sys.exit(f"{command[0]} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout)


def measure_kvik(o):
    rows = output_of([o.kvik, "bench", o.model, "-p", str(o.prefill), "-n", str(o.decode), "-b", "1",
                      "--threads", str(o.threads), "--json"])
    return {r["test"]: r["tokens_per_s"] for r in rows if r["test"] in ("pp", "tg")}


def measure_peer(o):
    rows = output_of([o.peer, "-m", o.model, "-p", str(o.prefill), "-n", str(o.decode),
                      "-t", str(o.threads), "-r", "2", "-o", "json"])
    return {"pp" if r["n_prompt"] else "tg": r["avg_ts"] for r in rows}


def machine():
    text = pathlib.Path("/proc/cpuinfo").read_text()
    name = re.search(r"^model name\s*:\s*(.*)$", text, re.M)
    return f"{name.group(1) if name else platform.machine()}, {os.cpu_count()} CPUs"


def isa_used(o):
    done = output_of([o.kvik, "run", o.model, "--raw", "--ids", "5", "-n", "1", "--json"])
    return done["used"]["isa"]


def commit():
    done = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"],
                          capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def summary(o, rounds):
    """A row of FIELDS for prefill and one for decode."""
    shared = {"date": datetime.date.today().isoformat(), "commit": commit(), "machine": machine(),
              "isa": isa_used(o), "model": pathlib.Path(o.model).name, "threads": o.threads,
              "rounds": len(rounds), "unit": "tokens/s"}
    for test, n in (("pp", o.prefill), ("tg", o.decode)):
        ratios = [ours[test] / theirs[test] for ours, theirs in rounds]
        yield {**shared, "test": test, "n": n,
               "kvik_p50": f"{statistics.median(r[0][test] for r in rounds):.1f}",
               "peer_p50": f"{statistics.median(r[1][test] for r in rounds):.1f}",
               "ratio_p50": f"{statistics.median(ratios):.2f}",
               "ratio_min": f"{min(ratios):.2f}", "ratio_max": f"{max(ratios):.2f}"}


def main():
    o = options()
    make_links(pathlib.Path(o.peer).resolve().parent)
    rounds = []
    for number in range(o.rounds):
        if number % 2 == 0:
            ours = measure_kvik(o)
            theirs = measure_peer(o)
        else:
            theirs = measure_peer(o)
            ours = measure_kvik(o)
        rounds.append((ours, theirs))
        print(f"round {number + 1}: " + "  ".join(
            f"{test} {ours[test]:.1f} / {theirs[test]:.1f} = {ours[test] / theirs[test]:.2f}"
            for test in ("pp", "tg")), flush=True)
    rows = list(summary(o, rounds))
    print(f"\n{rows[0]['machine']}, {o.threads} threads, {rows[0]['model']}, tokens/s, medians of "
          f"{o.rounds} rounds")
    print(f"{'':16} {'kvik':>8} {'peer':>8} {'ratio':>6}   spread")
    for row in rows:
        name = f"{'prefill' if row['test'] == 'pp' else 'decode'} {row['n']}"
        print(f"{name:16} {row['kvik_p50']:>8} {row['peer_p50']:>8} {row['ratio_p50']:>6}   "
              f"{row['ratio_min']} .. {row['ratio_max']}")
    if o.csv:
        with open(o.csv, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["round", "test", "kvik", "peer"])
            for number, (ours, theirs) in enumerate(rounds, 1):
                writer.writerows([number, test, ours[test], theirs[test]] for test in ("pp", "tg"))
    if o.record:
        HISTORY.parent.mkdir(exist_ok=True)
        new = not HISTORY.exists()
        with open(HISTORY, "a", newline="") as file:
            writer = csv.DictWriter(file, FIELDS)
            if new:
                writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
