"""Expressions at random, over the types, operators, filters, tests, methods and slices of templates.

What jinja2 gives as a generator, a view or a range is put into a list at once: it prints as where it
lies in memory, and kvik has lists there. Numbers stay small: kvik's are of 64 bits.
"""
import random

VARIABLES = {
    "n": 7, "m": -3, "zero": 0, "f": 2.5, "g": -0.125, "t": True, "no": False, "z": None, "e": "",
    "s": "Hello, World", "u": "h\u00e9LLO \u00df\u4e16 \U0001f600", "q": "it's \"q\"\\ <|im_end|>\n\tx ",
    "lines": "  one\n\n two\r\nthree  ", "num": " 42 ", "real": "-1.5e1",
    "l": [3, 1, 2, 1], "w": ["b", "A", "c", "B", ""], "mixed": [1, "1", None, 2.0, True, [0]], "none": [],
    "d": {"b": 1, "a": [1, {"x": None}], "C": "q'\"\n", "items": 5}, "o": {},
    "p": [{"name": "Ann", "age": 30, "tags": ["x", "y"]}, {"name": "bob", "age": 25, "tags": []},
          {"name": "Cid", "age": 30, "at": {"x": 1}}],
    "deep": {"a": {"b": {"c": [10, 20, {"d": "deep"}]}}, "k": {"1": "one"}},
}

TESTS = ["defined", "undefined", "none", "string", "number", "integer", "float", "boolean", "true", "false",
         "mapping", "iterable", "sequence", "callable", "odd", "even", "lower", "upper", "in l", "in w", "in s",
         "in d", "eq 1", "ne(1)", "equalto('b')", "==(2.5)", "sameas none", "sameas(true)", "divisibleby 3",
         "gt 1", "ge(2)", "lt 'b'", "le 2", "greaterthan 0", "lessthan 9", "in [1, 2]", "!= none", "filter", "test"]

