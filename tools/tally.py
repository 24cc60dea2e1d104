#!/usr/bin/env python3
"""Counts the single tests behind a CTest run.

    tools/tally.py [--plain] BUILD_DIR...    reads BUILD_DIR/Testing/Temporary/LastTest.log

CTest counts programs; a program here holds many tests. Prints one line for each folder, or with
--plain the two sums alone. Exit status 1 if a test failed or a folder has no log.
"""
import pathlib
import re
import sys

# One line a test: GoogleTest's, and those of unittest at verbosity 2 (whose verdict stands alone on
# its line where the test printed something).
PASSED = re.compile(r"^\[       OK \] \S+ \(|(?:^|\.\.\. )ok$", re.M)
FAILED = re.compile(r"^\[  FAILED  \] \S+ \(\d+ ms\)|(?:^|\.\.\. )(?:FAIL|ERROR)$", re.M)
BLOCK = re.compile(r"^\d+/\d+ Testing: .*?\n(.*?)^Test (Passed|Failed)\.", re.M | re.S)


def count(log):
    """(passed, failed) of one LastTest.log. A program that names no test counts as one."""
    passed = failed = 0
    for output, verdict in BLOCK.findall(log):
        good, bad = len(PASSED.findall(output)), len(FAILED.findall(output))
        if verdict == "Failed" and not bad:
            bad = 1
        if verdict == "Passed" and not good:
            good = 1
        passed, failed = passed + good, failed + bad
    return passed, failed


def main(arguments):
    plain = "--plain" in arguments
    passed = failed = missing = 0
    for folder in (a for a in arguments if a != "--plain"):
        log = pathlib.Path(folder, "Testing/Temporary/LastTest.log")
        if not log.exists():
            print(f"{folder}: no test has run here", file=sys.stderr)
            missing += 1
            continue
        good, bad = count(log.read_text("utf-8", "replace"))
        passed, failed = passed + good, failed + bad
        if not plain:
            print(f"{folder}: {good} passed, {bad} failed")
    if plain:
        print(passed, failed)
    return 1 if failed or missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
