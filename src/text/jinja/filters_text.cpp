#include <fmt/format.h>

#include "text/jinja/builtin.h"
#include "text/jinja/format.h"
#include "text/jinja/print.h"
#include "text/jinja/sequence.h"
#include "text/jinja/text_ops.h"

namespace kvik::jinja {
namespace {

Result<Value> string(const Args& args) {
    KVIK_TRY(StrPtr text, to_str(args.heap, args.self));
    return Value(std::move(text));
}

Result<Value> upper(const Args& args) {
    KVIK_TRY(const StrPtr text, to_str(args.heap, args.self));
    return markup_as(*text, in_case(args.heap, *text, Case::upper));
}

Result<Value> lower(const Args& args) {
    KVIK_TRY(const StrPtr text, to_str(args.heap, args.self));
    return markup_as(*text, in_case(args.heap, *text, Case::lower));
}

Result<Value> capitalize(const Args& args) {
    KVIK_TRY(const StrPtr text, to_str(args.heap, args.self));
    return markup_as(*text, capitalized(args.heap, *text));
}

Result<Value> title(const Args& args) {
    KVIK_TRY(const StrPtr text, to_str(args.heap, args.self));
    return titled(args.heap, *text, Case::upper, [](char32_t before) {
        return is_space(before) ||
               std::u32string_view(U"-({[<").find(before) != std::u32string_view::npos;
    });
}

Result<Value> trim(const Args& args) {
    KVIK_TRY(const StrPtr text, to_str(args.heap, args.self));
    KVIK_TRY(const StrPtr which, args.text(0, ""));
    const bool named = args.has(0) && !args.at(0).is<None>();
    return stripped(args.heap, text, named ? which.get() : nullptr, Ends::both);
}

Result<Value> replace(const Args& args) {
    KVIK_TRY(const StrPtr text, to_str(args.heap, args.self));
    KVIK_TRY(const StrPtr what, to_str(args.heap, args.at(0)));
    KVIK_TRY(const StrPtr with, to_str(args.heap, args.at(1)));
    const bool all = args.at(2).is<None>();
    KVIK_TRY(const int64_t at_most, all ? Result<int64_t>(-1) : args.integer(2, -1));
    return replaced(args.heap, *text, {*what, *with, at_most});
}

Result<StrPtr> indent_of(const Args& args) {
    if (args.at(0).str()) return args.text(0, "");
    KVIK_TRY(const int64_t width, args.integer(0, 4));
    TextBuilder out(args.heap.budget());
    for (int64_t i = 0; i < width && !out.full(); ++i) out.add(" ");
    KVIK_TRY(MarkedText text, out.finish());
    return make_str(std::move(text));
}

// Lines after the first are indented, empty ones only when `blank`; line ends become "\n".
Result<Value> indent(const Args& args) {
    const Str* text = args.self.str();
    if (!text) {
        return type_error(fmt::format("indent needs a str, not {}", args.self.type_name()));
    }
    KVIK_TRY(const StrPtr indention, indent_of(args));
    KVIK_TRY(const std::vector<Line> lines, lines_of(args.heap, text->view()));
    TextBuilder out(args.heap.budget());
    if (args.flag(1)) out.add(indention->marked);
    for (size_t i = 0; i < lines.size() && !out.full(); ++i) {
        const bool empty = lines[i].text.begin == lines[i].text.end;
        if (i > 0 && (!empty || args.flag(2))) out.add(indention->marked);
        out.add(text->marked, lines[i].text);
        const ByteRange end = lines[i].end;
        if (end.begin < end.end) out.add("\n", mark_at(text->marked, end.begin));
        // The text's own last line end opens one more line.
        if (i + 1 == lines.size() && end.begin < end.end && args.flag(2)) {
            out.add(indention->marked);
        }
    }
    return markup_as(*text, args.heap.string(out));
}

Result<Value> format(const Args& args) {
    KVIK_TRY(const StrPtr text, to_str(args.heap, args.self));
    if (args.given.named.empty()) {
        KVIK_TRY(const Value values, list_of(args.heap, args.given.positional, List::Form::tuple));
        return percent_format(args.heap, *text, values);
    }
    if (!args.given.positional.empty()) {
        return type_error("format takes values by order or by name, not both");
    }
    Dict* values = args.heap.dict();
    for (const auto& [name, value] : args.given.named) {
        values->set(key_of(name), make_str(name), value);
    }
    return percent_format(args.heap, *text, values);
}

Result<Value> safe(const Args& args) {
    KVIK_TRY(const StrPtr text, to_str(args.heap, args.self));
    return Value(as_markup(text));
}

Result<Value> escape(const Args& args) {
    KVIK_TRY(const StrPtr text, to_str(args.heap, args.self));
    KVIK_TRY(StrPtr made, escaped(args.heap, text));
    return Value(std::move(made));
}

Result<Value> force_escape(const Args& args) {
    KVIK_TRY(const StrPtr text, to_str(args.heap, args.self));
    KVIK_TRY(StrPtr made, escaped(args.heap, make_str(text->marked)));
    return Value(std::move(made));
}

// Escaping is off, as transformers has it: only what `safe` and `escape` gave escapes others.
constexpr Builtin kRows[] = {
    {"capitalize", "", capitalize},
    {"e", "", escape},
    {"escape", "", escape},
    {"forceescape", "", force_escape},
    {"format", "*", format},
    {"indent", "width? first? blank?", indent},
    {"lower", "", lower},
    {"replace", "old new count?", replace},
    {"safe", "", safe},
    {"string", "", string},
    {"title", "", title},
    {"trim", "chars?", trim},
    {"upper", "", upper},
};

}  // namespace

std::span<const Builtin> text_filters() {
    return kRows;
}

}  // namespace kvik::jinja
