// A template is a stranger's program: whatever it does, a render ends soon, with text or an error.
#include <gtest/gtest.h>

#include <array>

#include "text/jinja/interpreter.h"
#include "text/jinja/json_read.h"
#include "text/jinja/parser.h"

namespace kvik::jinja {
namespace {

Result<std::string> rendered(const std::string& source, const Limits& limits = {}) {
    KVIK_TRY(const Program program, parse(source, limits));
    Heap heap(limits);
    KVIK_TRY(MarkedText text, render(program, heap, {}));
    return std::move(text.text);
}

std::string error_of(const std::string& source, const Limits& limits = {}) {
    const Result<std::string> got = rendered(source, limits);
    return got ? "no error, " + std::to_string(got->size()) + " bytes" : got.error().message;
}

std::string times(std::string_view text, size_t n) {
    std::string out;
    for (size_t i = 0; i < n; ++i) out += text;
    return out;
}

void expect_error(const std::string& source, std::string_view part) {
    const std::string message = error_of(source);
    EXPECT_NE(message.find(part), std::string::npos)
        << source.substr(0, 200) << "\n  " << message << "\n  lacks: " << part;
}

TEST(JinjaLimits, refuse_a_source_over_256_kib) {
    EXPECT_TRUE(rendered(std::string(256 * 1024, 'x')));
    expect_error(std::string(256 * 1024 + 1, 'x'), "262145 bytes, the limit is 262144");
}

TEST(JinjaLimits, end_a_render_after_so_many_steps) {
    expect_error("{% for a in range(1000) %}{% for b in range(1000) %}{% endfor %}{% endfor %}",
                 "more than 1000000 steps");
    expect_error("{% for a in range(99999999999) %}{% endfor %}", "steps");
    expect_error("{{ [1, 2, 3] * 99999999 }}", "steps");
    expect_error("{% for c in 'ab' * 1000000 %}{% endfor %}", "steps");
}

TEST(JinjaLimits, let_a_render_take_just_so_many_steps) {
    // for: 1, its range: 3 + 10 + 10 items, its rounds: 10 * (1 + text 1)
    std::string source = "{% for a in range(10) %}x{% endfor %}";
    uint64_t enough = 1;
    while (!rendered(source, {.n_steps = enough})) ++enough;
    EXPECT_GE(enough, 20u);
    EXPECT_LE(enough, 100u);
}

TEST(JinjaLimits, refuse_a_text_over_16_mib) {
    expect_error("{% set x = 'x' * 16777217 %}", "over 16777216 bytes");
    expect_error(
        "{% set ns = namespace(x='x') %}{% for i in range(40) %}"
        "{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
        "over 16777216 bytes");
    expect_error("{% set x = 'x' * 9000000 %}{{ x }}{{ x }}", "over 16777216 bytes");
}

TEST(JinjaLimits, refuse_what_multiplies_a_text) {
    expect_error("{{ 'x' * 9999999999 }}", "over 16777216 bytes");
    expect_error("{% set x = 'x' * 100000 %}{{ x|replace('x', x) }}", "over 16777216 bytes");
    expect_error("{% set x = 'x' * 100000 %}{{ x|join(x) }}", "bytes");
    expect_error("{{ 'a\nb'|indent(99999999) }}", "over 16777216 bytes");
    expect_error("{{ [[[[1]]]]|tojson(indent=9999999) }}", "over 16777216 bytes");
    expect_error("{{ '%9999999d' % 1 }}", "too large");
    expect_error("{{ '{:9999999}'.format(1) }}", "over 1048576");
    expect_error("{% set x = '%s' * 1000 %}{% set y = 'y' * 100000 %}{{ x|format(y) }}",
                 "more places than values");
}

TEST(JinjaLimits, bound_the_bytes_of_all_operations_together) {
    expect_error(
        "{% set x = 'x' * 1000000 %}{% for i in range(1000) %}"
        "{% set y = x|replace('x', 'y') %}{% endfor %}",
        "more than 134217728 bytes");
    expect_error(
        "{% set x = 'x' * 1000000 %}{% for i in range(1000) %}"
        "{% set y = 'q' in x %}{% endfor %}",
        "more than 134217728 bytes");
    expect_error(
        "{% set x = '\u00e9' * 1000000 %}{% for i in range(100000) %}"
        "{% set y = x[i] %}{% endfor %}",
        "more than 134217728 bytes");
    expect_error(
        "{% set l = ['x' * 1000000, 'x' * 1000000] %}{% for i in range(1000) %}"
        "{% set y = l|sort %}{% endfor %}",
        "more than 134217728 bytes");
}

TEST(JinjaLimits, search_in_linear_time) {
    // 4 million letters looked for in 8 million: one letter at a time, 10^13 steps.
    EXPECT_EQ(rendered("{% set a = 'a' * 8000000 %}{% set b = 'a' * 4000000 ~ 'b' %}"
                       "{{ b in a }}{{ a.count(b) }}{{ a.find(b) }}{{ a.split(b)|length }}")
                  .value(),
              "False0-11");
}

TEST(JinjaLimits, refuse_a_source_nested_deeper_than_128) {
    for (const auto& [open, inside, close] :
         std::vector<std::array<const char*, 3>>{{"(", "1", ")"},
                                                 {"[", "1", "]"},
                                                 {"{1:", "1", "}"},
                                                 {"not ", "1", ""},
                                                 {"- ", "1", ""},
                                                 {"1 if 1 else ", "1", ""},
                                                 {"x[", "1", "]"},
                                                 {"f(", "1", ")"},
                                                 {"1|default(", "1", ")"},
                                                 {"1 is eq [", "1", "]"}}) {
        const auto nested = [&, o = open, i = inside, c = close](size_t n) {
            return "{% if false %}{{ " + times(o, n) + i + times(c, n) + " }}{% endif %}";
        };
        EXPECT_TRUE(rendered(nested(60))) << open << ": " << error_of(nested(60));
        expect_error(nested(129), "nested deeper than 128");
        expect_error(nested(20000), "nested deeper than 128");
    }
}

TEST(JinjaLimits, refuse_blocks_nested_deeper_than_128) {
    for (const auto& [open, close] :
         std::vector<std::array<const char*, 2>>{{"{% if 1 %}", "{% endif %}"},
                                                 {"{% for x in [1] %}", "{% endfor %}"},
                                                 {"{% set x %}", "{% endset %}"},
                                                 {"{% macro f() %}", "{% endmacro %}"},
                                                 {"{% with %}", "{% endwith %}"},
                                                 {"{% filter upper %}", "{% endfilter %}"},
                                                 {"{% call f() %}", "{% endcall %}"}}) {
        expect_error(times(open, 130) + times(close, 130), "nested deeper than 128");
        expect_error(times(open, 12000), "nested deeper than 128");
    }
}

TEST(JinjaLimits, take_chains_of_any_length) {
    EXPECT_EQ(rendered("{{ " + times("1 + ", 9999) + "1 }}").value(), "10000");
    EXPECT_EQ(rendered("{{ 'a'" + times("|upper", 9999) + " }}").value(), "A");
    EXPECT_EQ(rendered("{{ 0" + times(" or 0", 9999) + " }}").value(), "0");
    EXPECT_EQ(
        rendered("{% if 0 %}" + times("{% elif 0 %}", 9999) + "{% else %}e{% endif %}").value(),
        "e");
}

TEST(JinjaLimits, end_a_macro_that_calls_itself) {
    expect_error("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "nested deeper than 128");
    expect_error("{% macro f(n=f()) %}{% endmacro %}{{ f() }}", "nested deeper than 128");
    expect_error(
        "{% macro f() %}{{ caller() }}{% endmacro %}"
        "{% macro g() %}{% call f() %}{{ g() }}{% endcall %}{% endmacro %}{{ g() }}",
        "nested deeper than 128");
}

TEST(JinjaLimits, take_macros_that_recurse_a_dozen_deep) {
    EXPECT_EQ(rendered("{% macro f(n) %}{% if n %}{% for x in [1] %}{{ '(' ~ f(n - 1) ~ ')' }}"
                       "{% endfor %}{% endif %}{% endmacro %}{{ f(12) }}")
                  .value(),
              times("(", 12) + times(")", 12));
}

TEST(JinjaLimits, count_the_call_the_body_and_the_block_of_each_recursion) {
    const auto recursion = [](int n) {
        return "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(" +
               std::to_string(n) + ") }}";
    };
    int deepest = 0;
    while (rendered(recursion(deepest + 1))) ++deepest;
    EXPECT_GE(deepest, 20);
    EXPECT_LE(deepest, 128 / 3);
}

TEST(JinjaLimits, survive_a_list_that_contains_itself) {
    const std::string knot =
        "{% set l = [] %}{% set _ = l.append(l) %}"
        "{% set m = [] %}{% set _ = m.append(m) %}";
    expect_error(knot + "{{ l }}", "nested deeper than 128");
    expect_error(knot + "{{ l|tojson }}", "nested deeper than 128");
    expect_error(knot + "{{ l == m }}", "nested deeper than 128");
    expect_error(knot + "{{ l < m }}", "nested deeper than 128");
    EXPECT_EQ(rendered(knot + "{{ l|length }}{{ l == l }}").value(), "1True");
}

TEST(JinjaLimits, survive_lists_that_share_their_parts) {
    // 2^100 leaves in 100 lists.
    const std::string wide =
        "{% set a = namespace(x=[], y=[]) %}{% for i in range(100) %}"
        "{% set a.x = [a.x, a.x] %}{% set a.y = [a.y, a.y] %}{% endfor %}";
    expect_error(wide + "{{ a.x == a.y }}", "steps");
    expect_error(wide + "{{ a.x }}", "steps");
    expect_error(wide + "{{ a.x|tojson }}", "steps");
}

TEST(JinjaLimits, free_what_is_nested_fifty_thousand_deep) {
    EXPECT_EQ(rendered("{% set a = namespace(x=[]) %}{% for i in range(50000) %}"
                       "{% set a.x = [a.x] %}{% endfor %}{{ a.x|length }}")
                  .value(),
              "1");
}

TEST(JinjaLimits, refuse_json_nested_deeper_than_128) {
    expect_error("{{ ('[' * 128 ~ ']' * 128)|from_json|length }}", "no error");
    expect_error("{{ ('[' * 129 ~ ']' * 129)|from_json }}", "JSON nested deeper than 128");
    expect_error("{{ ('[' * 1000000)|from_json }}", "JSON nested deeper than 128");
    expect_error("{{ ('{\"a\":' * 1000000)|from_json }}", "JSON nested deeper than 128");
}

TEST(JinjaLimits, compute_past_64_bits_and_refuse_what_python_would_not_write) {
    for (const auto& [source, digits] : std::vector<std::pair<const char*, const char*>>{
             {"9223372036854775807 + 1", "9223372036854775808"},
             {"-9223372036854775807 - 2", "-9223372036854775809"},
             {"9223372036854775807 * 2", "18446744073709551614"},
             {"2 ** 63", "9223372036854775808"},
             {"(-9223372036854775807 - 1) // -1", "9223372036854775808"},
             {"-(-9223372036854775807 - 1)", "9223372036854775808"},
             {"(-9223372036854775807 - 1)|abs", "9223372036854775808"},
             {"9223372036854775808", "9223372036854775808"},
             {"1e20|int", "100000000000000000000"}}) {
        EXPECT_EQ(rendered("{{ " + std::string(source) + " }}").value(), digits);
    }
    expect_error("{{ 10 ** 4300 }}", "more than 4300 digits");
    expect_error("{{ 1" + std::string(4300, '0') + " }}", "more than 4300 digits");
    expect_error("{{ '1" + std::string(4300, '0') + "'|from_json }}", "more than 4300 digits");
    expect_error("{{ 2 ** 70000 }}", "more than 65536 bits");
    expect_error("{{ (2 ** 64) ** (2 ** 64) }}", "more than 65536 bits");
    expect_error("{{ 10 ** 400 / 1 }}", "too large for a float");
    expect_error("{{ 10 ** 400 + 1.5 }}", "too large for a float");
    expect_error("{% for i in range(1000) %}{% set n = 3 ** 40000 %}{% endfor %}", "1000000");
    EXPECT_EQ(rendered("{{ (-9223372036854775807 - 1) % -1 }}").value(), "0");
    EXPECT_EQ(rendered("{{ -9223372036854775807 - 1 }}").value(), "-9223372036854775808");
    EXPECT_EQ(rendered("{{ 'abc'[::-9223372036854775807 - 1] }}").value(), "c");
    EXPECT_EQ(rendered("{{ 'abc'[-9223372036854775807 - 1:9223372036854775807] }}").value(), "abc");
}

TEST(JinjaLimits, count_lines_past_everything_a_tag_eats) {
    EXPECT_EQ(error_of("a\n{% if 1 -%}\n\n {#\n#}\n{% endif %}\n  {{ 1 + none }}"),
              "chat template, line 7 column 8: + does not go between int and NoneType");
    EXPECT_EQ(error_of("\r\n\r{{ x.y }}"), "chat template, line 3 column 5: 'x' is undefined");
}

TEST(JinjaLimits, compare_lists_nested_far_below_the_limit) {
    const auto nested = [](char leaf) {
        return std::string(40, '[') + leaf + std::string(40, ']');
    };
    EXPECT_EQ(rendered("{{ " + nested('1') + " < " + nested('2') + " }}").value(), "True");
}

TEST(JinjaLimits, refuse_a_key_of_tuples_nested_deeper_than_128) {
    const std::string source =
        "{% set n = namespace(t=()) %}{% for i in range(1000) %}{% set n.t = (n.t,) %}{% endfor %}"
        "{{ {n.t: 1} }}";
    EXPECT_NE(error_of(source).find("nested deeper than 128"), std::string::npos);
}

}  // namespace
}  // namespace kvik::jinja
