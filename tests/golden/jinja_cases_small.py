"""Small templates for jinja_cases.py: one feature each."""

# Expressions over these variables.
V = {
    "n": 7, "m": -3, "f": 2.5, "s": "Hello, World", "e": "", "u": "h\u00e9llo \u4e16\u754c \U0001f600",
    "t": True, "z": None, "l": [3, 1, 2], "w": ["b", "A", "c", "B", "a"],
    "d": {"b": 1, "a": [1, {"x": None}], "C": "q'\"\n"},
    "p": [{"name": "Ann", "age": 30, "tags": ["x"]}, {"name": "bob", "age": 25},
          {"name": "Cid", "age": 30, "tags": []}],
    "nested": {"a": {"b": {"c": [10, 20, {"d": "deep"}]}}},
    "text": "  line one\n\n  line two\r\nlast  ",
    "key": "b", "items": [["k1", 1], ["k2", 2]],
}

EXPRESSIONS = r"""
"<a>"|safe + "<b>"
"<b>" + "<a>"|safe
"<a>"|safe + "<b>"|safe + "<c>"
("<a>"|safe + "<b>") ~ "<c>"
"<a>"|safe ~ "<b>"
("<a>"|safe) * 2 + "<"
("<%s|%r|%d>"|safe) % ("<x>", "'", 5)
"<%s>" % ("<x>"|safe)
("<%s>"|safe) % ("<x>"|safe)
("<%(k)s>"|safe) % {"k": "<v>"}
("<%s>"|safe) % [1, "<"]
("<{}|{:>5}|{!r}>"|safe).format("<x>", "<", "'")
("{}"|safe).format("<x>"|safe) + "<"
"{}".format("<x>"|safe) + "<"
("%s<"|safe)|format("<x>")
"<&>'\""|e
"<&>'\""|escape|e
"<&>'\""|escape|forceescape
5|e
["<"]|e
("<a>"|safe)|upper + "<"
("<A>"|safe)|lower + "<"
("<a>"|safe)|capitalize + "<"
("<a b>"|safe)|title + "<"
(" <a> "|safe)|trim + "<"
("<a>"|safe)|string + "<"
("<a>"|safe)|replace("a", "<") + "<"
("<a>\n<b>"|safe)|indent + "<"
("<a>"|safe)|reverse + "<"
("<a>"|safe)|first + "<"
("<a>"|safe)|list
["<"|safe, "<"]|join("&") + "<"
("&"|safe).join(["<", "<"|safe]) + "<"
"&".join(["<", "<"|safe]) + "<"
("<a>"|safe).upper() + "<"
(" <a> "|safe).strip() + "<"
("<a>"|safe).replace("a", "<") + "<"
("<a>"|safe)[1:] + "<"
("<a>"|safe)[::-1] + "<"
("<a>"|safe)[0] + "<"
("<a> <b>"|safe).split() | map("e") | list
("<a>\n<b>"|safe).splitlines()[0] + "<"
["<a>"|safe]
("<a>"|safe)|tojson
("<a>"|safe) == "<a>"
("<a>"|safe)|length
("<a>"|safe) is escaped
"<a>" is escaped
("<a>"|e) in "x&lt;a&gt;"
18446744073709551616
-9223372036854775809 + 1
0xffffffffffffffffffff
123456789012345678901234567890 * 987654321098765432109876543210
123456789012345678901234567890 // 987654321
-123456789012345678901234567890 // 98765432109876543210
-123456789012345678901234567890 % 98765432109876543210
123456789012345678901234567890 % -98765432109876543210
(2 ** 200 - 1) // (2 ** 100 + 1)
(2 ** 200 - 1) % (2 ** 128 - 1)
2 ** 128 - 2 ** 127 - 2 ** 127
2 ** 64 - 2 ** 64 + 5
-(2 ** 63)
(2 ** 63)|abs
(-(2 ** 64))|abs
2 ** 64 / 3
(2 ** 53 + 1) / 1
9007199254740993 / 2
10 ** 30 / 10 ** 29
1 / 10 ** 30
10 ** 30 * 1.5
10 ** 30 + 0.5
2 ** 64 == 2.0 ** 64
2 ** 64 + 1 == 2.0 ** 64
2 ** 53 + 1 > 2.0 ** 53
2 ** 64 > 1e300
2 ** 2000 > 1e300
-(2 ** 2000) < -1e300
2 ** 64 > 2 ** 63
[2 ** 65, 3, -(2 ** 65), 2.5]|sort
[2 ** 64, 2.0 ** 64, 1]|unique|list
{2 ** 64: "a"}[2.0 ** 64]
(2 ** 64)|tojson
{"wei": 2 ** 70, "l": [-(2 ** 70)]}|tojson
"18446744073709551616"|int + 1
"ffffffffffffffffffff"|int(0, 16)
1e25|int
(2 ** 70)|float
(2 ** 70)|string
(2 ** 70)|round
"%d|%x|%s" % (2 ** 70, 2 ** 70, 2 ** 70)
"%d" % 1e20
"{:,}|{:>30}|{:X}".format(2 ** 70, 2 ** 70, 2 ** 70)
2 ** 64 is integer
2 ** 64 is number
2 ** 64 is even
(2 ** 64 + 1) is odd
2 ** 64 is divisibleby 3
"abc"[: 2 ** 64]
"abc"[- 2 ** 64 :]
[1, 2][2 ** 64] is defined
"x" if 2 ** 64 else "y"
"a\x7fb"|tojson
"a\x7fb \U0001f600"|tojson(ensure_ascii=true)
"a\x7fb"|tojson(ensure_ascii=true, indent=1)
1 + 2 * 3 - 4
7 / 2
8 / 2
7 // 2
-7 // 2
7 // -2
-7 % 3
7 % -3
7.5 % 2
-7.5 // 2
7.0 // 2
2 ** 10
2 ** -1
2 ** 3 ** 2
-2 ** 2
- 2 * 3
+5
- -5
1_000 + 1
0x1F + 0o17 + 0b101
1e3
1.5e-7
1E+2
1e16
1e15
123456789012345680.0
0.1 + 0.2
1 / 3
100 * 1.1
1e22
1e-4
1e-5
3.0
-0.0
1.0 == 1
true + true
True and 5
0 or "x"
none
None
True
false
not n
not e
not none == none
n > 3 and m < 0
n < m or t
1 < 2 < 3
1 < 3 < 2
1 == 1.0 == true
"a" < "b"
"a" < "B"
[1, 2] < [1, 3]
(1, 2) == (1, 2)
[1] == (1,)
{"a": 1} == {"a": 1.0}
none == false
n != 7
3 in l
9 not in l
"World" in s
"" in s
"b" in d
"z" not in d
x in [1]
"a" in undefined_name
n if t else m
n if not t else m
n if z
(n if z) is undefined
"a" if z else "b" if t else "c"
s ~ n ~ z ~ t ~ f
"a" ~ (1 + 2)
"x" * 3
3 * "ab"
[1, 2] * 2
[1] + [2, 3]
(1,) + (2,)
"con" "cat" 'enation'
"tab\there\nline \\ \" \' \x41 \u00e9 \101 \q"
"\U0001F600"
s[0]
s[-1]
s[100]
s[1:4]
s[:-3]
s[::-1]
s[::2]
s[5:1:-2]
s[-100:100]
s[4:]
u[1]
u[6:8]
u[::-1]
u[-1]
u|length
l[0]
l[-1]
l[5] is defined
l[1:]
l[::-1]
l[:2]
(1, 2, 3)[::2]
[1,2,3,4][-3:-1]
[1,2,3,4][10:0:-3]
""[::-1]
d["b"]
d.b
d.missing
d["missing"] is undefined
d[key]
nested.a.b.c[2].d
nested["a"]["b"]["c"][0]
nested.a.b.c.1
[1, 2, [3, 4]][2][1]
l
w
d
p
(1,)
(1, 2, "x")
()
[]
{}
[1.0, none, true, "it's", 'say "hi"', "both ' and \"", "back\\slash"]
["\x00\x1f\x7f\u00a0\u200b\u00ad", "\n\r\t", "\u00e9"]
{1: "int", 2.5: "float", true: "bool", none: "none", "s": "str"}
{"a": 1, "a": 2}
{"k": [1, (2, 3)], "v": {"w": undefined_name}}
d|tojson
p|tojson
p|tojson(indent=2)
[]|tojson(indent=2)
{}|tojson(indent=4)
{"a": [], "b": {}, "c": [[]]}|tojson(indent=1)
u|tojson
u|tojson(ensure_ascii=true)
"<a href='x'>&\"\\/\b\f\n\r\t\x01\x7f"|tojson
[1, 2.0, 1e100, true, none, "x"]|tojson
{"b": 1, "a": 2}|tojson(sort_keys=true)
{"b": 1, "a": [1, 2]}|tojson(separators=(",", ":"))
{1: 2, none: 3, true: 4, 1.5: 5}|tojson
(1, 2)|tojson
"x"|tojson|tojson
l|tojson(none)
[[1, [2]], {"k": {"v": 1}}]|tojson(indent="--")
d|length
l|length
s|length
e|length
undefined_name|length
l|count
"  x y  "|trim
"xxhixx"|trim("x")
"xyhiyx"|trim("xy")
"\u00a0\u2003x\u3000\x1c"|trim
5|trim ~ "|"
z|string
n|string ~ "!"
l|string
t|string|length
undefined_name|string ~ "!"
undefined_name|default("dflt")
undefined_name|default
z|default("dflt")
z|default("dflt", true)
e|default("dflt", boolean=true)
0|d(5, true)
d.missing|default("m")
l|join
l|join(", ")
l|join("-")|upper
p|join("/", attribute="name")
u|join("|")
d|join(",")
[1, none, true, 2.5]|join(" ")
e|join("x")
undefined_name|join(",") ~ "!"
d|items|list
d|items|map("first")|list
undefined_name|items|list
"abc"|list
d|list
(1, 2)|list
l|first
l|last
e|first is undefined
w|first
"xyz"|last
p|selectattr("age", "equalto", 30)|map(attribute="name")|list
p|selectattr("tags")|map(attribute="name")|list
p|selectattr("tags", "defined")|list|length
p|rejectattr("age", "gt", 26)|map(attribute="name")|join
p|rejectattr("tags")|map(attribute="name")|list
p|map(attribute="tags", default="none")|list
p|map(attribute="tags.0", default="-")|list
[[1, 2], [3, 4]]|map(attribute=1)|list
[[1, 2], [3, 4]]|map("sum")|list
w|map("upper")|list
w|map("replace", "a", "z")|list
[1, "a", none, 2.5]|map("string")|list
[1, 2, 3, 4]|select("odd")|list
[1, 2, 3, 4]|select("divisibleby", 2)|list
[0, 1, "", "a", none, []]|select|list
[0, 1, "", "a"]|reject|list
[1, 2, 3]|reject("even")|list
["a", 1]|select("string")|list
z|select|list
w|sort
w|sort(case_sensitive=true)
w|sort(reverse=true)
l|sort
p|sort(attribute="age")|map(attribute="name")|list
p|sort(attribute="age,name", reverse=true)|map(attribute="name")|list
p|sort(attribute="name")|map(attribute="name")|list
[3, 1.5, true, 2]|sort
["b", "a"]|sort|first
w|unique|list
w|unique(true)|list
[1, 1.0, true, 2, "1"]|unique|list
p|unique(attribute="age")|map(attribute="name")|list
l|min
l|max
w|min
w|max(case_sensitive=true)
p|max(attribute="age")
[]|max is undefined
l|sum
p|sum(attribute="age")
[0.1, 0.2, 0.3]|sum
l|sum(start=10)
d|dictsort
d|dictsort(true)
{"x": 2, "y": 1}|dictsort(by="value")
{"x": 2, "y": 1}|dictsort(false, "value", true)
l|reverse|list
s|reverse
"ABC d\u00c9"|lower
"abc d\u00e9 \u00df \ufb01"|upper
"\u0391\u03a3 \u03a3\u0391\u03a3. \u03a3"|lower
"\u0130stanbul"|lower
"\u01c6"|capitalize
5|upper
"hello world-foo (bar) x"|title
"hELLO wORLD"|capitalize
s|replace("l", "L")
s|replace("l", "L", 2)
s|replace("", "-")
s|replace("o", "")
"aaa"|replace("aa", "b")
12321|replace("2", "x")
"a\nb\n\nc"|indent
"a\nb\n\nc"|indent(2, true)
"a\nb\n\nc\n"|indent(2, blank=true)
"a\nb"|indent("> ")
"a\nb"|indent(width=3, first=true)
text|indent(2)
"42"|int
" 42 "|int
"4_2"|int
"-0042"|int
"x"|int
"x"|int(9)
"x"|int(default=-1)
"3.9"|int
"1e3"|int
3.99|int
-3.99|int
"ff"|int(0, 16)
"0xff"|int(0, 16)
"101"|int(0, 2)
z|int
t|int
l|int(5)
"2.50"|float
"x"|float
"x"|float(1.5)
"inf"|float
"-1e-3"|float
3|float
2.5|round
3.5|round
2.675|round(2)
1234.5678|round(2)
2.1|round(0, "ceil")
-2.5|round(method="floor")
7|round
5|abs
-5|abs
-2.5|abs
true|abs
-3|abs ~ -m|abs
"[1, 2.5, \"x\\u00e9\\n\", null, true, {\"k\": []}]"|from_json
"{\"a\": 1}"|from_json|tojson
"%s is %d or %5.2f|%-6s|%06.1f|%x|%+d|%%"|format("pi", 3, 3.14159, "ab", 2.5, 255, 4)
"%(a)s-%(b)r"|format(a=1, b="x")
"%s %s" % (1, "two")
"%r" % "q"
"%5s|%-5s|" % ("ab", "cd")
"%d" % 3.7
"%.3s" % "abcdef"
"{} {}".format(1, "two")
"{1} {0} {name}".format("a", "b", name="c")
"{:>6}|{:<6}|{:^6}|{:06.2f}|{:,}|{:x}|{:+d}|{:e}|{:.1%}".format("ab", "cd", "ef", 3.14159, 1234567, 255, 5, 12345.678, 0.256)
"{{}} {!r:>5}".format("x")
"{:*^9}".format("mid")
"{:5}|{:5}".format(42, "ab")
"{}".format(none) ~ "{}".format(1.0) ~ "{}".format(true)
s.upper()
s.lower()
"  x ".strip() ~ "|"
"  x ".lstrip() ~ "|"
"  x ".rstrip() ~ "|"
"xxabxx".strip("x")
"<think>a</think>b".split("</think>")[-1]
"<think>a</think>b".split("</think>")[0].split("<think>")[-1].lstrip("\n")
"a,b,,c".split(",")
"a b  c\t\nd ".split()
"a,b,c".split(",", 1)
" a b c ".split(none, 1)
"".split()
"".split(",")
"abc".split("")|default("x") if false else "skip"
s.startswith("Hello")
s.endswith("x")
s.startswith(("x", "He"))
s.replace("World", "you")
s.replace("l", "1", 1)
s.title()
"they're bill's".title()
"hELLO".capitalize()
"a-b-a".find("b")
u.find("\u4e16")
s.find("zz")
"banana".count("an")
",".join(["a", "b"])
"ab\ncd\r\nef".splitlines()
"pre-x".removeprefix("pre-")
"x.txt".removesuffix(".txt")
d.get("b")
d.get("zz")
d.get("zz", 5)
d.keys()|list
d.values()|list
d.items()|list
d.items()|length
{"items": 1}["items"]
{"items": 1}.items is defined
[1, 2, 1].count(1)
[1, 2, 3].index(2)
(4, 5).index(5)
s.nope is defined
s.split is defined
z.anything is defined
undefined_name is defined
undefined_name is undefined
z is none
z is not none
n is number
f is number
t is number
s is number
n is integer
t is integer
f is float
t is boolean
n is boolean
s is string
n is string
l is string
d is mapping
l is mapping
l is iterable
s is iterable
d is iterable
n is iterable
z is iterable
l is sequence
s is sequence
d is sequence
n is sequence
z is sequence
undefined_name is iterable
undefined_name is sequence
n is odd
n is even
n is divisibleby 7
n is divisibleby(2)
n is eq 7
n is equalto(7)
n is ne 7
n is gt 6
n is lt(6)
n is ge 7
n is le 7
"a" is in ["a"]
n is in(l)
t is true
n is true
false is false
"abc" is lower
"ABC" is upper
"aB1" is lower
"123" is upper
l is sameas l
1 is sameas 1
"upper" is filter
"nope" is filter
"defined" is test
range is callable
n is callable
not n is odd
n is odd and f is float
n is not odd or t
range(5)|list
range(2, 8, 3)|list
range(5, 0, -2)|list
range(0)|list
range(3)|length
range(10)[2:4]|list
dict(a=1, b="x")
dict({"a": 1}, b=2)
namespace(a=1).a
namespace({"q": 2}).q
strftime_now("%d %b %Y")
strftime_now("%Y-%m-%d %H:%M:%S")
strftime_now("%A, %B %d, %Y %I:%M %p %j %y %% %a %-d %e %F %T %D %R %w %u")
strftime_now("%c|%x|%X|%-m|%-H|%_d|%n|%t|")
"%s" % l
[l, l][0][0]
(1, 2)[0]
[[1, 2], [3]]|map("length")|list
s|upper|lower|title
(s ~ "!")|length
-n|abs
n|string|length
w|join(",")|replace("a", "x")
d.a[1].x
d["a"][0] + 1
p[0].name ~ p[-1]["name"]
[1, 2, 3,]
{"a": 1,}
dict(a=1,)
(1, 2,)|length
"\u00e9" == "\u00e9"
1 == "1"
[] == {}
none in [none]
1.0 in [1]
true in [1]
"%s" % none
"a" + "b" * 2
"a" < "b" and "c" > "b"
1 if 1 > 2 else 2 if 2 > 3 else 3
{"a": {"b": 1}}.a.b
{"a": {"b": {"c": {}}}}
""|default("x", true)|upper
loop is defined
caller is defined
tools is defined
s[1:][:3]
s[n:m]
s[none:3]
l[n]|default("none")
l[0:n:1]
"x"|safe ~ "<b>"
"a"|attr("upper") is callable
"abc"[1]|upper
{"k": "v"}|attr("k") is undefined
10 is divisibleby 5 and 3 in [3]
1 in [1] and 2 in [2]
1 == 1 in [true]
[x for_not_python] is defined if false else 1
""".strip().split("\n")
EXPRESSIONS = [e for e in EXPRESSIONS if "for_not_python" not in e]

