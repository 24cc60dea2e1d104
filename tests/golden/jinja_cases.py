#!/usr/bin/env python3
"""Writes jinja_cases.json: templates and what jinja2 makes of them, for jinja_cases_test.cpp.

    python tests/golden/jinja_cases.py        needs jinja2 3.1

jinja2 is set up as chat templates have it: blocks trimmed and stripped, loop controls, a tojson that
does not escape for HTML. A list that is mutated needs the plain sandbox, which differs in nothing else.
"""
import json
import pathlib

from jinja2.sandbox import SandboxedEnvironment

import jinja_cases_small as small
import jinja_cases_whole as whole
from jinja_oracle import environment

class Table:
    """Values by number, equal ones once: most cases share their variables."""

    def __init__(self):
        self.values, self.places = [], {}

    def place(self, value):
        return self.places.setdefault(json.dumps(value), self._add(value))

    def _add(self, value):
        if json.dumps(value) not in self.places:
            self.values.append(value)
        return len(self.values) - 1


def main():
    templates, variables = Table(), Table()
    rendered, failing = [], []
    for template, given in small.RENDERED + small.FAILING + whole.CASES:
        case = [templates.place(template), variables.place(given)]
        try:
            expected = environment(SandboxedEnvironment).from_string(template).render(**given)
        except Exception as error:
            if (template, given) in small.RENDERED:
                raise SystemExit(f"{template!r} fails: {error}")
            failing.append(case)
        else:
            if (template, given) in small.FAILING:
                raise SystemExit(f"{template!r} does not fail but gives {expected!r}")
            rendered.append(case + [expected])
    out = pathlib.Path(__file__).resolve().parent / "jinja_cases.json"
    lines = [f'"{name}": [\n' + ",\n".join(map(json.dumps, rows)) + "\n]" for name, rows in [
        ("templates", templates.values), ("variables", variables.values),
        ("rendered", rendered), ("failing", failing)]]
    out.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(len(rendered), "rendered,", len(failing), "failing")


if __name__ == "__main__":
    main()
