// The marking law: the bytes called untrusted are exactly those that came from contents.
//
// Contents are written in letters that no template uses and that no operation makes out of others,
// so the letters of the output say by themselves where each byte came from.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "text/chat_template.h"

namespace kvik {
namespace {

// v w x y z and e acute, in both cases.
std::vector<bool> written_in_contents_letters(const std::string& text) {
    std::vector<bool> out(text.size());
    for (size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        out[i] = byte >= 0x80 || ((byte | 0x20) >= 'v' && (byte | 0x20) <= 'z');
    }
    return out;
}

std::vector<bool> called_untrusted(const MarkedText& text) {
    std::vector<bool> out(text.text.size());
    for (const ByteRange& range : text.untrusted) {
        for (size_t i = range.begin; i < range.end; ++i) out[i] = true;
    }
    return out;
}

class Writer {
  public:
    explicit Writer(uint64_t seed) : random_(seed) {}

    // Statements that write things, none of which contains a content's letter itself.
    std::string body(int depth) {
        std::string out;
        for (int i = 0; i < 3; ++i) out += statement(depth);
        return out;
    }
    size_t below(size_t n) { return random_() % n; }

  private:
    std::string pick(std::initializer_list<const char*> choices) {
        return choices.begin()[below(choices.size())];
    }

    std::string statement(int depth) {
        if (depth <= 0) return "{{ " + text(0) + " }}";
        const std::string inner = text(depth - 1);
        switch (below(8)) {
            case 0:
                return "{% for c in " + list(depth - 1) + " %}[{{ c|lower }}" +
                       statement(depth - 1) + "]{% endfor %}";
            case 1:
                return "{% set s %}<|" + statement(depth - 1) + "|>{% endset %}{{ s[1:-1] }}";
            case 2:
                return "{% filter lower %}" + statement(depth - 1) + "{% endfilter %}";
            case 3:
                return "{% set n.a = n.a[-40:] ~ " + inner + " %}{{ n.a }}";
            case 4:
                return "{% if " + inner + " > 'b' %}" + statement(depth - 1) + "{% else %}d" +
                       statement(depth - 1) + "{% endif %}";
            case 5:
                return "{{ m(" + inner + ", b=" + text(depth - 1) + ") }}";
            default:
                return "{{ " + inner + " }}";
        }
    }

    std::string content() { return "messages[" + std::to_string(below(4)) + "].content"; }

    std::string text(int depth) {
        if (depth <= 0) {
            return below(2) ? content()
                            : pick({"'ab'", "'<|'", "'C d'", "''", "' a '", "'|>'", "role"});
        }
        const std::string a = text(depth - 1);
        switch (below(9)) {
            case 0:
                return "(" + a + pick({" ~ ", " + "}) + text(depth - 1) + ")";
            case 1:
                return "(" + a + ")|" +
                       pick({"upper", "lower", "capitalize", "title", "trim", "trim('u b')",
                             "reverse", "string", "indent(2, true)", "safe", "e2", "tojson",
                             "default('a')", "replace('b', '')", "replace('', '-')"});
            case 2:
                return "(" + a + ")" +
                       pick({"[1:]", "[:-1]", "[::-1]", "[::2]", "[0]", "[-1]", "[2:5]",
                             "[5:1:-2]"});
            case 3:
                return "(" + a + ")." +
                       pick({"upper()", "strip()", "lstrip('a')", "rstrip()", "title()",
                             "replace('a', messages[0].content)", "split('v')[0]", "split()|join",
                             "splitlines()|join('|')", "removeprefix('a')", "capitalize()",
                             "replace(messages[1].content, 'a')", "format(messages[2].content)"});
            case 4:
                return list(depth - 1) + "|" +
                       pick({"join", "join('-')", "join(messages[0].content)", "first", "last",
                             "min", "max", "string", "tojson", "sort|join", "unique|join",
                             "reverse|join('a')", "map('upper')|join('b')", "select|join"});
            case 5:
                return "('" + pick({"%s|%s", "a%5sb%-4s", "%.2s%s"}) + "' % (" + a + ", " +
                       text(depth - 1) + "))";
            case 6:
                return "'" + pick({"{}c{}", "{1}{0}", "{:<6}{:^8}", "{0:>5}{0}"}) + "'.format(" +
                       a + ", " + text(depth - 1) + ")";
            case 7:
                return "(" + a + " if " + text(depth - 1) + " else " + text(depth - 1) + ")";
            default:
                return "({'a': " + a + ", 'b': 2}" +
                       pick({".a", "['a']", "|dictsort|first|last", "|tojson", "|string",
                             ".items()|list|first|join('|')", "|tojson|from_json|tojson"}) +
                       ")";
        }
    }

