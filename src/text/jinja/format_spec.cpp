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

// As 'g', but a digit stands behind the point, and the exponent comes one digit sooner.
std::string short_digits(double size, int precision) {
    const int n_digits = std::max(precision, 1);
    const std::string scientific = fmt::format("{:.{}e}", size, n_digits - 1);
    const size_t e = scientific.find('e');
    if (e == scientific.npos) return scientific;  // inf, nan
    const int exponent = std::atoi(scientific.c_str() + e + 1);
    const std::string plain = fmt::format("{:.{}g}", size, n_digits);
    if (exponent < -4 || exponent > n_digits - 1) return plain;
    if (exponent == n_digits - 1) {
        std::string digits = scientific.substr(0, e);
        while (digits.find('.') != digits.npos && (digits.back() == '0' || digits.back() == '.')) {
            const bool point = digits.back() == '.';
            digits.pop_back();
            if (point) break;
        }
        return digits + scientific.substr(e);
    }
    return plain.find('.') == plain.npos ? plain + ".0" : plain;
}

std::string whole_digits(const BigInt& whole, const FormatSpec& spec) {
    const bool hex = spec.type == 'x' || spec.type == 'X';
    const uint32_t base = hex ? 16 : spec.type == 'o' ? 8 : spec.type == 'b' ? 2 : 10;
    std::string digits = (whole.is_negative() ? whole.negated() : whole).text(base);
    if (spec.type == 'X')
        std::transform(digits.begin(), digits.end(), digits.begin(),
                       [](char c) { return c >= 'a' ? static_cast<char>(c - 'a' + 'A') : c; });
    const auto n_digits = static_cast<size_t>(spec.precision.value_or(0));
    return digits.size() < n_digits ? std::string(n_digits - digits.size(), '0') + digits : digits;
}

// The digits of |value|, without its sign; nothing when the type letter does not fit.
std::optional<std::string> digits_of(const Value& value, const FormatSpec& spec) {
    const int precision = spec.precision.value_or(6);
    constexpr std::string_view kIntegerTypes("dxXob\0", 6);
    if (const auto whole = value.whole();
        whole && kIntegerTypes.find(spec.type) != std::string_view::npos) {
        return whole_digits(*whole, spec);
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
        case 'E':
            return fmt::format("{:.{}E}", size, precision);
        case 'g':
            return fmt::format("{:.{}g}", size, precision);
        case 'G':
            return fmt::format("{:.{}G}", size, precision);
        case '%':
            return fmt::format("{:.{}f}%", size * 100, precision);
        case 0:
            return spec.precision ? short_digits(size, precision) : float_repr(size);
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
        spec.zeros = spec.align == 0;
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

// Text at the left, cut to the precision.
static Result<void> format_text(Heap& heap, TextBuilder& out, const Str& text,
                                const FormatSpec& spec) {
    if ((spec.type != 0 && spec.type != 's') || spec.align == '=' || spec.sign || spec.thousands) {
        return type_error("a format for numbers does not fit str");
    }
    Piece piece{text.marked, text.n_chars};
    if (spec.precision && static_cast<size_t>(*spec.precision) < text.n_chars) {
        piece.n_chars = static_cast<size_t>(*spec.precision);
        TextBuilder cut(heap.budget());
        cut.add(text.marked, {0, byte_of(text.view(), piece.n_chars)});
        KVIK_TRY(piece.text, cut.finish());
    }
    pad(out, spec, spec.align == 0 ? '<' : spec.align, "", piece);
    return {};
}

static Result<void> format_number(Heap& heap, TextBuilder& out, const Value& value,
                                  const FormatSpec& spec) {
    if (spec.precision.value_or(0) > static_cast<int>(kMostPrecision)) {
        return type_error(fmt::format("a precision is over {}", kMostPrecision));
    }
    KVIK_TRY_VOID(heap.budget().steps(kNumberSteps));
    if (const auto* big = value.get_if<BigPtr>()) {
        KVIK_TRY_VOID(whole_repr(heap, **big));  // no more digits than are written elsewhere
    }
    std::optional<std::string> digits = digits_of(value, spec);
    if (!digits) {
        return type_error(fmt::format("format '{}' does not fit {}", spec.type, value.type_name()));
    }
    const char align = spec.align != 0 ? spec.align : spec.zeros ? '=' : '>';
    const bool negative = std::signbit(*value.number());
    const std::string_view sign = negative           ? "-"
                                  : spec.sign == '+' ? "+"
                                  : spec.sign == ' ' ? " "
                                                     : "";
    if (spec.thousands) digits = with_thousands(*digits);
    const size_t n = digits->size();
    pad(out, spec, align, sign, {{std::move(*digits), {}}, n});
    return {};
}

Result<void> format_value(Heap& heap, TextBuilder& out, const Value& value,
                          const FormatSpec& spec) {
    if (const Str* text = value.str()) return format_text(heap, out, *text, spec);
    const bool plain = spec.width == 0 && spec.type == 0 && spec.align == 0 && !spec.sign &&
                       !spec.zeros && !spec.thousands && !spec.precision;
    if (value.number() && !(plain && value.is<bool>())) {
        return format_number(heap, out, value, spec);
    }
    if (!plain) {
        return type_error(fmt::format("{} has no format but the empty one", value.type_name()));
    }
    return print(heap, out, value);
}

}  // namespace kvik::jinja
