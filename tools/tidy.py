#!/usr/bin/env python3
"""The laws of the source tree, checked: arrows between modules, dead files, essays, ASCII.

    tools/tidy.py [ROOT]     prints what breaks a law and how long things are; exit status 1 if any does

The arrows are read from the kvik_module(... DEPENDS ...) lines of CMakeLists.txt, where they are
written once. Standard library only; tests/python/test_tidy.py breaks every law once.
"""
import ast
import os
import pathlib
import re
import statistics
import sys

SOURCE = {".cpp", ".h", ".inl"}
SUPPORT = "tests/support/"  # of tests, which alone may include it
ESSAY_LINES = 30
# From these modules only the named headers of that module may be included.
NARROW = {("model", "cache"): {"cache/kv_spec.h"}}
# The command line is tested as a program by tests/e2e, the test rig by the tests that stand on it.
TESTED_ELSEWHERE = {"cli", "testing"}
# What a file compiled for one instruction set may see: no header whose inline functions could be
# emitted with that set's instructions and replace the baseline's copy at link time.
ISA_SYSTEM = re.compile(r"(\w*intrin|arm_neon|std(int|def|bool)|string|float|limits|c(stdint|stddef|string))(\.h)?")
# Split, so that this file does not break its own law.
UNFINISHED = re.compile("|".join(a + b for a, b in [
    ("TO", "DO"), ("FIX", "ME"), ("XX", "X"), ("GTEST_", "SKIP"), ("DIS", "ABLED_"),
    ("pytest.mark.", "skip"), ("unittest.", "skip")]))
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)', re.M)


class Tree:
    """The files below a root, read once."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.text = {}
        for folder, folders, names in os.walk(self.root):
            folders[:] = sorted(f for f in folders if f == ".ci" or not (
                f.startswith(".") or f in ("build", "__pycache__")))
            for name in sorted(names):
                path = pathlib.Path(folder, name)
                data = path.read_bytes()
                if b"\0" not in data and name != ".git":
                    relative = path.relative_to(self.root).as_posix()
                    self.text[relative] = data.decode("utf-8", "replace")
        self.sources = [f for f in self.text if pathlib.PurePath(f).suffix in SOURCE
                        and f.startswith(("src/", "include/", SUPPORT))]
        self.includes = {f: INCLUDE.findall(self.text[f]) for f in self.sources}

    def module(self, file):
        """The module a source belongs to; the public header is the engine's face."""
        parts = file.split("/")
        return "engine" if parts[0] == "include" else parts[1] if len(parts) > 2 else ""

    def resolve(self, include):
        """The file a quoted include names, or nothing."""
        for base in ("src/", "include/", "tests/"):
            if base + include in self.text:
                return base + include
        return None

    def own(self, file):
        """(included text, file) of the project's own headers that a source includes."""
        for quoted, _ in self.includes[file]:
            target = self.resolve(quoted) if quoted else None
            if target:
                yield quoted, target


def is_test(file):
    return file.endswith(("_test.cpp", "_fuzz.cpp"))


def arrows(tree):
    """module -> (modules it may include, and those that its tests may)."""
    out = {}
    for body in re.findall(r"^kvik_module\(([^)]*)\)", tree.text.get("CMakeLists.txt", ""), re.M):
        words, key, lists = body.split(), None, {}
        for word in words[1:]:
            if word in ("DEPENDS", "LINK", "TEST_LINK", "TEST_SUPPORT"):
                key = word
            else:
                lists.setdefault(key, []).append(word)
        allowed = set(lists.get("DEPENDS", [])) | {words[0]}
        rig = {w.removeprefix("kvik_") for w in lists.get("TEST_LINK", []) if w.startswith("kvik_")}
        out[words[0]] = (allowed, allowed | rig)
    return out


