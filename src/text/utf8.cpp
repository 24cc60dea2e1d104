#include "text/utf8.h"

#include <fmt/format.h>

#include <cstring>

#include "text/code_points.h"
#include "text/unicode_tables.h"

namespace kvik {
namespace {

struct Lead {
    uint8_t n_bytes = 0;  // 0: no character starts with this byte
    uint8_t low = 0x80;   // the second byte's range; later ones are 80..BF
    uint8_t high = 0xBF;
};

Lead lead_of(uint8_t byte) noexcept {
    if (byte < 0x80) return {1};
    if (byte < 0xC2) return {};  // a continuation, or an overlong form
    if (byte < 0xE0) return {2};
    if (byte == 0xE0) return {3, 0xA0, 0xBF};  // below: overlong
    if (byte == 0xED) return {3, 0x80, 0x9F};  // above: surrogates
    if (byte < 0xF0) return {3};
    if (byte == 0xF0) return {4, 0x90, 0xBF};  // below: overlong
    if (byte == 0xF4) return {4, 0x80, 0x8F};  // above: past U+10FFFF
    if (byte < 0xF4) return {4};
    return {};
}

// What a terminal draws, and nothing that moves what it draws.
bool is_visible(std::string_view character) {
    using Category = UnicodeCategory;
    const auto kind =
        static_cast<Category>(unicode_value(unicode_categories(), code_point_of(character)));
    return kind < Category::Zl;
}

}  // namespace

Utf8Unit utf8_unit(std::string_view text) noexcept {
    const Lead lead = lead_of(static_cast<uint8_t>(text[0]));
    if (lead.n_bytes == 0) return {Utf8Kind::broken, 1};
    for (uint8_t i = 1; i < lead.n_bytes; ++i) {
        if (i == text.size()) return {Utf8Kind::unfinished, i};
        const uint8_t byte = static_cast<uint8_t>(text[i]);
        const uint8_t low = i == 1 ? lead.low : uint8_t{0x80};
        const uint8_t high = i == 1 ? lead.high : uint8_t{0xBF};
        if (byte < low || byte > high) return {Utf8Kind::broken, i};
    }
    return {Utf8Kind::character, lead.n_bytes};
}

size_t utf8_valid_prefix(std::string_view text) noexcept {
    size_t at = 0;
    while (at < text.size()) {
        uint64_t eight = 0;
        if (text.size() - at >= sizeof eight) {
            std::memcpy(&eight, text.data() + at, sizeof eight);
            if ((eight & 0x8080808080808080ull) == 0) {
                at += sizeof eight;
                continue;
            }
        }
        const Utf8Unit unit = utf8_unit(text.substr(at));
        if (unit.kind != Utf8Kind::character) return at;
        at += unit.n_bytes;
    }
    return at;
}

size_t white_space_at(std::string_view text) noexcept {
    if (text.empty()) return 0;
    if ((text[0] >= '\t' && text[0] <= '\r') || text[0] == ' ') return 1;
    if (text.starts_with("\xC2\x85") || text.starts_with("\xC2\xA0")) return 2;
    if (text.size() < 3) return 0;
    const std::string_view three = text.substr(0, 3);
    const bool is_space = three == "\xE1\x9A\x80" ||                               // U+1680
                          (three >= "\xE2\x80\x80" && three <= "\xE2\x80\x8A") ||  // U+2000 ..
                          three == "\xE2\x80\xA8" || three == "\xE2\x80\xA9" ||    // U+2028 ..
                          three == "\xE2\x80\xAF" || three == "\xE2\x81\x9F" ||
                          three == "\xE3\x80\x80";
    return is_space ? 3 : 0;
}

size_t trimmed_end(std::string_view text) noexcept {
    for (;;) {
        size_t n_space = 0;
        for (size_t n = 1; n <= 3 && n <= text.size() && n_space == 0; ++n)
            if (white_space_at(text.substr(text.size() - n)) == n) n_space = n;
        if (n_space == 0) return text.size();
        text.remove_suffix(n_space);
    }
}

std::string shown(std::string_view text) {
    std::string line;
    size_t at = 0;
    while (at < text.size()) {
        const Utf8Unit unit = utf8_unit(text.substr(at));
        if (at + unit.n_bytes > kMaxShownBytes) break;
        const std::string_view bytes = text.substr(at, unit.n_bytes);
        if (unit.kind == Utf8Kind::character && is_visible(bytes))
            line += bytes;
        else
            for (char c : bytes) line += fmt::format("\\x{:02X}", static_cast<uint8_t>(c));
        at += unit.n_bytes;
    }
    if (at < text.size()) line += "...";
    return line;
}

void Utf8Stream::push(std::string_view bytes, std::string& out) {
    // Held bytes are the start of one character: they need at most three more to become certain.
    while (n_held_ != 0 && !bytes.empty()) {
        std::array<char, 4> joined{};
        std::memcpy(joined.data(), held_.data(), n_held_);
        joined[n_held_] = bytes[0];
        const size_t n_joined = n_held_ + size_t{1};
        const Utf8Unit unit = utf8_unit({joined.data(), n_joined});
        if (unit.kind == Utf8Kind::broken) {
            out += kReplacement;  // the new byte starts a unit of its own
            n_held_ = 0;
            break;
        }
        bytes.remove_prefix(1);
        if (unit.kind == Utf8Kind::character) {
            out.append(joined.data(), n_joined);
            n_held_ = 0;
        } else {
            held_[n_held_++] = joined[n_joined - 1];
        }
    }
    while (!bytes.empty()) {
        const size_t n_valid = utf8_valid_prefix(bytes);
        out += bytes.substr(0, n_valid);
        bytes.remove_prefix(n_valid);
        if (bytes.empty()) return;
        const Utf8Unit unit = utf8_unit(bytes);
        if (unit.kind == Utf8Kind::unfinished) {
            std::memcpy(held_.data(), bytes.data(), bytes.size());
            n_held_ = static_cast<uint8_t>(bytes.size());
            return;
        }
        out += kReplacement;
        bytes.remove_prefix(unit.n_bytes);
    }
}

void Utf8Stream::finish(std::string& out) {
    if (n_held_ != 0) out += kReplacement;
    n_held_ = 0;
}

}  // namespace kvik
