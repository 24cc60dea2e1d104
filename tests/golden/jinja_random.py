#!/usr/bin/env python3
"""Writes jinja_random.json: expressions and templates at random, and what jinja2 makes of them.

    python tests/golden/jinja_random.py                                   300 expressions, 100 templates
    python tests/golden/jinja_random.py 7 20000 2000 /tmp/more.json       seed, how many of each, where
    KVIK_JINJA_CASES=/tmp/more.json build/release/test_text --gtest_filter='JinjaCases.*'

Differences that stand, which the generators avoid or `apart` leaves out:
- a power that is a complex number is an error, and so is an integer of more than 65536 bits;
- generators, views and ranges are lists, and print as such; functions and loops print without an address;
- a list in a conversation may be changed (append, pop, ...), as in jinja2's plain sandbox;
- a call block may call a macro that never asks for its caller; there are no varargs and no kwargs;
- a slice of a literal that has none is an error, as a slice of a variable's value is in both: jinja2's
  optimizer makes something else of constants;
- there is no batch center filesizeformat groupby pprint random slice striptags
  truncate urlencode urlize wordcount wordwrap xmlattr, no block import include extends do autoescape,
  no recursive loop: an error by that name.
"""
import json
import pathlib
import sys

import jinja_expressions
import jinja_oracle
import jinja_statements

ADDRESSES = ("<built-in", "<bound method", "<generator", " object at 0x", "<LoopContext")


def apart(text, error):
    if text is not None:
        return any(mark in text for mark in ADDRESSES)
    return "'caller'" in error or "special caller" in error


def written(make, n, variables):
    """`n` templates, and for their places the text, or none."""
    kept, rendered, failing = [], [], []
    while len(kept) < n:
        template = make()
        text, error = jinja_oracle.render(template, variables)
        if apart(text, error):
            continue
        (failing.append([len(kept)]) if text is None else rendered.append([len(kept), text]))
        kept.append(template)
    return kept, rendered, failing


def main():
    seed, n_expressions, n_templates = (int(a) for a in (sys.argv[1:4] or ["4", "300", "100"]))
    out = pathlib.Path(sys.argv[4] if len(sys.argv) > 4 else pathlib.Path(__file__).resolve().parent / "jinja_random.json")
    expressions, statements = jinja_expressions.Generator(seed), jinja_statements.Generator(seed)
    sets = [(lambda: "{{ " + expressions.one() + " }}", n_expressions, jinja_expressions.VARIABLES),
            (statements.template, n_templates, jinja_statements.VARIABLES)]
    tables = {"templates": [], "variables": [], "rendered": [], "failing": []}
    for make, n, variables in sets:
        kept, rendered, failing = written(make, n, variables)
        first, which = len(tables["templates"]), len(tables["variables"])
        tables["templates"] += kept
        tables["variables"].append(variables)
        tables["rendered"] += [[first + place, which, text] for place, text in rendered]
        tables["failing"] += [[first + place, which] for place, in failing]
    out.write_text("{\n" + ",\n".join(
        f'"{name}": [\n' + ",\n".join(map(json.dumps, rows)) + "\n]" for name, rows in tables.items()) + "\n}\n")
    print(n_expressions, "expressions and", n_templates, "templates:", len(tables["rendered"]), "rendered,",
          len(tables["failing"]), "failing")


if __name__ == "__main__":
    main()
