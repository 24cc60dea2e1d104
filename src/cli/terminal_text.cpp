#include "cli/terminal_text.h"

#include <fmt/format.h>

#include "text/utf8.h"

namespace kvik::cli {
namespace {

// Of a character with two or three bytes, as all that are written out have.
uint32_t code_point(std::string_view character) {
    const auto bits = [&](size_t i) { return static_cast<unsigned char>(character[i]) & 0x3Fu; };
    if (character.size() == 2) return (character[0] & 0x1Fu) << 6 | bits(1);
    return (character[0] & 0x0Fu) << 12 | bits(1) << 6 | bits(2);
}

bool is_steering(uint32_t c) {
    const bool is_c1 = c >= 0x80 && c < 0xA0;
    return is_c1 || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

// One unit of a text.
void add_unit(std::string_view unit, Utf8Kind kind, std::string& out) {
    const auto first = static_cast<unsigned char>(unit[0]);
    const bool is_c0 = first < 0x20 || first == 0x7f;
    if (kind != Utf8Kind::character || (is_c0 && first != '\n' && first != '\t')) {
        for (const char byte : unit)
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    } else if ((unit.size() == 2 || unit.size() == 3) && is_steering(code_point(unit))) {
        out += fmt::format("\\u{:04x}", code_point(unit));
    } else {
        out += unit;
    }
}

}  // namespace

void TerminalText::push(std::string_view piece, std::string& out) {
    std::string joined;
    if (!held_.empty()) {
        joined = held_.append(piece);
        held_.clear();
        piece = joined;
    }
    while (!piece.empty()) {
        const Utf8Unit unit = utf8_unit(piece);
        if (unit.kind == Utf8Kind::unfinished) {
            held_ = piece;
            return;
        }
        add_unit(piece.substr(0, unit.n_bytes), unit.kind, out);
        piece.remove_prefix(unit.n_bytes);
    }
}

void TerminalText::finish(std::string& out) {
    if (!held_.empty()) add_unit(held_, Utf8Kind::unfinished, out);
    held_.clear();
}

std::string printable_lines(std::string_view text) {
    std::string shown;
    TerminalText whole;
    whole.push(text, shown);
    whole.finish(shown);
    return shown;
}

std::string printable(std::string_view text) {
    std::string line;
    for (const char c : printable_lines(text)) {
        if (c == '\n') {
            line += "\\x0a";
        } else if (c == '\t') {
            line += "\\x09";
        } else {
            line += c;
        }
    }
    return line;
}

}  // namespace kvik::cli