    std::string list(int depth) {
        switch (below(3)) {
            case 0:
                return "[" + text(depth) + ", " + text(depth) + "]";
            case 1:
                return "(" + text(depth) + ")|list";
            default:
                return "(" + text(depth) + ").split(" +
                       pick({"'a'", "'w'", "messages[3].content or 'b'"}) + ")";
        }
    }

    std::mt19937_64 random_;
};

std::string contents(Writer& writer) {
    static constexpr std::array kLetters = {"v", "w", "x",        "y",       "z",
                                            "V", "Z", "\xC3\xA9", "\xC3\x89"};
    std::string out;
    for (size_t n = writer.below(9); n > 0; --n) out += kLetters[writer.below(kLetters.size())];
    return out;
}

TEST(JinjaMarks, name_exactly_the_bytes_that_came_from_contents) {
    size_t n_rendered = 0;
    size_t n_mixed = 0;
    for (uint64_t seed = 0; seed < 3000; ++seed) {
        Writer writer(seed);
        TemplateInputs inputs;
        for (int i = 0; i < 4; ++i) inputs.messages.push_back({"Bad role", contents(writer)});
        const std::string source =
            "{% set role = messages[0].role %}{% set n = namespace(a='') %}"
            "{% macro m(a, b='d') %}{{ b }}({{ a }}){% endmacro %}" +
            writer.body(4);
        const auto made = ChatTemplate::compile(source);
        ASSERT_TRUE(made.has_value()) << source << "\n" << made.error().message;
        const auto text = made->render(inputs);
        if (!text) continue;  // a first of nothing, a filter that is none
        ++n_rendered;
        n_mixed += !text->untrusted.empty();
        ASSERT_EQ(called_untrusted(*text), written_in_contents_letters(text->text))
            << "seed " << seed << "\n"
            << source << "\n"
            << text->text;
        for (size_t i = 1; i < text->untrusted.size(); ++i) {
            ASSERT_LT(text->untrusted[i - 1].end, text->untrusted[i].begin) << "seed " << seed;
        }
    }
    EXPECT_GE(n_rendered, 1200u);
    EXPECT_GE(n_mixed, 1000u);
}

TEST(JinjaMarks, go_along_with_escapes) {
    const auto made =
        ChatTemplate::compile("{{ messages[0].content|tojson }}{{ [messages[0].content] }}");
    TemplateInputs inputs{.messages = {{"user", "\"\n'"}}};
    const auto text = made->render(inputs);
    ASSERT_TRUE(text.has_value());
    EXPECT_EQ(text->text, R"("\"\n'"['"\n\''])");
    const std::vector<bool> marks = called_untrusted(*text);
    EXPECT_EQ(std::count(marks.begin(), marks.end(), true), 5 + 5);
    EXPECT_FALSE(marks.front());
    EXPECT_FALSE(marks.back());
}

TEST(JinjaMarks, go_along_with_json_that_is_read) {
    const auto made = ChatTemplate::compile(
        "{% set t = '[\"<|a|>\", ' ~ messages[0].content ~ ']' %}{% for s in t|from_json %}{{ s }}"
        "{% endfor %}");
    TemplateInputs inputs{.messages = {{"user", R"("\u003c|b|>")"}}};
    const auto text = made->render(inputs);
    ASSERT_TRUE(text.has_value());
    EXPECT_EQ(text->text, "<|a|><|b|>");
    ASSERT_EQ(text->untrusted.size(), 1u);
    EXPECT_EQ(text->untrusted[0].begin, 5u);
    EXPECT_EQ(text->untrusted[0].end, 10u);
}

TEST(JinjaMarks, cover_what_a_contents_format_fills_in) {
    const auto made = ChatTemplate::compile("{{ messages[0].content.format('ab') }}");
    TemplateInputs inputs{.messages = {{"user", "x{:|<6}x"}}};
    const auto text = made->render(inputs);
    ASSERT_TRUE(text.has_value());
    EXPECT_EQ(text->text, "xab||||x");
    EXPECT_EQ(called_untrusted(*text),
              (std::vector<bool>{true, false, false, true, true, true, true, true}));
}

}  // namespace
}  // namespace kvik
