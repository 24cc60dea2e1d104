#include "text/jinja/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "text/jinja/format_spec.h"
#include "text/jinja/print.h"
#include "text/jinja/text_ops.h"

namespace kvik::jinja {
namespace {

Result<Value> converted(Heap& heap, const Value& value, char how) {
    if (how == 0) return value;
    if (how == 's') {
        KVIK_TRY(StrPtr text, to_str(heap, value));
        return Value(std::move(text));
    }
    TextBuilder out(heap.budget());
    KVIK_TRY_VOID(print_repr(heap, out, value));
    return heap.string(out);
}

// Hands out the values of a "%" format, by order or by name.
class PercentValues {
  public:
    explicit PercentValues(const Value& values) : values_(values) {
        const List* list = values.list();
        tuple_ = list && list->form == List::Form::tuple ? list : nullptr;
    }
    Result<Value> next() {
        const size_t n = tuple_ ? tuple_->items.size() : 1;
        if (taken_ == n) return type_error("a format has more places than values");
        const size_t index = taken_++;
        return tuple_ ? tuple_->items[index] : values_;
    }
    Result<Value> named(std::string_view name) {
        const Dict* dict = values_.dict();
        const Value* found = dict ? dict->find(name) : nullptr;
        if (!found) return type_error(fmt::format("a format names '{}', which is not given", name));
        by_name_ = true;
        return *found;
    }
    bool all_taken() const {
        // What has items may go unused.
        const bool whole = values_.dict() || values_.is<Undefined>() || (values_.list() && !tuple_);
        return by_name_ || whole || taken_ == (tuple_ ? tuple_->items.size() : 1);
    }

