// Filters on single values: default, numbers, JSON.
#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "text/jinja/arithmetic.h"
#include "text/jinja/attribute.h"
#include "text/jinja/builtin.h"
#include "text/jinja/json_read.h"
#include "text/jinja/json_write.h"
#include "text/jinja/number_text.h"
#include "text/jinja/print.h"

namespace kvik::jinja {
namespace {

Result<Value> otherwise(const Args& args) {
    const bool replaced = args.self.is<Undefined>() || (args.flag(1) && !args.self.truthy());
    if (!replaced) return args.self;
    return args.has(0) ? args.at(0) : Value(make_str(""));
}

Result<Value> attr(const Args& args) {
    KVIK_TRY(const StrPtr name, args.text(0, ""));
    const bool items_only = args.self.dict() && !find_method(args.self, name->view());
    if (items_only) return Value(Undefined{name, args.self.type_name()});
    return attribute_of(args.heap, args.self, name);
}

Result<Value> to_int(const Args& args) {
    if (const auto* undefined = args.self.get_if<Undefined>()) return undefined_error(*undefined);
    KVIK_TRY(const int64_t base, args.integer(1, 10));
    std::optional<double> real = args.self.number();
    if (auto whole = args.self.whole()) return big_or_small(std::move(*whole));
    if (const Str* s = args.self.str()) {
        KVIK_TRY_VOID(args.heap.budget().bytes(s->view().size() * s->view().size() / 64));
        if (auto whole = parse_int(s->view(), static_cast<int>(base)))
            return big_or_small(std::move(*whole));
        real = parse_float(s->view());
    }
    if (!real || !std::isfinite(*real)) return args.has(0) ? args.at(0) : Value(int64_t{0});
    return big_or_small(BigInt::truncated(*real));
}

Result<Value> to_float(const Args& args) {
    if (const auto* undefined = args.self.get_if<Undefined>()) return undefined_error(*undefined);
    if (const auto number = args.self.number()) return Value(*number);
    if (const Str* s = args.self.str()) {
        if (const auto number = parse_float(s->view())) return Value(*number);
    }
    return args.has(0) ? args.at(0) : Value(0.0);
}

Result<Value> abs(const Args& args) {
    if (const auto* real = args.self.get_if<double>()) return Value(std::abs(*real));
    if (auto whole = args.self.whole(); whole && !whole->is_negative())
        return big_or_small(std::move(*whole));
    return negated(args.self);
}

// Halves go to the even neighbour of the exact binary value, as printf rounds.
Result<Value> round(const Args& args) {
    KVIK_TRY(const int64_t precision, args.integer(0, 0));
    KVIK_TRY(const StrPtr method, args.text(1, "common"));
    const auto number = args.self.number();
    if (!number) {
        return type_error(fmt::format("round needs a number, not {}", args.self.type_name()));
    }
    KVIK_TRY_VOID(args.heap.budget().steps(32));  // exact digits of 1e300 take long
    if (precision < 0 || precision > 100) return type_error("round's precision is 0 to 100");
    if (method->view() == "common") {
        if (auto whole = args.self.whole()) return big_or_small(std::move(*whole));
        const std::string digits = fmt::format("{:.{}f}", *number, static_cast<int>(precision));
        return Value(parse_float(digits).value_or(*number));
    }
    const double scale = std::pow(10.0, static_cast<double>(precision));
    if (method->view() == "ceil") return Value(std::ceil(*number * scale) / scale);
    if (method->view() == "floor") return Value(std::floor(*number * scale) / scale);
    return type_error("round's method is \"common\", \"ceil\" or \"floor\"");
}

Result<Value> from_json(const Args& args) {
    const Str* text = args.self.str();
    if (!text) {
        return type_error(fmt::format("from_json needs a str, not {}", args.self.type_name()));
    }
    KVIK_TRY_VOID(args.heap.budget().bytes(text->view().size()));
    return read_json(args.heap, text->marked);
}

Result<std::optional<MarkedText>> indent_of(const Args& args, size_t slot) {
    if (!args.has(slot) || args.at(slot).is<None>()) return std::optional<MarkedText>();
    if (const Str* s = args.at(slot).str()) return std::optional(s->marked);
    KVIK_TRY(const int64_t width, args.integer(slot, 0));
    TextBuilder out(args.heap.budget());
    for (int64_t i = 0; i < width && !out.full(); ++i) out.add(" ");
    KVIK_TRY(MarkedText text, out.finish());
    return std::optional(std::move(text));
}

Result<Value> to_json(const Args& args) {
    JsonStyle style;
    if (args.flag(0)) style.characters = JsonStyle::Characters::ascii;
    KVIK_TRY(style.indent, indent_of(args, 1));
    style.item_separator.text = style.indent ? "," : ", ";
    style.key_separator.text = ": ";
    if (const List* separators = args.at(2).list()) {
        const bool pair = separators->items.size() == 2;
        const Str* item = pair ? separators->items[0].str() : nullptr;
        const Str* key = pair ? separators->items[1].str() : nullptr;
        if (!item || !key) return type_error("tojson's separators are two strings");
        style.item_separator = item->marked;
        style.key_separator = key->marked;
    }
    if (args.flag(3)) style.keys = JsonStyle::Keys::sorted;
    TextBuilder out(args.heap.budget());
    KVIK_TRY_VOID(write_json(args.heap, out, args.self, style));
    return args.heap.string(out);
}

constexpr Builtin kRows[] = {
    {"abs", "", abs},
    {"attr", "name", attr},
    {"d", "default_value? boolean?", otherwise},
    {"default", "default_value? boolean?", otherwise},
    {"float", "default?", to_float},
    {"from_json", "", from_json},
    {"fromjson", "", from_json},
    {"int", "default? base?", to_int},
    {"round", "precision? method?", round},
    {"tojson", "ensure_ascii? indent? separators? sort_keys?", to_json},
};

}  // namespace

std::span<const Builtin> value_filters() {
    return kRows;
}

}  // namespace kvik::jinja
