#!/usr/bin/env python3
"""Writes jinja_cases.json: templates and what jinja2 makes of them, for jinja_cases_test.cpp.

    python tests/golden/jinja_cases.py        needs jinja2 3.1

jinja2 is set up as chat templates have it: blocks trimmed and stripped, loop controls, a tojson that
does not escape for HTML. A list that is mutated needs the plain sandbox, which differs in nothing else.
"""
import datetime
import json
import pathlib
import sys

import jinja2
import jinja2.ext
import jinja2.sandbox

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import jinja_cases_small as small
import jinja_cases_whole as whole

NOW = datetime.datetime(2024, 7, 26, 13, 4, 5)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators,
                      sort_keys=sort_keys)


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


class Generation(jinja2.ext.Extension):
    """The tag that marks a model's own words for training."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_said"), [], [], body).set_lineno(line)

    def _said(self, caller):
        return caller()


def environment():
    made = jinja2.sandbox.SandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols", Generation])
    made.filters["tojson"] = tojson
    made.filters["from_json"] = json.loads
    made.globals["raise_exception"] = raise_exception
    made.globals["strftime_now"] = NOW.strftime
    return made


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
            expected = environment().from_string(template).render(**given)
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
