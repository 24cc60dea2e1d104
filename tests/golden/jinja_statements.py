"""Templates at random: statements in one another, white space and its control, scopes, macros, loops.

Their expressions are few and plain; jinja_expressions.py makes the others.
"""
import random

import jinja_expressions

VARIABLES = {**jinja_expressions.VARIABLES, "messages": [
    {"role": "system", "content": " Be brief. "}, {"role": "user", "content": "Hi\n\"you\""},
    {"role": "assistant", "content": None, "tool_calls": [{"name": "f", "arguments": {"a": [1]}}]},
    {"role": "tool", "content": "{\"t\": 1}"}, {"role": "assistant", "content": "Bye"}]}

NAMES = ["a", "b", "c", "x"]
LISTS = ["l", "w", "messages", "p", "none", "range(3)", "s", "d", "d.items()", "messages[1:]", "mixed", "missing",
         "messages|selectattr('role', 'eq', 'user')", "p|map(attribute='name')", "[[1, 2], [3, 4]]", "[('k', 1)]"]
VALUES = ["1", "'t'", "n", "s", "a", "b", "c", "x", "x.role", "x.content", "x['name']", "ns.v", "ns.w", "m1()", "m1(a)", "m1(1, k=2)",
          "m2(b, 'z')", "m2(k=x)", "messages|length", "x|string|upper", "[a, b]", "a ~ b", "none", "'<|im_end|>'", "x is defined",
          "loop is defined", "messages[0].content|trim", "c|tojson", "m1.name", "missing", "a.b", "namespace(q=1).q"]
IN_LOOP = ["loop.index", "loop.first", "loop.last", "loop.index0", "loop.length", "loop.revindex", "loop.previtem", "loop.nextitem.role",
           "loop.cycle('o', 'e')", "loop.depth", "loop.changed(x)", "x|tojson"]
IN_MACRO = ["caller()", "caller(1)", "caller is defined"]
TEXTS = ["", " ", "\n", "\n\n", "  ", "\t", "text", " a\n", "\n  b", "line\n", "  \n", "x\r\ny", "'", "{ { ", "%}", "#", "\n    "]