def check_arrows(tree):
    allowed = arrows(tree)
    for file in tree.sources:
        module = tree.module(file)
        if module == "cli" or file.startswith(SUPPORT):
            continue
        if module not in allowed:
            yield f"{file}: CMakeLists.txt has no kvik_module({module} ...)"
            continue
        for quoted, target in tree.own(file):
            other = tree.module(target)
            if target.startswith(SUPPORT):
                if not is_test(file):
                    yield f"{file}: includes {quoted}, which is for tests alone"
                continue
            if other not in allowed[module][is_test(file)]:
                yield f"{file}: includes {quoted}, but {module} may not include {other}"
            narrow = NARROW.get((module, other))
            if narrow and quoted not in narrow and not is_test(file):
                yield (f"{file}: includes {quoted}; of {other}, {module} may include only "
                       + " and ".join(sorted(narrow)))


def check_cycles(tree):
    graph = {}
    for file in tree.sources:
        if not is_test(file):
            edges = graph.setdefault(tree.module(file), set())
            edges.update(tree.module(t) for _, t in tree.own(file))
    done, path = set(), []

    def visit(module):
        if module in path:
            return path[path.index(module):] + [module]
        if module in done:
            return None
        path.append(module)
        for other in sorted(graph.get(module, ())):
            found = visit(other) if other != module else None
            if found:
                return found
        path.pop()
        done.add(module)
        return None

    for module in sorted(graph):
        cycle = visit(module)
        if cycle:
            yield "modules in a circle: " + " -> ".join(cycle)
            return


def check_includes_resolve(tree):
    for file in tree.sources:
        for quoted, _ in tree.includes[file]:
            if quoted and not tree.resolve(quoted):
                yield f'{file}: "{quoted}" is no file below src/ or include/'


def stem_of(file):
    return re.sub(r"(_test|_fuzz)?\.\w+$", "", file)


def check_dead_headers(tree):
    used = {target for file in tree.sources for _, target in tree.own(file)
            if stem_of(file) != stem_of(target)}
    for folder, text in tree.text.items():
        if folder.startswith("tests/") and folder.endswith((".cpp", ".h")):
            used.update(filter(None, (tree.resolve(q) for q, _ in INCLUDE.findall(text) if q)))
    for file in tree.sources:
        if file.endswith((".h", ".inl")) and file not in used:
            yield f"{file}: nobody but its own source includes it"


def check_dead_files(tree):
    for file in tree.text:
        if not file.startswith(("tools/", "scripts/", "tests/", "bench/", "docs/")):
            continue
        path = pathlib.PurePosixPath(file)
        if path.name == "README.md" or file.startswith(("docs/decisions/", "bench/history/")):
            continue
        names = [re.escape(path.name)]
        names += [re.escape(p.as_posix()) for p in path.parents if len(p.parts) > 2]
        if path.suffix == ".py":
            names.append(re.escape(path.stem))
        pattern = re.compile(r"(?<![\w-])(?:" + "|".join(names) + r")(?![\w-])")
        if not any(pattern.search(text) for other, text in tree.text.items() if other != file):
            yield f"{file}: no other file names it"


def check_ascii(tree):
    for file, text in tree.text.items():
        path = pathlib.PurePosixPath(file)
        if path.suffix in SOURCE | {".py", ".sh", ".cmake"} or path.name in ("CMakeLists.txt",
                                                                             "Makefile") \
                or file.startswith((".ci/", "scripts/")):
            for number, line in enumerate(text.split("\n"), 1):
                if not line.isascii():
                    yield f"{file}:{number}: not ASCII: write \\x or \\u escapes"
                    break


def check_essays(tree):
    for file in tree.sources:
        if not file.endswith((".h", ".inl")):
            continue
        lines = tree.text[file].split("\n")
        essay = next((i for i, line in enumerate(lines) if not line.startswith("//")), len(lines))
        if essay == 0:
            yield f"{file}: does not open with an essay of what it is"
        elif essay > ESSAY_LINES:
            yield f"{file}: its essay has {essay} lines, the most is {ESSAY_LINES}"
        if file.endswith(".h") and (essay >= len(lines) or lines[essay] != "#pragma once"):
            yield f"{file}: #pragma once does not follow the essay"


