#include "text/jinja/format_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "text/jinja/print.h"
#include "text/jinja/unicode.h"

namespace kvik::jinja {
namespace {

constexpr uint64_t kMostWidth = 1 << 20;
constexpr uint64_t kMostPrecision = 100;
constexpr uint64_t kNumberSteps = 32;  // what laying out 1e300 costs, as nodes

bool is_align(char c) {
    return c == '<' || c == '>' || c == '^' || c == '=';
}

// 1234567.5 -> 1,234,567.5
std::string with_thousands(const std::string& digits) {
    const size_t end = std::min(digits.find_first_not_of("0123456789"), digits.size());
    std::string out = digits.substr(end);
    for (size_t i = end; i > 0; --i) {
        out.insert(0, 1, digits[i - 1]);
        if ((end - i + 1) % 3 == 0 && i > 1) out.insert(0, 1, ',');
    }
    return out;
}

// The digits of |value|, without its sign; nothing when the type letter does not fit.
std::optional<std::string> digits_of(const Value& value, const FormatSpec& spec) {
    const int precision = spec.precision.value_or(6);
    constexpr std::string_view kIntegerTypes("dxXob\0", 6);
    if (const auto i = value.integer();
        i && kIntegerTypes.find(spec.type) != std::string_view::npos) {
        const uint64_t size = *i < 0 ? 0 - static_cast<uint64_t>(*i) : static_cast<uint64_t>(*i);
        if (spec.type == 'x') return fmt::format("{:x}", size);
        if (spec.type == 'X') return fmt::format("{:X}", size);
        if (spec.type == 'o') return fmt::format("{:o}", size);
        if (spec.type == 'b') return fmt::format("{:b}", size);
        return fmt::format("{}", size);
    }
    const auto number = value.number();
    if (!number) return std::nullopt;
    const double size = std::abs(*number);
    switch (spec.type) {
        case 'f':
        case 'F':
            return fmt::format("{:.{}f}", size, precision);
        case 'e':
            return fmt::format("{:.{}e}", size, precision);
        case 'g':
            return fmt::format("{:.{}g}", size, precision);
        case '%':
            return fmt::format("{:.{}f}%", size * 100, precision);
        case 0:
            if (spec.precision) return fmt::format("{:.{}g}", size, precision);
            return float_repr(size);
        default:
            return std::nullopt;
    }
}

struct Piece {
    MarkedText text;
    size_t n_chars = 0;
};

void pad(TextBuilder& out, const FormatSpec& spec, char align, std::string_view sign,
         const Piece& piece) {
    const uint64_t n = piece.n_chars + sign.size();
    const uint64_t gap = spec.width > n ? spec.width - n : 0;
    const uint64_t before = align == '>' ? gap : align == '^' ? gap / 2 : 0;
    const auto fill = [&](uint64_t times) {
        for (uint64_t i = 0; i < times && !out.full(); ++i) out.add(spec.fill, spec.mark);
    };
    fill(before);
    out.add(sign);
    if (align == '=') fill(gap);
    out.add(piece.text);
    if (align != '=') fill(gap - before);
}

}  // namespace

Number read_number(std::string_view text, size_t& at) {
    Number number;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
        const uint64_t next = number.value.value_or(0) * 10 + static_cast<uint64_t>(text[at] - '0');
        number.too_large = number.too_large || next > kMostWidth;
        if (!number.too_large) number.value = next;
    }
    return number;
}

Result<FormatSpec> parse_format_spec(std::string_view text) {
    FormatSpec spec;
    size_t at = 0;
    const auto peek = [&](size_t i) { return i < text.size() ? text[i] : '\0'; };
    const size_t fill_bytes = text.empty() ? 0 : character_at(text, 0).n_bytes;
    if (fill_bytes > 0 && is_align(peek(fill_bytes))) {
        spec.fill = text.substr(0, fill_bytes);
        spec.align = text[fill_bytes];
        at = fill_bytes + 1;
    } else if (is_align(peek(0))) {
        spec.align = text[at++];
    }
    if (peek(at) == '+' || peek(at) == '-' || peek(at) == ' ') spec.sign = text[at++];
    if (peek(at) == '0') {
        if (spec.align == 0) spec.align = '=';
        if (spec.fill == " ") spec.fill = "0";
        ++at;
    }
    const Number width = read_number(text, at);
    spec.width = width.value.value_or(0);
    if (peek(at) == ',') spec.thousands = ++at > 0;
    Number precision;
    if (peek(at) == '.') {
        precision = read_number(text, ++at);
        if (!precision.value) return type_error("a format's precision is missing or too large");
        spec.precision = static_cast<int>(std::min(*precision.value, kMostWidth));
    }
    if (at < text.size()) spec.type = text[at++];
    if (at != text.size() || width.too_large || precision.too_large) {
        return type_error(
            fmt::format("'{}' is no format specification, or a number in it is over "
                        "{}",
                        text, kMostWidth));
    }
    return spec;
}

Result<void> format_value(Heap& heap, TextBuilder& out, const Value& value,
                          const FormatSpec& spec) {
    if (!value.number() || spec.type == 's') {
        if (spec.type != 0 && spec.type != 's') {
            return type_error(
                fmt::format("format '{}' does not fit {}", spec.type, value.type_name()));
        }
        KVIK_TRY(const StrPtr text, to_str(heap, value));
        Piece piece{text->marked, text->n_chars};
        if (spec.precision && static_cast<size_t>(*spec.precision) < text->n_chars) {
            piece.n_chars = static_cast<size_t>(*spec.precision);
            TextBuilder cut(heap.budget());
            cut.add(text->marked, {0, byte_of(text->view(), piece.n_chars)});
            KVIK_TRY(piece.text, cut.finish());
        }
        pad(out, spec, spec.align == 0 ? '<' : spec.align, "", piece);
        return {};
    }
    if (spec.precision.value_or(0) > static_cast<int>(kMostPrecision)) {
        return type_error(fmt::format("a precision is over {}", kMostPrecision));
    }
    KVIK_TRY_VOID(heap.budget().steps(kNumberSteps));
    std::optional<std::string> digits = digits_of(value, spec);
    if (!digits) {
        return type_error(fmt::format("format '{}' does not fit {}", spec.type, value.type_name()));
    }
    if (value.is<bool>() && spec.type == 0) digits = *value.get_if<bool>() ? "True" : "False";
    if (spec.thousands) digits = with_thousands(*digits);
    const bool negative = std::signbit(*value.number());
    const std::string_view sign = negative           ? "-"
                                  : spec.sign == '+' ? "+"
                                  : spec.sign == ' ' ? " "
                                                     : "";
    const size_t n = digits->size();
    pad(out, spec, spec.align == 0 ? '>' : spec.align, sign, {{std::move(*digits), {}}, n});
    return {};
}

}  // namespace kvik::jinja
