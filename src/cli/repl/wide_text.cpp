#include "cli/repl/wide_text.h"

#include "text/utf8.h"

namespace kvik::cli {
namespace {

constexpr wchar_t kWideReplacement = 0xFFFD;

// The code point of one well-formed character.
wchar_t code_point(std::string_view character) {
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(character[i]); };
    if (character.size() == 1) return static_cast<wchar_t>(byte(0));
    // The first byte of n has n ones, a zero, and 7 - n bits of the number.
    uint32_t value = byte(0) & (0x7Fu >> character.size());
    for (size_t i = 1; i < character.size(); ++i) value = value << 6 | (byte(i) & 0x3Fu);
    return static_cast<wchar_t>(value);
}

void append_utf8(std::string& out, uint32_t c) {
    const auto tail = [&](uint32_t shift) {
        out += static_cast<char>(0x80u | ((c >> shift) & 0x3Fu));
    };
    if (c < 0x80) {
        out += static_cast<char>(c);
    } else if (c < 0x800) {
        out += static_cast<char>(0xC0u | c >> 6);
        tail(0);
    } else if (c < 0x10000) {
        out += static_cast<char>(0xE0u | c >> 12);
        tail(6);
        tail(0);
    } else {
        out += static_cast<char>(0xF0u | c >> 18);
        tail(12);
        tail(6);
        tail(0);
    }
}

bool is_scalar(uint32_t c) {
    return c < 0xD800 || (c > 0xDFFF && c <= 0x10FFFF);
}

}  // namespace

std::optional<wchar_t> take_character(std::string& bytes) {
    if (bytes.empty()) return std::nullopt;
    const Utf8Unit unit = utf8_unit(bytes);
    if (unit.kind == Utf8Kind::unfinished) return std::nullopt;
    const bool whole = unit.kind == Utf8Kind::character;
    const wchar_t c = whole ? code_point({bytes.data(), unit.n_bytes}) : kWideReplacement;
    bytes.erase(0, unit.n_bytes);
    return c;
}

std::wstring to_wide(std::string_view text) {
    std::wstring wide;
    while (!text.empty()) {
        const Utf8Unit unit = utf8_unit(text);
        const bool whole = unit.kind == Utf8Kind::character;
        wide += whole ? code_point(text.substr(0, unit.n_bytes)) : kWideReplacement;
        text.remove_prefix(unit.n_bytes);
    }
    return wide;
}

std::string to_utf8(std::wstring_view text) {
    std::string bytes;
    for (const wchar_t wide : text) {
        const auto c = static_cast<uint32_t>(wide);
        append_utf8(bytes, is_scalar(c) ? c : static_cast<uint32_t>(kWideReplacement));
    }
    return bytes;
}

std::wstring pasteable(std::wstring_view pasted) {
    std::wstring text;
    for (size_t i = 0; i < pasted.size(); ++i) {
        const wchar_t c = pasted[i];
        const bool is_line_end = c == L'\n' || c == L'\r';
        if (c == L'\n' && i > 0 && pasted[i - 1] == L'\r') continue;
        if (is_line_end) {
            text += L'\n';
        } else if (c == L'\t' || (c >= 0x20 && c != 0x7F && (c < 0x80 || c >= 0xA0))) {
            text += c;
        }
    }
    while (text.ends_with(L'\n')) text.pop_back();
    return text;
}

}  // namespace kvik::cli
