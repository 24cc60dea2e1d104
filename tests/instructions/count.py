#!/usr/bin/env python3
"""The instructions of fixed steps, counted by valgrind, against what expected.csv has.

    tests/instructions/count.py PROGRAM [--compiler "GNU 12.2.0"]           compares; status 1 if they differ
    tests/instructions/count.py PROGRAM [--compiler "GNU 12.2.0"] --write   writes expected.csv anew

PROGRAM is count_steps of a release build: `make counts` builds it and writes, ctest compares.
Counts are of the AVX2 kernels on one thread, because valgrind knows no AVX-512; they do not depend on
the machine, but on the compiler and the C library, which is why expected.csv names the compiler.
TOLERANCE is for what a security update of those may change; a change of ours is rarely less. Fewer
instructions are an error too: unless they are written down, the next loss hides behind them.
Standard library only.
"""
import argparse
import csv
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

EXPECTED = pathlib.Path(__file__).resolve().parent / "expected.csv"
TOLERANCE = 0.02
REWRITE = "make counts"


def counts_of(folder, names):
    """Instructions of each step: valgrind leaves a numbered file after each, in their order."""
    counts = {}
    for number, name in enumerate(names, 1):
        path = pathlib.Path(folder, f"counts.{number}")
        totals = re.search(r"^totals: (\d+)$", path.read_text(), re.M) if path.exists() else None
        if not totals:
            sys.exit(f"valgrind counted nothing for '{name}': is {path.name} a dump of measured_step?")
        counts[name] = int(totals.group(1))
    return counts


def measure(program):
    valgrind = shutil.which("valgrind")
    if not valgrind:
        sys.exit("valgrind is missing, and instructions are counted with it: run scripts/setup")
    with tempfile.TemporaryDirectory(prefix="kvik_counts_") as folder:
        subprocess.run([program, "write", folder], check=True)
        done = subprocess.run(
            [valgrind, "--tool=callgrind", "--toggle-collect=measured_step",
             "--dump-after=measured_step", f"--callgrind-out-file={folder}/counts",
             program, "compute", folder],
            capture_output=True, text=True, stdin=subprocess.DEVNULL,
            env={**os.environ, "KVIK_ISA": "avx2"})
        if done.returncode:
            sys.exit(f"valgrind ended with {done.returncode}:\n{done.stderr[-3000:]}")
        return counts_of(folder, done.stdout.splitlines())


def read(path):
    """(compiler, {step: instructions}) of a file that write made."""
    lines = pathlib.Path(path).read_text().splitlines()
    compiler = lines[0].removeprefix("# compiler: ")
    return compiler, {row["step"]: int(row["instructions"]) for row in csv.DictReader(lines[1:])}


def write(path, compiler, counts):
    with open(path, "w", newline="") as file:
        file.write(f"# compiler: {compiler}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["step", "instructions"])
        writer.writerows(counts.items())


def major(compiler):
    return compiler.split(".")[0]


def differences(expected, counts):
    """A line for each step whose count is not what is expected."""
    for name in expected.keys() - counts.keys():
        yield f"{name}: is expected but was not measured"
    for name, count in counts.items():
        if name not in expected:
            yield f"{name}: {count} instructions, and none are expected"
            continue
        change = count / expected[name] - 1
        if abs(change) > TOLERANCE:
            yield (f"{name}: {count} instructions, expected {expected[name]}: "
                   f"{100 * change:+.1f} %, {'slower' if change > 0 else 'faster'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--compiler", default="unknown")
    parser.add_argument("--write", action="store_true")
    o = parser.parse_args()
    if not o.write and not EXPECTED.exists():
        sys.exit(f"{EXPECTED} is missing: write it with `{REWRITE}`")
    compiler, expected = read(EXPECTED) if not o.write else (o.compiler, {})
    if major(compiler) != major(o.compiler):
        sys.exit(f"{EXPECTED.name} was counted with {compiler}, this build is by {o.compiler}: "
                 f"compile with the former, or write it anew with `{REWRITE}`")
    counts = measure(o.program)
    if o.write:
        write(EXPECTED, o.compiler, counts)
        print(f"{EXPECTED.name}: {len(counts)} steps, {sum(counts.values())} instructions")
        return 0
    found = list(differences(expected, counts))
    for line in found:
        print(line)
    print(f"{len(counts)} steps, {len(found)} not as expected"
          + (f"; if that is meant: `{REWRITE}`, and commit {EXPECTED.name}" if found else ""))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
