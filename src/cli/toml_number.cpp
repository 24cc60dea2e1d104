#include "cli/toml_number.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace kvik::cli {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_hex_digit(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// Nothing where an underscore is not between two digits.
std::optional<std::string> without_underscores(std::string_view word) {
    const auto is_letter = word.starts_with("0x") ? is_hex_digit : is_digit;
    std::string text;
    for (size_t i = 0; i < word.size(); ++i) {
        if (word[i] != '_') {
            text += word[i];
            continue;
        }
        const bool is_between =
            i > 0 && i + 1 < word.size() && is_letter(word[i - 1]) && is_letter(word[i + 1]);
        if (!is_between) return std::nullopt;
    }
    return text;
}

std::optional<std::string> from_base(std::string_view digits, int base) {
    uint64_t value = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
    return std::to_string(value);
}

// Takes the digits at the start; false if there is none.
bool take_digits(std::string_view& rest) {
    const auto end = std::find_if_not(rest.begin(), rest.end(), is_digit);
    const auto n = static_cast<size_t>(end - rest.begin());
    rest.remove_prefix(n);
    return n > 0;
}

// 12, 1.5, 1e9, 1.5E-3: no leading zeros, digits on both sides of the point.
bool is_decimal(std::string_view rest) {
    if (rest.size() > 1 && rest[0] == '0' && is_digit(rest[1])) return false;
    if (!take_digits(rest)) return false;
    if (rest.starts_with('.')) {
        rest.remove_prefix(1);
        if (!take_digits(rest)) return false;
    }
    if (rest.starts_with('e') || rest.starts_with('E')) {
        rest.remove_prefix(1);
        if (rest.starts_with('+') || rest.starts_with('-')) rest.remove_prefix(1);
        if (!take_digits(rest)) return false;
    }
    return rest.empty();
}

}  // namespace

std::optional<std::string> toml_number(std::string_view word) {
    const auto plain = without_underscores(word);
    if (!plain) return std::nullopt;
    std::string_view text = *plain;
    if (text.starts_with("0x")) return from_base(text.substr(2), 16);
    if (text.starts_with("0o")) return from_base(text.substr(2), 8);
    if (text.starts_with("0b")) return from_base(text.substr(2), 2);
    if (text.starts_with('+')) text.remove_prefix(1);
    const std::string_view unsigned_text = text.substr(text.starts_with('-') ? 1 : 0);
    const bool has_two_signs = plain->starts_with('+') && text.starts_with('-');
    if (has_two_signs) return std::nullopt;
    if (unsigned_text != "inf" && unsigned_text != "nan" && !is_decimal(unsigned_text))
        return std::nullopt;
    return std::string(text);
}

}  // namespace kvik::cli