def check_tested(tree):
    modules = {tree.module(f) for f in tree.sources if f.endswith(".cpp") and not is_test(f)}
    tested = {tree.module(f) for f in tree.sources if f.endswith("_test.cpp")}
    for module in sorted(modules - tested - TESTED_ELSEWHERE):
        yield f"src/{module}: has no *_test.cpp"


def check_isa(tree):
    for file in tree.sources:
        if "/kernels/isa/" not in file or is_test(file):
            continue
        seen, todo = set(), [file]
        while todo:
            current = todo.pop()
            if current in seen:
                continue
            seen.add(current)
            todo += [target for _, target in tree.own(current)]
            for _, system in tree.includes[current]:
                if system and not ISA_SYSTEM.fullmatch(system):
                    via = "" if current == file else f" through {current}"
                    yield f"{file}: sees <{system}>{via}; only intrinsics and C headers may be"


def check_unfinished(tree):
    for file, text in tree.text.items():
        if file == "tools/tidy.py":
            continue
        for number, line in enumerate(text.split("\n"), 1):
            found = UNFINISHED.search(line)
            if found and not file.startswith("tests/golden/"):
                yield f"{file}:{number}: unfinished or skipped: {found.group()}"


def check_exit_codes(tree):
    kinds = re.search(r"enum class ErrorKind[^{]*\{([^}]*)\}", tree.text.get("src/base/result.h", ""))
    if not kinds:
        yield "src/base/result.h: no enum class ErrorKind"
        return
    contract = tree.text.get("docs/contracts.md", "")
    for name, value in re.findall(r"(\w+)\s*=\s*(\d+)", kinds.group(1)):
        if not re.search(rf"^\|\s*{value}\s*\|\s*`{name}`\s*\|", contract, re.M):
            yield f"docs/contracts.md: no row '| {value} | `{name}` |' for that exit code"


LAWS = [check_arrows, check_cycles, check_includes_resolve, check_dead_headers, check_dead_files,
        check_ascii, check_essays, check_tested, check_isa, check_unfinished, check_exit_codes]


def functions(file, text):
    """(lines, file, name) of each top-level function; C++ as clang-format lays it out."""
    if file.endswith(".py"):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield node.end_lineno - node.lineno + 1, file, node.name
        return
    start, head = None, ""
    for number, line in enumerate(text.split("\n"), 1):
        if line and not line[0].isspace() and line[0] not in "#/}":
            opens = not re.match(r"(namespace|struct|class|enum|union|extern|using|typedef)\b", line)
            start, head = (number, line) if opens else (None, "")
        elif line.startswith("}") and start and not line.startswith("};"):
            name = re.search(r"([\w:~]+)\(", head)
            yield number - start + 1, file, name.group(1) if name else head.strip()
            start = None


def report(tree):
    code = {f: t for f, t in tree.text.items()
            if f in tree.sources or f.endswith(".py") or f.startswith(("scripts/", ".ci/"))}
    lengths = sorted(((t.count("\n"), f) for f, t in code.items()), reverse=True)
    longest = sorted((x for f, t in code.items() if f.endswith((".py", ".cpp", ".h", ".inl"))
                      for x in functions(f, t)), reverse=True)
    print(f"{len(lengths)} files, {sum(n for n, _ in lengths)} lines, "
          f"median {statistics.median([n for n, _ in lengths] or [0]):.0f}")
    print("longest files:")
    for n, file in lengths[:8]:
        print(f"  {n:5} {file}")
    print("longest functions:")
    for n, file, name in longest[:8]:
        print(f"  {n:5} {name} ({file})")


def main(arguments):
    root = arguments[0] if arguments else pathlib.Path(__file__).resolve().parent.parent
    tree = Tree(root)
    findings = [finding for law in LAWS for finding in law(tree)]
    report(tree)
    for finding in findings:
        print(finding, file=sys.stderr)
    print(f"{len(findings)} findings" if findings else "tidy")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