# What stands between two tags is part of the test, so these are given as they are.
STATEMENTS = [
    ("{% set x %}{{ '<a>'|safe }}{% endset %}{{ x + '<' }}", V),
    ("{% macro m() %}{{ '<a>'|safe }}{% endmacro %}{{ m() + '<' }}", V),
    ("{% for c in '<a>'|safe %}{{ c + '<' }}{% endfor %}", V),
    ("{{ \"Use '\"|safe + s + \"' <to> '\"|safe + d['C'] + d|tojson }}", V),
    ("", {}),
    ("plain text", {}),
    ("a\n", {}),
    ("a\n\n", {}),
    ("a\r\nb\rc\n", {}),
    ("{{ 1 }}\n{{ 2 }}\n", {}),
    ("  {% if true %}\n  x\n  {% endif %}\n  y", {}),
    ("{% if true %}\n  {% if true %}\n\t{# c #}\n  {% raw %}\n r{% endraw %}\n  {% endif %}\n  {% endif %}\n .", {}),
    ("{{ 1 }}  {% if true %}x{% endif %}  {% if true %}\n  {{ 2 }}\n {%- endif %}", {}),
    ("{% if true -%}\n  {% if true %}y{% endif %}{% endif %}", {}),
    ("a {% if true %} b {% endif %} c", {}),
    ("a\n  {%- if true -%}  \n b \n {%- endif %}\n c", {}),
    ("a\n  {%+ if true %}\n b\n {%+ endif +%}\n c", {}),
    ("a {#- comment -#} b {# x #}\nc\n  {# y #}\nd {#+ z +#}\n e", {}),
    ("{# {{ not }} {% parsed %} #}x", {}),
    ("x  {{- 1 -}}  y {{+ 2 }} z", {}),
    ("\t \n\u00a0{%- set x = 1 -%}\u2003 \n{{ x }}", {}),
    ("{% raw %}{{ x }} {% if %}{% endraw %}y", {}),
    ("a\n  {%- raw -%}  {{ x }}\n  {%- endraw -%}  b", {}),
    ("  {% raw %}\n a\n  {% endraw %}\n b", {}),
    ("{{ '}}' }}{{ '%}' }}{{ {'a': {'b': 1}} }}", {}),
    ("{{ {'a': {'b': {'c': 1}}}['a']}}", {}),
    ("{{{'a': 1}.a}}", {}),
    ("{ { % # } %} }} {", {}),
    ("{% for x in l %}{{ x }},{% endfor %}", {"l": [1, 2, 3]}),
    ("{% for x in l %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}"
     "{{ loop.first }}{{ loop.last }}{{ loop.length }} {% endfor %}", {"l": ["a", "b", "c"]}),
    ("{% for x in l %}[{{ loop.previtem }}<{{ x }}>{{ loop.nextitem }}]{% endfor %}", {"l": [1, 2, 3]}),
    ("{% for x in l %}{{ loop.previtem is defined }}{{ loop.nextitem is defined }} {% endfor %}", {"l": [1, 2]}),
    ("{% for x in l %}{{ loop.cycle('odd', 'even') }} {% endfor %}", {"l": [1, 2, 3]}),
    ("{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}", {"d": {"b": 1, "a": 2}}),
    ("{% for k, v in d|dictsort %}{{ k }}={{ v }};{% endfor %}", {"d": {"b": 1, "a": 2}}),
    ("{% for (a, b) in l %}{{ a + b }} {% endfor %}", {"l": [[1, 2], [3, 4]]}),
    ("{% for a, b, c in l %}{{ c }}{{ b }}{{ a }} {% endfor %}", {"l": [[1, 2, 3], "xyz"]}),
    ("{% for k in d %}{{ k }} {% endfor %}", {"d": {"b": 1, "a": 2}}),
    ("{% for c in s %}{{ c }}.{% endfor %}", {"s": "h\u00e9\U0001f600"}),
    ("{% for x in l if x is odd %}{{ loop.index }}:{{ x }}/{{ loop.length }} {% endfor %}", {"l": [1, 2, 3, 5]}),
    ("{% for x in l if x > 9 %}{{ x }}{% else %}none{% endfor %}", {"l": [1, 2]}),
    ("{% for x in [] %}a{% else %}b{% endfor %}{% for x in [1] %}c{% else %}d{% endfor %}", {}),
    ("{% for x in missing %}a{% else %}b{% endfor %}", {}),
    ("{% for x in l %}{% if x == 3 %}{% break %}{% endif %}{{ x }}{% endfor %}!", {"l": [1, 2, 3, 4]}),
    ("{% for x in l %}{% if x == 2 %}{% continue %}{% endif %}{{ x }}{% endfor %}!", {"l": [1, 2, 3, 4]}),
    ("{% for x in l %}{% for y in l %}{% if y > x %}{% break %}{% endif %}{{ x }}{{ y }} {% endfor %}{% endfor %}",
     {"l": [1, 2, 3]}),
    ("{% for x in l %}{% for y in [1, 2] %}{{ loop.index }}{% endfor %}-{{ loop.index }} {% endfor %}", {"l": [1, 2]}),
    ("{% for x in l %}{% set outer = loop %}{% for y in [1] %}{{ outer.index }}{% endfor %}{% endfor %}", {"l": [7, 8]}),
    ("{% for i in range(3) %}{{ i }}{% endfor %}{% for i in range(3, 0, -1) %}{{ i }}{% endfor %}", {}),
    ("{% for x in l[::-1] %}{{ x }}{% endfor %}", {"l": [1, 2, 3]}),
    ("{% for x in l[1:] %}{{ x }}{% endfor %}", {"l": [1, 2, 3]}),
    ("{% for x in 1, 2, 3 %}{{ x }}{% endfor %}", {}),
    ("{% for x in (l if t else []) %}{{ x }}{% endfor %}", {"l": [1], "t": True}),
    ("{% for x in l %}{% set y = x %}{% endfor %}{{ y is defined }}", {"l": [1]}),
    ("{% set y = 0 %}{% for x in l %}{% set y = y + x %}{{ y }} {% endfor %}{{ y }}", {"l": [1, 2]}),
    ("{% for x in l %}{{ y }}{% set y = x %}{{ y }} {% endfor %}", {"l": [1, 2]}),
    ("{% if a %}{% set y = 1 %}{% else %}{% set y = 2 %}{% endif %}{{ y }}", {"a": True}),
    ("{% if a == 1 %}one{% elif a == 2 %}two{% elif a == 3 %}three{% else %}many{% endif %}", {"a": 3}),
    ("{% if a == 1 %}one{% elif a == 2 %}two{% else %}many{% endif %}", {"a": 9}),
    ("{% if not a and (b or c) %}x{% endif %}", {"a": False, "b": 0, "c": [1]}),
    ("{% if missing %}x{% endif %}{% if missing is defined and missing.x %}y{% endif %}z", {}),
    ("{% set a, b = 1, 2 %}{{ a }}{{ b }}", {}),
    ("{% set a = 1, 2 %}{{ a }}", {}),
    ("{% set (a, b) = [3, 4] %}{{ a + b }}", {}),
    ("{% set x %}a{{ 1 + 1 }}\nb{% endset %}[{{ x }}]{{ x is string }}", {}),
    ("{% set x | upper | trim %} abc {% endset %}[{{ x }}]", {}),
    ("{% set x %}{% set y = 1 %}{{ y }}{% endset %}{{ x }}{{ y is defined }}", {}),
    ("{% set ns = namespace(n=0, found=false) %}{% for x in l %}{% set ns.n = ns.n + x %}{% endfor %}"
     "{{ ns.n }}{{ ns.found }}", {"l": [1, 2, 3]}),
    ("{% set ns = namespace() %}{% set ns.a = [] %}{{ ns.a }}{{ ns.b is defined }}", {}),
    ("{% set ns = namespace(l=[]) %}{% for x in l %}{% set ns.l = ns.l + [x * 2] %}{% endfor %}{{ ns.l }}", {"l": [1, 2]}),
    ("{% set ns = namespace(x=1) %}{% set ns.x %}block{% endset %}{{ ns.x }}", {}),
    ("{% macro f(a, b=2, c='x') %}{{ a }}{{ b }}{{ c }};{% endmacro %}{{ f(1) }}{{ f(1, 3) }}{{ f(1, c='z') }}"
     "{{ f(b=5, a=4) }}{{ f() }}", {}),
    ("{% macro f(a, b=a + 1) %}{{ a }}{{ b }}{% endmacro %}{{ f(1) }}", {}),
    ("{% macro f(n) %}{{ n }}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(5) }}", {}),
    ("{% macro f() %}{{ g() }}{% endmacro %}{% macro g() %}G{% endmacro %}{{ f() }}", {}),
    ("{% set x = 1 %}{% macro f() %}{{ x }}{% endmacro %}{% set x = 2 %}{{ f() }}", {}),
    ("{% macro f(x) %}{% set x = x ~ '!' %}{{ x }}{% endmacro %}{% set x = 'o' %}{{ f('i') }}{{ x }}", {}),
    ("{% macro f() %}  padded  {% endmacro %}[{{ f()|trim }}]{{ f()|length }}", {}),
    ("{% macro f(l) %}{% for x in l %}{{ loop.index }}{{ x }}{% endfor %}{% endmacro %}{{ f(['a', 'b']) }}", {}),
    ("{% macro f() %}<{{ caller() }}>{% endmacro %}{% call f() %}body{% endcall %}", {}),
    ("{% macro f(l) %}{% for x in l %}{{ caller(x, loop.index) }}{% endfor %}{% endmacro %}"
     "{% call(a, i=0) f([5, 6]) %}({{ a }}@{{ i }}){% endcall %}", {}),
    ("{% filter upper %}abc {{ 'def' }}{% endfilter %}", {}),
    ("{% filter replace('a', 'b') | upper %}banana{% endfilter %}", {}),
    ("{% with a = 1, b = a %}{{ a }}{{ b }}{% endwith %}{{ a is defined }}", {}),
    ("{% with %}{% set q = 1 %}{{ q }}{% endwith %}{{ q is defined }}", {}),
    ("{% generation %}said{% set q = 1 %}{% endgeneration %}{{ q is defined }}", {}),
    ("{% for x in l %}{% generation %}{{ x }}{{ loop.index }}{% endgeneration %}{% endfor %}", {"l": [8, 9]}),
    ("{{ missing }}|{{ d.missing }}|{{ none }}|{{ true }}|{{ 1.0 }}|{{ [] }}", {"d": {}}),
    ("{{ 1, 2 }}", {}),
    ("{{ messages[0]['role'] + ': ' + messages[0].content | trim + '!' }}",
     {"messages": [{"role": "user", "content": "  hi  "}]}),
    ("{{ bos }}{% for m in messages %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}"
     "{{ raise_exception('alternate') }}{% endif %}{{ m.role }}{% endfor %}",
     {"bos": "<s>", "messages": [{"role": "user"}, {"role": "assistant"}]}),
    ("{% set l = [1] %}{% set _ = l.append(2) %}{{ l }}{{ l.pop() }}{{ l }}", {}),
    ("{% set l = [3, 4, 5] %}{{ l.pop(0) }}{% set _ = l.extend([6]) %}{% set _ = l.insert(1, 'i') %}{{ l }}", {}),
    ("{% set d = {'a': 1} %}{{ d.pop('a') }}{{ d.pop('a', 'gone') }}{% set _ = d.update({'z': 2}) %}{{ d }}", {}),
    ("{% set a = [1] %}{% set b = a %}{% set _ = b.append(2) %}{{ a }}", {}),
    ("{{ d['items'] }}{{ d.get('keys') }}", {"d": {"items": [1], "keys": 2}}),
    ("{%- set ns = namespace(multi=true, last=messages|length - 1) -%}\n{%- for m in messages[::-1] %}\n"
     "{%- set i = (messages|length - 1) - loop.index0 -%}\n{%- if ns.multi and m.role == 'user' %}\n"
     "{%- set ns.multi = false -%}\n{%- set ns.last = i -%}\n{%- endif %}\n{%- endfor %}\n{{ ns.last }}",
     {"messages": [{"role": "user"}, {"role": "user"}, {"role": "tool"}]}),
    ("{{ '<' }}\n{%- for c in content %}\n{%- if c.type == 'text' %}\n{{- c.text }}\n{%- endif %}\n{%- endfor %}\n",
     {"content": [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]}),
    ("{%- if content is string -%}S{%- elif content is iterable and content is not mapping -%}L"
     "{%- else -%}?{%- endif -%}", {"content": [1]}),
    ("{{ x if x is defined and x is not none else 'd' }}", {"x": None}),
    ("{{ (x | default([], true)) | length }}", {"x": None}),
    ("{{ \"a\" if \"b\" in \"abc\" and not \"z\" in \"abc\" }}", {}),
    ("{{ (a.b.c is defined) if a.b is defined else 'no' }}", {"a": {}}),
    ("{{ 'a\\\nb' }}{{ \"x\ny\" }}", {}),
    ("{%for x in [1]%}{{x}}{%endfor%}{%if 1%}y{%endif%}", {}),
    ("{% if x is none or x == '' %}E{% endif %}", {"x": ""}),
    ("{{ 'a' 'b' ~ 'c' }}{{ -1 }}{{- 2 }}", {}),
    ("{% set x = 'a' if false %}{{ x is defined }}", {}),
    ("{% for m in ms %}{{ '[' ~ loop.index ~ ']' if loop.length > 1 }}{{ m }}{{ ', ' if not loop.last }}{% endfor %}",
     {"ms": ["x", "y"]}),
    ("{{ x.y['z'].split('-')[1:] | join('+') | upper }}", {"x": {"y": {"z": "a-b-c"}}}),
    ("{{ tool | tojson(indent=4) }}", {"tool": {
        "name": "f", "parameters": {"type": "object", "properties": {"q": {"type": "string", "enum": ["a", "\u00e9"]}},
                                    "required": ["q"]}}}),
    ("{% for k, v in args|items %}{{ k }}: {{ v if v is string else v|tojson }}\n{% endfor %}",
     {"args": {"city": "Paris", "n": 2, "deep": {"a": [1, None, True]}}}),
]