  private:
    const Value& values_;
    const List* tuple_ = nullptr;
    size_t taken_ = 0;
    bool by_name_ = false;
};

struct PercentPlace {
    std::optional<std::string_view> name;
    FormatSpec spec;
    size_t end = 0;
};

// `at` is the byte after the per cent sign.
Result<PercentPlace> percent_place(std::string_view text, size_t at) {
    PercentPlace place;
    if (at < text.size() && text[at] == '(') {
        const size_t close = text.find(')', at);
        if (close == text.npos) return type_error("a format's name lacks its ')'");
        place.name = text.substr(at + 1, close - at - 1);
        at = close + 1;
    }
    FormatSpec& spec = place.spec;
    bool left = false;
    bool zeros = false;
    for (; at < text.size() && std::string_view("+- 0#").find(text[at]) != text.npos; ++at) {
        left = left || text[at] == '-';
        zeros = zeros || text[at] == '0';
        if (text[at] == '+' || text[at] == ' ') spec.sign = text[at];
    }
    if (zeros && !left) spec.fill = "0";
    spec.align = left ? '<' : zeros ? '=' : '>';
    const Number width = read_number(text, at);
    spec.width = width.value.value_or(0);
    Number precision;
    if (at < text.size() && text[at] == '.') {
        precision = read_number(text, ++at);
        spec.precision = static_cast<int>(precision.value.value_or(0));
    }
    if (width.too_large || precision.too_large) return type_error("a format's number is too large");
    if (at == text.size()) return type_error("a format ends inside a place");
    spec.type = text[at];
    place.end = at + 1;
    return place;
}

enum class Fills : uint8_t { plain, markup };

// A markup escapes what it is filled with.
Result<void> add_percent(Heap& heap, TextBuilder& out, const Value& value, FormatSpec spec,
                         Fills fills) {
    if (spec.type == 's' || spec.type == 'r') {
        KVIK_TRY(Value text, converted(heap, value, spec.type));
        if (fills == Fills::markup) {
            KVIK_TRY(text, escaped(heap, *text.get_if<StrPtr>()));
        }
        spec.type = 's';
        spec.fill = " ";
        spec.sign = 0;
        if (spec.align == '=') spec.align = '>';
        return format_value(heap, out, text, spec);
    }
    if (std::string_view("diufFeEgGxXo").find(spec.type) == std::string_view::npos) {
        return type_error(fmt::format("'%{}' is no format", spec.type));
    }
    if (spec.type == 'i' || spec.type == 'u') spec.type = 'd';
    const double* number = value.get_if<double>();
    if (number && spec.type == 'd') {
        if (!std::isfinite(*number))
            return type_error("a format of an integer needs a finite number");
        return format_value(heap, out, big_or_small(BigInt::truncated(*number)), spec);
    }
    return format_value(heap, out, value, spec);
}

struct BracePlace {
    std::string_view name;
    char conversion = 0;  // r or s; 0: none
    std::string_view spec;
    size_t end = 0;
};

// `at` is the byte after the opening brace.
Result<BracePlace> brace_place(std::string_view text, size_t at) {
    const size_t close = text.find('}', at);
    if (close == text.npos) return type_error("a format's '{' lacks its '}'");
    BracePlace place;
    place.end = close + 1;
    std::string_view inside = text.substr(at, close - at);
    if (const size_t colon = inside.find(':'); colon != inside.npos) {
        place.spec = inside.substr(colon + 1);
        inside = inside.substr(0, colon);
    }
    if (const size_t mark = inside.find('!'); mark != inside.npos) {
        if (mark + 2 != inside.size() || (inside[mark + 1] != 'r' && inside[mark + 1] != 's')) {
            return type_error("a format's conversion is not !r or !s");
        }
        place.conversion = inside[mark + 1];
        inside = inside.substr(0, mark);
    }
    if (inside.find_first_of(".[{") != inside.npos) {
        return type_error("attributes and items inside a format's braces are not supported");
    }
    place.name = inside;
    return place;
}

// How the places are numbered: by themselves, or one and all by the format.
struct Numbering {
    size_t next = 0;
    bool given = false;
};

Result<Value> brace_value(const CallArgs& values, std::string_view name, Numbering& numbering) {
    size_t at = 0;
    const Number number = read_number(name, at);
    if (name.empty() || (number.value && at == name.size())) {
        if (name.empty() ? numbering.given : numbering.next > 0) {
            return type_error("a format has places with and without a number");
        }
        numbering.given = !name.empty();
        const size_t index = name.empty() ? numbering.next++ : static_cast<size_t>(*number.value);
        if (index >= values.positional.size()) {
            return type_error("a format has more places than values");
        }
        return values.positional[index];
    }
    for (const auto& [given, value] : values.named) {
        if (given == name) return value;
    }
    return type_error(fmt::format("a format names '{}', which is not given", name));
}

}  // namespace

Result<Value> percent_format(Heap& heap, const Str& format, const Value& values) {
    const std::string_view text = format.view();
    TextBuilder out(heap.budget());
    PercentValues given(values);
    size_t at = 0;
    while (!out.full()) {
        const size_t percent = std::min(text.find('%', at), text.size());
        out.add(format.marked, {at, percent});
        if (percent == text.size()) break;
        KVIK_TRY_VOID(heap.budget().steps());
        KVIK_TRY(PercentPlace place, percent_place(text, percent + 1));
        place.spec.mark = mark_at(format.marked, percent);
        at = place.end;
        if (place.spec.type == '%') {
            out.add(format.marked, {place.end - 1, place.end});
            continue;
        }
        KVIK_TRY(const Value value, place.name ? given.named(*place.name) : given.next());
        KVIK_TRY_VOID(add_percent(heap, out, value, place.spec,
                                  format.is_markup ? Fills::markup : Fills::plain));
    }
    if (!given.all_taken()) return type_error("a format has fewer places than values");
    return markup_as(format, heap.string(out));
}

Result<Value> brace_format(Heap& heap, const Str& format, const CallArgs& values) {
    const std::string_view text = format.view();
    TextBuilder out(heap.budget());
    Numbering numbering;
    size_t at = 0;
    while (!out.full()) {
        const size_t brace = std::min(text.find_first_of("{}", at), text.size());
        out.add(format.marked, {at, brace});
        if (brace == text.size()) break;
        KVIK_TRY_VOID(heap.budget().steps());
        if (brace + 1 < text.size() && text[brace + 1] == text[brace]) {
            out.add(format.marked, {brace, brace + 1});
            at = brace + 2;
            continue;
        }
        if (text[brace] == '}') return type_error("a format has a single '}'");
        KVIK_TRY(const BracePlace place, brace_place(text, brace + 1));
        at = place.end;
        KVIK_TRY(const Value given, brace_value(values, place.name, numbering));
        KVIK_TRY(const Value value, converted(heap, given, place.conversion));
        KVIK_TRY(FormatSpec spec, parse_format_spec(place.spec));
        constexpr std::string_view kIntegerTypes("dxXob\0", 6);
        if (value.is_whole() && spec.precision && kIntegerTypes.find(spec.type) != text.npos) {
            return type_error("a format of an integer has no precision");
        }
        spec.mark = mark_at(format.marked, brace);
        if (!format.is_markup) {
            KVIK_TRY_VOID(format_value(heap, out, value, spec));
            continue;
        }
        const bool is_markup = value.str() && value.str()->is_markup;
        if (is_markup && !place.spec.empty())
            return type_error("a markup has no format but the empty one");
        TextBuilder field(heap.budget());
        KVIK_TRY_VOID(format_value(heap, field, value, spec));
        KVIK_TRY(const Value text, heap.string(field));
        KVIK_TRY(const StrPtr shown,
                 escaped(heap, is_markup ? *value.get_if<StrPtr>() : *text.get_if<StrPtr>()));
        out.add(shown->marked);
    }
    return markup_as(format, heap.string(out));
}

}  // namespace kvik::jinja