ROUND = ["", "(1)", "(2)", "(0, 'floor')", "(1, 'ceil')", "(method='common')", "(3)"]
DICTSORT = ["", "(true)", "(by='value')", "(reverse=true)", "(false, 'value')"]


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def one(self):
        return getattr(self, self.pick("text number items mapping truth any_of".split()))(self.random.choice([1, 2, 2, 3, 3, 4]))

    def pick(self, choices):
        return self.random.choice(choices)

    # Now and then of another type than is asked for.
    def typed(self, kind, depth):
        if self.random.random() < 0.04:
            kind = self.pick(["text", "number", "items", "mapping", "truth"])
        return getattr(self, kind)(depth)

    def t(self, depth):
        return self.typed("text", depth)

    def i(self, depth):
        return self.typed("number", depth)

    def l(self, depth):
        return self.typed("items", depth)

    def d(self, depth):
        return self.typed("mapping", depth)

    def any_of(self, depth):
        return getattr(self, self.pick("text number items mapping truth".split()))(depth)

    def text(self, depth):
        if depth <= 0:
            return self.pick(["s", "u", "q", "e", "lines", "num", "real", "'ab'", '"x\'y"', "'\\n'", "'a,b,,c'", "''",
                              "'%s'", "'\\u00e9\\x41'", "p[0].name", "d.C", "d['C']", "w[1]", "deep.a.b.c[2].d",
                              "missing", "d.missing", "w[9]", "s[1]", "'A' 'b'", "deep.k['1']", "'Title Case'"])
        a, b = depth - 1, depth - 2
        return self.pick([
            lambda: f"({self.t(a)} ~ {self.any_of(b)})",
            lambda: f"({self.t(a)} + {self.t(b)})",
            lambda: f"({self.t(a)} * {self.pick(['0', '1', '2', '3', 'zero', '-1', 't'])})",
            lambda: f"[{self.t(a)}, n][0][{self.slice()}]",
            lambda: f"{self.t(a)}[{self.i(0)}]",
            lambda: self.filtered_text(depth), lambda: self.filtered_text(depth),
            lambda: self.method_text(depth), lambda: self.method_text(depth),
            lambda: f"{self.l(a)}|join{self.pick(['', '()', '(' + self.t(b) + ')', '(d=' + self.t(0) + ')'])}",
            lambda: f"{self.t(0)}.join({self.l(a)})",
            lambda: f"p|map(attribute='name')|join({self.t(0)})",
            lambda: f"p|join(',', attribute='{self.pick(['name', 'age', 'at.x', 'tags'])}')",
            lambda: f"({self.any_of(a)})|tojson{self.json_style()}",
            lambda: f"({self.any_of(a)})|string",
            lambda: f"({self.t(a)} if {self.truth(b)}{' else ' + self.t(b) if self.random.random() < .8 else ''})",
            lambda: f"({self.t(a)} {self.pick(['or', 'and'])} {self.t(b)})",
            lambda: f"({self.any_of(b)})|default({self.t(a)}{self.pick(['', ', true', ', boolean=true', ', false'])})",
            lambda: f"({self.percent(a)})", lambda: self.brace(a),
            lambda: f"{self.l(a)}|{self.pick(['first', 'last', 'min', 'max'])}",
            lambda: f"(({self.any_of(a)})|tojson|from_json)|string",
        ])()

    def filtered_text(self, depth):
        a, b = depth - 1, depth - 2
        name = self.pick([
            "upper", "lower", "capitalize", "title", "trim", "string", "string|reverse", "trim()",
            lambda: f"trim({self.t(0)})", lambda: f"trim(chars={self.t(0)})", lambda: f"replace({self.t(0)}, {self.t(b)})",
            lambda: f"replace({self.t(0)}, {self.t(0)}, {self.pick(['0', '1', '2', '-1', 'n'])})",
            lambda: f"indent{self.pick(['', '(2)', '(width=3)', '(2, true)', '(first=true)', '(2, blank=true)', '(0, true, true)'])}",
            lambda: f"indent({self.t(0)})", lambda: f"format({self.any_of(b)})",])
        name = name if isinstance(name, str) else name()
        return f"({self.t(a)})|{name}"

    def method_text(self, depth):
        a, b = depth - 1, depth - 2
        call = self.pick([
            "upper()", "lower()", "capitalize()", "title()", "strip()", "lstrip()", "rstrip()",
            lambda: f"{self.pick(['strip', 'lstrip', 'rstrip'])}({self.t(0)})",
            lambda: f"replace({self.t(0)}, {self.t(b)})", lambda: f"replace({self.t(0)}, '-', {self.pick(['1', '-1', '0'])})",
            lambda: f"{self.pick(['removeprefix', 'removesuffix'])}({self.t(0)})",
            lambda: f"split({self.t(0)})[{self.pick(['0', '-1', '1', '5'])}]",
            lambda: f"split()[{self.pick(['0', '-1'])}]", lambda: f"format({self.any_of(b)}, n, x=s)"])
        return f"({self.t(a)}).{call if isinstance(call, str) else call()}"

    def slice(self):
        bound = lambda: self.pick(["", "", "0", "1", "2", "-1", "-3", "9", "-9", "n", "none"])
        return f"{bound()}:{bound()}" + self.pick(["", "", ":", ":2", ":-1", ":-2", ":3", ":1", ":zero"])

    def json_style(self):
        return self.pick(["", "", "", "(indent=2)", "(indent=4)", "(ensure_ascii=true)", "(separators=(',', ':'))",
                          "(sort_keys=true)", "(indent=0)", "(indent=none)", "(true)", "(false, 1)",
                          "(indent='--')", "(indent=2, separators=(' ,', '='))"])

    def percent(self, depth):
        spec = lambda: "%" + self.pick(["", "", "5", "-5", "05", ".2", "6.1", "+", " ", "-07.3", "+5"]) + self.pick("sdifxXeEgGrou%")
        n = self.pick([1, 1, 2])
        values = [self.any_of(depth) for _ in range(n)]
        made = f"'[{'|'.join(spec() for _ in range(n))}]' % "
        if self.random.random() < 0.15:
            return "'%(a)s-%(b)5.1f' % {'a': " + values[0] + ", 'b': " + self.i(0) + "}"
        return made + ("(" + ", ".join(values) + (",)" if n == 1 else ")"))

    def brace(self, depth):
        place = lambda at: "{" + self.pick([at, at, "0"]) + self.pick(["", "!r", "!s", ""]) + self.pick(
            ["", "", ":5", ":<6", ":>6", ":^7", ":*^9", ":.2f", ":+d", ":05", ":,", ":x", ":.3", ":e", ":%", ":.1%", ":b", ":g", ":s", ":o", ":X", ":.2e"]) + "}"
        names = ["", ""] if self.random.random() < .5 else ["0", "1"]
        return f"'{place(names[0])}|{place(names[1])}{{{{}}}}'.format({self.any_of(depth)}, {self.any_of(0)})"

    def number(self, depth):
        if depth <= 0:
            return self.pick(["n", "m", "zero", "f", "g", "0", "1", "2", "-1", "3", "2.5", "10", "1e3", "0.1", "t", "no", "p[0].age",
                              "l[1]", "deep.a.b.c[0]", "100", "1_000", "0x1f", "missing", "d.b", "5e-5", "1e16", "l[-1]", "0.5"])
        a, b = depth - 1, depth - 2
        return self.pick([
            lambda: f"({self.i(a)} {self.pick(['+', '-', '*', '/', '//', '%', '+', '-'])} {self.i(b)})",
            lambda: f"({self.i(a)} {self.pick(['+', '-', '*', '/', '//', '%'])} {self.i(0)} {self.pick(['+', '-', '*', '/', '//', '%', '~'])} {self.i(0)})",
            lambda: f"({self.i(0)} ** {self.pick(['0', '1', '2', '-1', '3'])})",
            lambda: f"{self.pick(['-', '+', '- '])}{self.i(a)}",
            lambda: f"({self.any_of(a)})|{self.pick(['length', 'count'])}",
            lambda: f"({self.pick([self.t, self.i])(a)})|int{self.pick(['', '', '(5)', '(default=none)', '(0, 16)', '(-1, 2)', '(base=8)'])}",
            lambda: f"({self.pick([self.t, self.i])(a)})|float{self.pick(['', '', '(5)', '(default=none)'])}",
            lambda: f"({self.i(a)})|abs",
            lambda: f"({self.i(a)})|round{self.pick(ROUND)}",
            lambda: f"({self.l(a)})|sum{self.pick(['', '(start=1)'])}",
            lambda: f"p|sum(attribute='{self.pick(['age', 'name', 'at.x'])}')",
            lambda: f"({self.l(a)})|{self.pick(['min', 'max', 'first', 'last'])}",
            lambda: f"({self.t(a)}).{self.pick(['find', 'count'])}({self.t(0)})",
            lambda: f"({self.l(a)}).{self.pick(['index', 'count'])}({self.any_of(0)})",
            lambda: f"({self.i(a)} if {self.truth(b)} else {self.i(b)})",
            lambda: f"({self.l(a)})[{self.i(0)}]",
        ])()

    def items(self, depth):
        if depth <= 0:
            return self.pick(["l", "w", "mixed", "none", "p", "[]", "[1, 2.0, '3']", "(1, 2)", "()", "('a',)", "d.a", "p[0].tags",
                              "deep.a.b.c", "missing", "[n, m, f]", "['b', 'a']", "range(3)|list", "[[1, 2], [1]]"])
        a, b = depth - 1, depth - 2
        return self.pick([
            lambda: f"[{self.any_of(a)}, {self.any_of(b)}]", lambda: f"({self.any_of(a)}, {self.any_of(b)},)",
            lambda: f"[{self.t(a)}, {self.t(b)}, {self.t(0)}]", lambda: f"[{self.i(a)}, {self.i(b)}, {self.i(0)}]",
            lambda: f"({self.l(a)} + {self.l(b)})", lambda: f"({self.l(a)} * {self.pick(['0', '2', 'no'])})",
            lambda: f"[{self.l(a)}, n][0][{self.slice()}]",
            lambda: f"({self.any_of(a)})|list",
            lambda: f"({self.l(a)})|sort{self.pick(['', '(true)', '(reverse=true)', '(case_sensitive=true)', '(false, true)'])}",
            lambda: f"p|sort(attribute='{self.pick(['name', 'age', 'age,name', 'at.x', 'tags'])}'{self.pick(['', ', reverse=true', ', case_sensitive=true'])})",
            lambda: f"({self.l(a)})|unique{self.pick(['', '(true)', '(case_sensitive=true)'])}|list",
            lambda: f"p|unique(attribute='{self.pick(['name', 'age'])}')|list",
            lambda: f"({self.l(a)})|reverse|list",
            lambda: f"({self.l(a)})|map('{self.pick(['upper', 'string', 'length', 'tojson', 'trim', 'int', 'list', 'first', 'abs', 'lower', 'title'])}')|list",
            lambda: f"({self.l(a)})|map('{self.pick(['default', 'replace', 'indent', 'attr', 'round'])}', {self.pick(['1', self.t(0)])}{self.pick(['', ', ' + self.t(0)])})|list",
            lambda: f"p|map(attribute='{self.pick(['name', 'at.x', 'tags.0', 'nope'])}'{self.pick(['', ', default=' + self.any_of(0)])})|list",
            lambda: f"({self.l(a)})|{self.pick(['select', 'reject'])}{self.selector(b)}|list",
            lambda: f"p|{self.pick(['selectattr', 'rejectattr'])}('{self.pick(['name', 'age', 'at', 'at.x', 'tags'])}'{self.pick(['', ', ' + self.selector(b)[1:-1]])})|list".replace(", )", ")"),
            lambda: f"({self.t(a)}).split{self.pick(['()', '(none)', '(none, 1)', '(' + self.t(0) + ')', '(' + self.t(0) + ', 1)', '(' + self.t(0) + ', maxsplit=1)'])}",
            lambda: f"({self.t(a)}).splitlines{self.pick(['()', '(true)', '(keepends=true)'])}",
            lambda: f"({self.d(a)})|dictsort{self.pick(DICTSORT)}",
            lambda: f"({self.d(a)})|items|list", lambda: f"({self.d(a)}).{self.pick(['items', 'keys', 'values'])}()|list",
            lambda: f"range({self.pick(['0', '4', '1, 5', '5, 1, -2', 'n', '-3', '0, 9, 4', '2, m, -1'])})|list",
            lambda: f"({self.l(a)} if {self.truth(b)} else {self.l(b)})",
            lambda: f"({self.l(a)} or {self.l(b)})",
            lambda: f"({self.any_of(a)}|tojson)|from_json|list",
        ])()

    def selector(self, depth):
        name = self.pick(TESTS[:20] + ["in", "eq", "ne", "equalto", "gt", "lt", "ge", "divisibleby", "sameas", "!=", ">"])
        needs = name not in TESTS[:20]
        return self.pick([f"('{name}'" + (f", {self.any_of(depth)}" if needs else "") + ")"] * 4 + ["()"])

    def mapping(self, depth):
        if depth <= 0:
            return self.pick(["d", "o", "p[0]", "deep", "{}", "{'a': 1, 'B': 'x'}", "{1: 'i', 'k': n}", "deep.a", "p[2].at", "dict(x=1, y=s)", "{n: m}"])
        a, b = depth - 1, depth - 2
        return self.pick([
            lambda: "{" + f"'k': {self.any_of(a)}, {self.t(b)}: {self.any_of(b)}" + "}",
            lambda: "{" + f"{self.i(0)}: {self.any_of(a)}, 'z': {self.any_of(b)}" + "}",
            lambda: f"dict({self.d(a)}, k={self.any_of(b)})", lambda: f"dict(a={self.any_of(a)})",
            lambda: f"({self.d(a)}).copy()",
            lambda: f"({self.d(a)}).get({self.t(0)}{self.pick(['', ', ' + self.any_of(b)])})",
            lambda: f"({self.d(a)})[{self.pick([self.t, self.i])(0)}]",
            lambda: f"({self.d(a)}).{self.pick(['a', 'b', 'items', 'k', 'missing', 'C'])}",
            lambda: f"({self.d(a)}|tojson|from_json)", lambda: f"{self.l(a)}[{self.i(0)}]",
            lambda: f"({self.d(a)} or {self.d(b)})",
            lambda: f"({self.any_of(a)})|attr('{self.pick(['a', 'upper', 'name'])}')",
        ])()

    def truth(self, depth):
        if depth <= 0:
            return self.pick(["t", "no", "z", "n", "zero", "e", "s", "l", "none", "o", "missing", "true", "False", "None", "d.b", "f"])
        a, b = depth - 1, depth - 2
        return self.pick([
            lambda: f"{self.any_of(a)} is {self.pick(['', '', 'not '])}{self.pick(TESTS)}",
            lambda: f"({self.any_of(a)} is {self.pick(['', 'not '])}{self.pick(TESTS)})",
            lambda: f"({self.i(a)} {self.pick(['==', '!=', '<', '<=', '>', '>='])} {self.i(b)})",
            lambda: f"({self.t(a)} {self.pick(['==', '!=', '<', '<=', '>', '>='])} {self.t(b)})",
            lambda: f"({self.l(a)} {self.pick(['==', '!=', '<', '>='])} {self.l(b)})",
            lambda: f"({self.any_of(a)} {self.pick(['==', '!='])} {self.any_of(b)})",
            lambda: f"({self.i(a)} < {self.i(b)} {self.pick(['<=', '==', '>'])} {self.i(0)})",
            lambda: f"({self.any_of(b)} {self.pick(['in', 'not in'])} {self.pick([self.l, self.d, self.t])(a)})",
            lambda: f"({self.truth(a)} {self.pick(['and', 'or'])} {self.any_of(b)})",
            lambda: f"not {self.truth(a)}", lambda: f"(not {self.any_of(a)})",
            lambda: f"({self.t(a)}).{self.pick(['startswith', 'endswith'])}({self.pick([self.t(0), '(' + self.t(0) + ', ' + self.t(0) + ')'])})",
            lambda: f"({self.t(a)}).{self.pick(['isdigit', 'isalpha', 'isspace', 'isupper', 'islower', 'isalnum'])}()",
            lambda: f"({self.truth(a)} if {self.truth(b)} else {self.truth(b)})",
        ])()
