#include "text/jinja/literal.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "text/jinja/number_text.h"
#include "text/jinja/unicode.h"

namespace kvik::jinja {
namespace {

tl::unexpected<Error> bad(const Token& token, std::string_view message) {
    return fail_at(token.at, ErrorKind::file, message);
}

// The code of \xNN, \uNNNN or \UNNNNNNNN, whose digits begin at `at`.
std::optional<char32_t> hex_code(std::string_view text, size_t at, size_t n_digits) {
    if (text.size() - at < n_digits) return std::nullopt;
    uint32_t code = 0;
    const char* first = text.data() + at;
    const auto [end, error] = std::from_chars(first, first + n_digits, code, 16);
    if (error != std::errc() || end != first + n_digits || code > 0x10FFFF) return std::nullopt;
    if (code >= 0xD800 && code < 0xE000) return std::nullopt;  // half a character
    return code;
}

size_t n_hex_digits(char letter) {
    return letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
}

bool is_octal(char c) {
    return c >= '0' && c <= '7';
}

}  // namespace

Result<std::string> string_literal(const Token& token) {
    const std::string_view text = token.text.substr(1, token.text.size() - 2);
    constexpr std::string_view kNames = "\\'\"abfnrtv";
    constexpr std::string_view kMeant = "\\'\"\a\b\f\n\r\t\v";
    std::string out;
    for (size_t at = 0; at < text.size();) {
        if (text[at] != '\\') {
            out += text[at++];
            continue;
        }
        const char letter = text[at + 1];  // a backslash never ends a string token
        at += 2;
        if (const size_t i = kNames.find(letter); i != kNames.npos) {
            out += kMeant[i];
        } else if (const size_t n = n_hex_digits(letter)) {
            const std::optional<char32_t> code = hex_code(text, at, n);
            if (!code)
                return bad(token,
                           fmt::format("\\{} needs {} hex digits of a character", letter, n));
            append_utf8(out, *code);
            at += n;
        } else if (is_octal(letter)) {
            uint32_t code = static_cast<uint32_t>(letter - '0');
            for (int more = 2; more > 0 && at < text.size() && is_octal(text[at]); --more) {
                code = code * 8 + static_cast<uint32_t>(text[at++] - '0');
            }
            append_utf8(out, code);
        } else if (letter == 'N') {
            return bad(token, "\\N{...} is not supported: write the character or \\u");
        } else if (letter != '\n') {  // a line end after a backslash is no part of the string
            out += '\\';
            out += letter;
        }
    }
    return out;
}

Result<Value> number_literal(const Token& token) {
    if (token.kind == TokenKind::real) {
        const auto real = parse_float(token.text);
        if (!real) return bad(token, fmt::format("the number {} fits no float", token.text));
        return Value(*real);
    }
    const char letter = token.text.size() > 1 ? static_cast<char>(token.text[1] | 0x20) : '\0';
    const int base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 10;
    const auto whole = parse_int(token.text, base);
    if (!whole) return bad(token, "a number has more than 4300 digits");
    return big_or_small(*whole);
}

}  // namespace kvik::jinja
