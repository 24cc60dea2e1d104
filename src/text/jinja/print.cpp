#include "text/jinja/print.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "text/jinja/unicode.h"

namespace kvik::jinja {
namespace {

// Digits and exponent of "d.ddde+XX", laid out as Python does: an exponent from 1e16 up and
// below 1e-4, else a point with a digit on both sides.
std::string lay_out(std::string_view scientific) {
    const size_t e = scientific.find('e');
    std::string digits;
    for (const char c : scientific.substr(0, e)) {
        if (c != '.') digits += c;
    }
    int exponent = 0;
    const std::string_view tail = scientific.substr(e + 1);
    const size_t skip = tail[0] == '+';
    std::from_chars(tail.data() + skip, tail.data() + tail.size(), exponent);
    const auto n_digits = static_cast<int>(digits.size());
    if (exponent < -4 || exponent >= 16) {
        if (n_digits > 1) digits.insert(1, ".");
        return fmt::format("{}e{}{:02}", digits, exponent < 0 ? '-' : '+', std::abs(exponent));
    }
    if (exponent < 0) return "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
    if (n_digits <= exponent + 1) {
        return digits + std::string(static_cast<size_t>(exponent + 1 - n_digits), '0') + ".0";
    }
    return digits.insert(static_cast<size_t>(exponent + 1), ".");
}

// What stands for a character inside quotes; empty: the character itself.
std::string escaped(char32_t code, char quote) {
    switch (code) {
        case '\n':
            return "\\n";
        case '\r':
            return "\\r";
        case '\t':
            return "\\t";
        case '\\':
            return "\\\\";
        default:
            break;
    }
    if (code == static_cast<unsigned char>(quote)) return std::string("\\") + quote;
    if (code == Character::kBroken || is_printable(code)) return {};
    const auto number = static_cast<uint32_t>(code);
    if (code < 0x100) return fmt::format("\\x{:02x}", number);
    if (code < 0x10000) return fmt::format("\\u{:04x}", number);
    return fmt::format("\\U{:08x}", number);
}

void quote(TextBuilder& out, const MarkedText& text) {
    const std::string_view s = text.text;
    const bool only_single = s.find('\'') != s.npos && s.find('"') == s.npos;
    const char mark = only_single ? '"' : '\'';
    out.add(std::string_view(&mark, 1));
    size_t plain = 0;
    for (size_t at = 0; at < s.size() && !out.full();) {
        const Character c = character_at(s, at);
        const std::string escape = escaped(c.code, mark);
        if (!escape.empty()) {
            out.add(text, {plain, at});
            out.add(escape, mark_at(text, at));
            plain = at + c.n_bytes;
        }
        at += c.n_bytes;
    }
    out.add(text, {plain, s.size()});
    out.add(std::string_view(&mark, 1));
}

class Printer {
  public:
    Printer(Heap& heap, TextBuilder& out) : heap_(heap), out_(out) {}

    Result<void> repr(const Value& value) {
        if (const Str* s = value.str()) {
            if (s->is_markup) out_.add("Markup(");
            quote(out_, s->marked);
            if (s->is_markup) out_.add(")");
            return {};
        }
        if (value.is<Undefined>()) out_.add("Undefined");
        return shown(value);
    }

    Result<void> shown(const Value& value) {
        KVIK_TRY_VOID(heap_.budget().steps());
        if (const Str* s = value.str()) {
            out_.add(s->marked);
        } else if (const auto* b = value.get_if<bool>()) {
            out_.add(*b ? "True" : "False");
        } else if (const auto* i = value.get_if<int64_t>()) {
            out_.add(fmt::format_int(*i).c_str());
        } else if (const auto* big = value.get_if<BigPtr>()) {
            KVIK_TRY(const std::string digits, whole_repr(heap_, **big));
            out_.add(digits);
        } else if (const auto* d = value.get_if<double>()) {
            out_.add(float_repr(*d));
        } else if (value.is<None>()) {
            out_.add("None");
        } else if (const List* list = value.list()) {
            return items(*list);
        } else if (const Dict* dict = value.dict()) {
            return entries(*dict, "{", "}");
        } else if (auto* space = value.get_if<Namespace*>()) {
            return entries((*space)->values, "<Namespace {", "}>");
        } else if (!value.is<Undefined>()) {
            out_.add(fmt::format("<{}>", value.type_name()));
        }
        return {};
    }

  private:
    Result<void> enter() {
        if (++depth_ > heap_.budget().limits().depth) {
            return type_error(fmt::format("values nested deeper than {} cannot be printed",
                                          heap_.budget().limits().depth));
        }
        return {};
    }

    Result<void> items(const List& list) {
        KVIK_TRY_VOID(enter());
        const bool tuple = list.form == List::Form::tuple;
        out_.add(tuple ? "(" : "[");
        for (size_t i = 0; i < list.items.size(); ++i) {
            if (i > 0) out_.add(", ");
            KVIK_TRY_VOID(repr(list.items[i]));
        }
        out_.add(tuple ? (list.items.size() == 1 ? ",)" : ")") : "]");
        --depth_;
        return {};
    }

    Result<void> entries(const Dict& dict, std::string_view open, std::string_view close) {
        KVIK_TRY_VOID(enter());
        out_.add(open);
        for (size_t i = 0; i < dict.entries().size(); ++i) {
            if (i > 0) out_.add(", ");
            KVIK_TRY_VOID(repr(dict.entries()[i].key));
            out_.add(": ");
            KVIK_TRY_VOID(repr(dict.entries()[i].value));
        }
        out_.add(close);
        --depth_;
        return {};
    }

    Heap& heap_;
    TextBuilder& out_;
    uint32_t depth_ = 0;
};

}  // namespace

std::string float_repr(double number) {
    if (std::isnan(number)) return "nan";
    if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
    std::array<char, 64> buffer;
    const double size = std::abs(number);
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), size,
                                   std::chars_format::scientific);
    const std::string_view text(buffer.data(), static_cast<size_t>(end.ptr - buffer.data()));
    return (std::signbit(number) ? "-" : "") + lay_out(text);
}

Result<std::string> whole_repr(Heap& heap, const BigInt& whole) {
    constexpr size_t kMostDigits = 4300;  // as Python has it
    KVIK_TRY_VOID(heap.budget().steps(1 + whole.n_limbs() * whole.n_limbs() / 64));
    std::string digits = whole.text();
    if (digits.size() - (whole.is_negative() ? 1 : 0) > kMostDigits) {
        return type_error(
            fmt::format("a whole number of more than {} digits is not written", kMostDigits));
    }
    return digits;
}

Result<void> print(Heap& heap, TextBuilder& out, const Value& value) {
    return Printer(heap, out).shown(value);
}

Result<void> print_repr(Heap& heap, TextBuilder& out, const Value& value) {
    return Printer(heap, out).repr(value);
}

Result<StrPtr> to_str(Heap& heap, const Value& value) {
    if (const StrPtr* s = value.get_if<StrPtr>()) return *s;
    TextBuilder out(heap.budget());
    KVIK_TRY_VOID(print(heap, out, value));
    KVIK_TRY(MarkedText text, out.finish());
    return make_str(std::move(text));
}

}  // namespace kvik::jinja
