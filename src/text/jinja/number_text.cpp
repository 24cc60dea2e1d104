#include "text/jinja/number_text.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "text/jinja/unicode.h"

namespace kvik::jinja {
namespace {

constexpr size_t kLongest = 400;      // no float of use is longer
constexpr size_t kMostDigits = 4300;  // of an integer, as Python has it

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// How many bytes of `text` are digits with single underscores between them.
size_t digits_of(std::string_view text, bool (*digit)(char)) {
    size_t n = 0;
    while (n < text.size()) {
        const size_t at = n > 0 && text[n] == '_' ? n + 1 : n;
        if (at == text.size() || !digit(text[at])) break;
        n = at + 1;
    }
    return n;
}

bool is_hex(char c) {
    return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

bool is_blank(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x80 && is_space(byte);
}

std::string_view without_blanks(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

bool is_word(char c) {
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

// Takes out underscores that stand between two digits; nothing when one stands elsewhere.
std::optional<std::string> without_underscores(std::string_view text) {
    std::string out;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '_') {
            out += text[i];
        } else if (i == 0 || i + 1 == text.size() || !is_word(text[i - 1]) ||
                   !is_word(text[i + 1])) {
            return std::nullopt;
        }
    }
    return out;
}

// The sign, taken off; `text` starts with a digit or letter after it.
std::optional<char> take_sign(std::string_view& text) {
    char sign = '+';
    if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
        sign = text[0];
        text.remove_prefix(1);
    }
    if (text.empty() || (!is_word(text[0]) && text[0] != '.')) return std::nullopt;
    return sign;
}

void take_prefix(std::string_view& text, int base) {
    if (text.size() < 3 || text[0] != '0') return;
    const char letter = static_cast<char>(text[1] | 0x20);
    if ((letter == 'x' && base == 16) || (letter == 'o' && base == 8) ||
        (letter == 'b' && base == 2)) {
        text.remove_prefix(text[2] == '_' ? 3 : 2);
    }
}

}  // namespace

size_t scan_integer(std::string_view text) {
    const char letter = text.size() > 1 ? static_cast<char>(text[1] | 0x20) : '\0';
    if (text[0] == '0' && (letter == 'x' || letter == 'o' || letter == 'b')) {
        std::string_view digits = text.substr(2);
        const size_t skip = digits.starts_with('_');
        digits.remove_prefix(skip);
        const size_t n = letter == 'x' ? digits_of(digits, is_hex)
                         : letter == 'o'
                             ? digits_of(digits, [](char c) { return c >= '0' && c < '8'; })
                             : digits_of(digits, [](char c) { return c == '0' || c == '1'; });
        if (n > 0) return 2 + skip + n;
    }
    if (text[0] == '0') return digits_of(text, [](char c) { return c == '0'; });
    return digits_of(text, is_digit);
}

size_t scan_real(std::string_view text) {
    size_t n = digits_of(text, is_digit);
    const size_t whole = n;
    const auto rest = [&](size_t skip) {
        return digits_of(text.substr(std::min(n + skip, text.size())), is_digit);
    };
    if (n < text.size() && text[n] == '.') {
        if (const size_t fraction = rest(1)) n += 1 + fraction;
    }
    if (n < text.size() && (text[n] | 0x20) == 'e') {
        const size_t sign = n + 1 < text.size() && (text[n + 1] == '+' || text[n + 1] == '-');
        if (const size_t exponent = rest(1 + sign)) n += 1 + sign + exponent;
    }
    return n == whole ? 0 : n;
}

std::optional<BigInt> parse_int(std::string_view text, int base) {
    text = without_blanks(text);
    const std::optional<char> sign = take_sign(text);
    if (!sign || base < 2 || base > 36 || text.size() > kMostDigits) return std::nullopt;
    take_prefix(text, base);
    const std::optional<std::string> digits = without_underscores(text);
    if (!digits || digits->empty() || !is_word((*digits)[0])) return std::nullopt;
    const auto size = BigInt::parse(*digits, static_cast<uint32_t>(base));
    return size && *sign == '-' ? size->negated() : size;
}

std::optional<double> parse_float(std::string_view text) {
    text = without_blanks(text);
    const std::optional<char> sign = take_sign(text);
    if (!sign || text.size() > kLongest) return std::nullopt;
    const std::optional<std::string> digits = without_underscores(text);
    if (!digits) return std::nullopt;
    double value = 0;
    const char* last = digits->data() + digits->size();
    const auto [end, error] = std::from_chars(digits->data(), last, value);
    if (error != std::errc() || end != last) return std::nullopt;
    return *sign == '-' ? -value : value;
}

}  // namespace kvik::jinja