MACROS = ("{% macro m1(a='A', k='K') %}<{{ a }}{{ k }}{{ caller() if caller }}>{% endmacro %}"
          "{%- macro m2(k, z=a) -%}{{ k ~ z }}{{ caller(2) if caller }}{%- endmacro -%}\n")


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.n_loops, self.n_macros = 0, 0  # around the place that is written

    def pick(self, choices):
        return self.random.choice(choices)

    def chance(self, share):
        return self.random.random() < share

    def tag(self, inside):
        sign = lambda: self.pick(["", "", "", "-", "-", "+"])
        blank = lambda: self.pick([" ", " ", " ", "", "\n "])
        first, last = sign(), sign()
        return "{%" + first + (blank() or " " * (first == "+")) + inside + blank() + last + "%}"

    def value(self):
        return self.pick(VALUES + IN_LOOP * (self.n_loops > 0 or self.chance(0.02)) + IN_MACRO * (self.n_macros > 0))

    def text(self):
        return self.pick(TEXTS)

    def output(self, _=0):
        return "{{" + self.pick(["", "", "-"]) + " " + self.value() + " " + self.pick(["", "", "-"]) + "}}"

    def condition(self):
        return self.pick(["", "", "not "]) + self.pick([self.value()] * 8 + ["x == 1", "a != b", "x in l", "loop.index > 1", "x is string", "x.role == 'user'",
                                                                 "x is mapping and x.content", "a or b", "t", "no"])

    def target(self):
        return self.pick(NAMES + ["a, b", "(a, b)", "ns.v", "ns.w"])

    def body(self, depth):
        out = self.text()
        for _ in range(self.pick([1, 1, 2, 3])):
            out += self.statement(depth) + self.text()
        return out

    def statement(self, depth):
        if depth <= 0 or self.chance(0.25):
            return self.pick([self.output, self.output, self.text, self.set, self.comment, self.raw, self.leave])()
        return self.pick([self.if_, self.if_, self.for_, self.for_, self.for_, self.set_block, self.filter, self.with_,
                          self.macro, self.call, self.output, self.set])(depth)

    def leave(self, _=0):
        return self.tag(self.pick(["break", "continue"])) if self.n_loops > 0 and self.chance(0.5) else self.output()

    def comment(self):
        return "{#" + self.pick(["", "-", "-"]) + " c {{ x }} {% if %}" + self.pick(["", "\n"]) + self.pick([" ", " -"]) + "#}"

    def raw(self):
        return self.tag("raw").replace("+%}", "%}") + self.text() + "{{ raw }}{% x %}" + self.tag("endraw")

    def set(self, _=0):
        target = self.target()
        if "," in target:
            return self.tag(f"set {target} = {self.pick(['1, 2', '[n, s]', 'b, a', 'x', '(1, 2, 3)'])}")
        return self.tag(f"set {target} = {self.value()}")

    def if_(self, depth):
        out = self.tag("if " + self.condition()) + self.body(depth - 1)
        while self.chance(0.3):
            out += self.tag("elif " + self.condition()) + self.body(depth - 1)
        if self.chance(0.5):
            out += self.tag("else") + self.body(depth - 1)
        return out + self.tag("endif")

    def for_(self, depth):
        target = self.pick(["x", "x", "x", "a", "a, b", "(a, b)", "c"])
        items = self.pick(["d.items()", "[[1, 2], [3, 4]]", "d|items", "d|dictsort", "p"] if "," in target else LISTS)
        out = self.tag(f"for {target} in {items}" + self.pick(["", "", " if " + self.condition()]))
        self.n_loops += 1
        out += self.body(depth - 1)
        self.n_loops -= 1
        if self.chance(0.25):
            out += self.tag("else") + self.body(depth - 1)
        return out + self.tag("endfor")

    def set_block(self, depth):
        return self.tag("set " + self.pick(NAMES + ["ns.v"]) + self.pick(["", " | upper", " | trim | length"])) + self.body(depth - 1) + self.tag("endset")

    def filter(self, depth):
        return self.tag("filter " + self.pick(["upper", "trim", "replace('a', 'b')", "indent(2)", "trim | lower", "tojson"])) + self.body(depth - 1) + self.tag("endfilter")

    def with_(self, depth):
        return self.tag("with " + self.pick(["a = 1", "a = b, b = a", "x = 'w'", "c = ns", "a = x, ", ""]).rstrip(", ")) + self.body(depth - 1) + self.tag("endwith")

    def macro(self, depth):
        name = self.pick(["m1", "m2"])
        around, self.n_loops, self.n_macros = self.n_loops, 0, self.n_macros + 1
        out = self.tag(f"macro {name}({self.pick(['', 'a', 'a, k=1', 'a=b, k=a', 'x, a=n, k=none'])})") + self.body(depth - 1)
        self.n_loops, self.n_macros = around, self.n_macros - 1
        return out + self.tag("endmacro")

    def call(self, depth):
        around, self.n_loops = self.n_loops, 0
        out = self.tag("call" + self.pick(["", "", "(a)", "(x, b=2)"]) + " " + self.pick(["m1()", "m2(1)", "m1(b, k=3)"])) + self.body(depth - 1)
        self.n_loops = around
        return out + self.tag("endcall")

    def template(self):
        return (self.pick(["{% set ns = namespace(v=0, w='w') %}"] * 3 + ["{%- set ns = namespace(v=[]) -%}\n", ""])
                + self.pick([MACROS] * 4 + [""]) + self.pick(["{% set a, b, c, x = 1, 'B', [2], p[0] %}"] * 3 + [""])
                + self.body(self.pick([1, 2, 3])))
