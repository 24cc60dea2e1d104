// The methods of strings.
#include <fmt/format.h>

#include "text/jinja/builtin.h"
#include "text/jinja/format.h"
#include "text/jinja/print.h"
#include "text/jinja/sequence.h"
#include "text/jinja/text_ops.h"

namespace kvik::jinja {
namespace {

const StrPtr& self_of(const Args& args) {
    return *args.self.get_if<StrPtr>();
}

// Null when the argument is missing or none.
Result<StrPtr> text_or_null(const Args& args, size_t slot) {
    if (!args.has(slot) || args.at(slot).is<None>()) return StrPtr();
    return args.text(slot, "");
}

Result<StrPtr> text_at(const Args& args, size_t slot) {
    if (const StrPtr* s = args.slots[slot]->get_if<StrPtr>()) return *s;
    return type_error(
        fmt::format("argument {} is {}, not a str", slot + 1, args.slots[slot]->type_name()));
}

Result<Value> upper(const Args& args) {
    return in_case(args.heap, *self_of(args), Case::upper);
}

Result<Value> lower(const Args& args) {
    return in_case(args.heap, *self_of(args), Case::lower);
}

Result<Value> capitalize(const Args& args) {
    return capitalized(args.heap, *self_of(args));
}

Result<Value> title(const Args& args) {
    return titled(args.heap, *self_of(args), Case::title,
                  [](char32_t before) { return !is_cased(before); });
}

Result<Value> strip_ends(const Args& args, Ends ends) {
    KVIK_TRY(const StrPtr which, text_or_null(args, 0));
    return stripped(args.heap, self_of(args), which.get(), ends);
}

Result<Value> strip(const Args& args) {
    return strip_ends(args, Ends::both);
}

Result<Value> lstrip(const Args& args) {
    return strip_ends(args, Ends::left);
}

Result<Value> rstrip(const Args& args) {
    return strip_ends(args, Ends::right);
}

Result<Value> split_text(const Args& args) {
    KVIK_TRY(const StrPtr separator, text_or_null(args, 0));
    KVIK_TRY(const int64_t at_most, args.integer(1, -1));
    return split(args.heap, self_of(args), separator.get(), at_most);
}

Result<Value> splitlines(const Args& args) {
    const StrPtr& text = self_of(args);
    KVIK_TRY(const std::vector<Line> lines, lines_of(args.heap, text->view()));
    std::vector<Value> out;
    for (const Line& line : lines) {
        const size_t end = args.flag(0) ? line.end.end : line.text.end;
        KVIK_TRY(Value piece, args.heap.substring(text, {line.text.begin, end}));
        out.push_back(std::move(piece));
    }
    return list_of(args.heap, std::move(out));
}

enum class End : uint8_t { start, end };

// The argument is a string or a tuple of them.
Result<Value> has_end(const Args& args, End which) {
    const Value& wanted = args.at(0);
    const std::string_view text = self_of(args)->view();
    std::vector<Value> any_of = {wanted};
    if (const List* list = wanted.list()) any_of = list->items;
    for (const Value& each : any_of) {
        const Str* part = each.str();
        if (!part) {
            return type_error(
                fmt::format("startswith and endswith need a str, not {}", each.type_name()));
        }
        KVIK_TRY_VOID(args.heap.budget().bytes(part->view().size()));
        if (which == End::start ? text.starts_with(part->view()) : text.ends_with(part->view())) {
            return Value(true);
        }
    }
    return Value(false);
}

Result<Value> startswith(const Args& args) {
    return has_end(args, End::start);
}

Result<Value> endswith(const Args& args) {
    return has_end(args, End::end);
}

Result<Value> removeprefix(const Args& args) {
    KVIK_TRY(const StrPtr prefix, text_at(args, 0));
    const StrPtr& text = self_of(args);
    const size_t begin = text->view().starts_with(prefix->view()) ? prefix->view().size() : 0;
    return args.heap.substring(text, {begin, text->view().size()});
}

Result<Value> removesuffix(const Args& args) {
    KVIK_TRY(const StrPtr suffix, text_at(args, 0));
    const StrPtr& text = self_of(args);
    const size_t cut = text->view().ends_with(suffix->view()) ? suffix->view().size() : 0;
    return args.heap.substring(text, {0, text->view().size() - cut});
}

Result<Value> replace(const Args& args) {
    KVIK_TRY(const StrPtr what, text_at(args, 0));
    KVIK_TRY(const StrPtr with, text_at(args, 1));
    KVIK_TRY(const int64_t at_most, args.integer(2, -1));
    if (!self_of(args)->is_markup)
        return replaced(args.heap, *self_of(args), {*what, *with, at_most});
    KVIK_TRY(const StrPtr safe, escaped(args.heap, with));
    return replaced(args.heap, *self_of(args), {*what, *safe, at_most});
}

Result<Value> find(const Args& args) {
    KVIK_TRY(const StrPtr what, text_at(args, 0));
    const std::string_view text = self_of(args)->view();
    KVIK_TRY_VOID(args.heap.budget().bytes(text.size() + what->view().size()));
    const size_t at = find_text(text, what->view());
    if (at == text.npos) return Value(int64_t{-1});
    return Value(static_cast<int64_t>(n_chars(text.substr(0, at))));
}

Result<Value> count(const Args& args) {
    KVIK_TRY(const StrPtr what, text_at(args, 0));
    const std::string_view text = self_of(args)->view();
    KVIK_TRY_VOID(args.heap.budget().bytes(text.size() + what->view().size()));
    if (what->view().empty()) return Value(static_cast<int64_t>(self_of(args)->n_chars + 1));
    int64_t n = 0;
    for (size_t at = find_text(text, what->view()); at != text.npos; ++n) {
        at = find_text(text, what->view(), at + what->view().size());
    }
    return Value(n);
}

Result<Value> join(const Args& args) {
    KVIK_TRY(const std::vector<Value> items, items_of(args.heap, args.at(0)));
    TextBuilder out(args.heap.budget());
    for (size_t i = 0; i < items.size(); ++i) {
        const Str* item = items[i].str();
        if (!item) {
            return type_error(
                fmt::format("join needs strings, item {} is {}", i, items[i].type_name()));
        }
        if (i > 0) out.add(self_of(args)->marked);
        StrPtr text = *items[i].get_if<StrPtr>();
        if (self_of(args)->is_markup) {
            KVIK_TRY(text, escaped(args.heap, text));
        }
        out.add(text->marked);
    }
    return args.heap.string(out);
}

Result<Value> format(const Args& args) {
    return brace_format(args.heap, *self_of(args), args.given);
}

// Whether there are characters, and all are such.
Result<Value> all_are(const Args& args, bool (*such)(char32_t)) {
    const std::string_view text = self_of(args)->view();
    KVIK_TRY_VOID(args.heap.budget().bytes(text.size()));
    for (size_t at = 0; at < text.size();) {
        const Character c = character_at(text, at);
        if (!such(c.code)) return Value(false);
        at += c.n_bytes;
    }
    return Value(!text.empty());
}

Result<Value> isalpha(const Args& args) {
    return all_are(args, is_letter);
}

Result<Value> isdigit(const Args& args) {
    return all_are(args, is_digit);
}

Result<Value> isalnum(const Args& args) {
    return all_are(args, [](char32_t code) { return is_letter(code) || is_numeric(code); });
}

Result<Value> isspace(const Args& args) {
    return all_are(args, is_space);
}

Result<Value> islower(const Args& args) {
    return Value(is_cased_as(self_of(args)->view(), is_lower));
}

Result<Value> isupper(const Args& args) {
    return Value(is_cased_as(self_of(args)->view(), is_upper));
}

constexpr Builtin kRows[] = {
    {"capitalize", "", capitalize},
    {"count", "sub", count},
    {"endswith", "suffix", endswith},
    {"find", "sub", find},
    {"format", "*", format},
    {"isalnum", "", isalnum},
    {"isalpha", "", isalpha},
    {"isdigit", "", isdigit},
    {"islower", "", islower},
    {"isspace", "", isspace},
    {"isupper", "", isupper},
    {"join", "iterable", join},
    {"lower", "", lower},
    {"lstrip", "chars?", lstrip},
    {"removeprefix", "prefix", removeprefix},
    {"removesuffix", "suffix", removesuffix},
    {"replace", "old new count?", replace},
    {"rstrip", "chars?", rstrip},
    {"split", "sep? maxsplit?", split_text},
    {"splitlines", "keepends?", splitlines},
    {"startswith", "prefix", startswith},
    {"strip", "chars?", strip},
    {"title", "", title},
    {"upper", "", upper},
};

}  // namespace

std::span<const Builtin> text_methods() {
    return kRows;
}

}  // namespace kvik::jinja