RENDERED = [("{{ " + e + " }}", V) for e in EXPRESSIONS] + STATEMENTS

FAILING = [(t, V) for t in r"""
{{
{% if true %}
{% for x in l %}
{% endif %}
{% else %}
{{ 1 + }}
{{ (1 }}
{{ [1, 2 }}
{{ 1 2 }}
{{ "abc }}
{# open
{% raw %} x
{% nonsense %}
{% include "x" %}
{{ "x"|nonsense }}
{{ 1 is nonsense }}
{{ undefined_name.x }}
{{ undefined_name + 1 }}
{{ undefined_name() }}
{{ undefined_name["x"] }}
{{ d.missing.more }}
{{ 1 + "a" }}
{{ "a" + 1 }}
{{ "a" - "b" }}
{{ [1] + (2,) }}
{{ none + 1 }}
{{ 1 < "a" }}
{{ none < none }}
{{ [1, "a"]|sort }}
{{ 1 / 0 }}
{{ 1 // 0 }}
{{ 1 % 0 }}
{{ none|length }}
{{ 5|length }}
{{ 5|list }}
{{ 5|join }}
{% for x in 5 %}{% endfor %}
{% for x in none %}{% endfor %}
{% for a, b in [[1]] %}{% endfor %}
{% set a, b = 1 %}
{% set d.x = 1 %}
{% break %}
{{ 1 in 5 }}
{{ 1 in "a" }}
{{ s() }}
{{ "a".nope() }}
{{ s.split("") }}
{{ l[::0] }}
{{ [] in {} }}
{{ {[]: 1} }}
{{ undefined_name|tojson }}
{{ range|tojson }}
{{ raise_exception("no") }}
{% macro f(a) %}{% endmacro %}{{ f(1, 2) }}
{% macro f(a) %}{% endmacro %}{{ f(b=2) }}
{% macro f(a) %}{% endmacro %}{{ f(1, a=2) }}
{% macro f(a=1, b) %}{% endmacro %}
{{ "%d" % "x" }}
{{ "%s %s" % (1,) }}
{{ "%s" % (1, 2) }}
{{ "{} {}".format(1) }}
{{ "{".format(1) }}
{{ "x"|replace("a") }}
{{ "x"|trim("a", "b") }}
{{ d|dictsort(by="nonsense") }}
{{ [1]|map|list }}
{{ [1]|map("nonsense")|list }}
{{ [1]|select("nonsense")|list }}
{{ "[1,"|from_json }}
{{ "\x4" }}
{{ namespace(1) }}
{{ range(1, 2, 0) }}
{{ n is odd is even }}
{% set true = 1 %}
{{ "a" "b" 1 }}
{{ l.pop(9) }}
{{ d.pop("zz") }}
{{ (1, 2).append(3) }}
{{ l.index(99) }}
{{ z.strip() }}
{{ -"a" }}
{{ not }}
{{ . }}
{{ ! }}
{{ undefined_name|int }}
{{ n|round(0, "nonsense") }}
{{ f(a=1, 2) }}
""".strip().split("\n")]
