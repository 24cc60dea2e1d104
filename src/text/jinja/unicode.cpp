#include "text/jinja/unicode.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "text/unicode_tables.h"
#include "text/utf8.h"

namespace kvik::jinja {
namespace {

bool is_ascii(char32_t code) {
    return code < 0x80;
}

bool is_ascii_letter(char32_t code) {
    return (code | 0x20) >= 'a' && (code | 0x20) <= 'z';
}

using Category = UnicodeCategory;

Category category(char32_t code) {
    return code == Character::kBroken
               ? Category::Cn
               : static_cast<Category>(unicode_value(unicode_categories(), code));
}

bool has(char32_t code, UnicodeTrait trait) {
    return code != Character::kBroken && (unicode_value(unicode_traits(), code) & trait) != 0;
}

std::string utf8(char32_t code) {
    std::string out;
    append_utf8(out, code);
    return out;
}

char32_t mapped(std::span<const CaseMap> maps, char32_t code, char32_t otherwise) {
    const CaseMap* found = unicode_find(maps, code, &CaseMap::from);
    return found == nullptr ? otherwise : found->to;
}

std::string utf8(const std::array<uint32_t, 3>& codes) {
    std::string out;
    for (const uint32_t code : codes)
        if (code != 0) append_utf8(out, code);
    return out;
}

const SpecialCase* special(char32_t code) {
    return unicode_find(unicode_special_cases(), code, &SpecialCase::from);
}

std::string upper(char32_t code) {
    if (const SpecialCase* several = special(code)) return utf8(several->upper);
    return utf8(mapped(unicode_upper(), code, code));
}

std::string title(char32_t code) {
    if (const SpecialCase* several = special(code)) return utf8(several->title);
    return utf8(mapped(unicode_title(), code, mapped(unicode_upper(), code, code)));
}

bool is_case_ignorable(char32_t code) {
    switch (category(code)) {
        case Category::Mn:
        case Category::Me:
        case Category::Cf:
        case Category::Lm:
        case Category::Sk:
            return true;
        default:
            return has(code, kOtherIgnored);
    }
}

}  // namespace

Character character_at(std::string_view text, size_t at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x80) return {byte, 1};
    const Utf8Unit unit = utf8_unit(text.substr(at));
    if (unit.kind != Utf8Kind::character) return {Character::kBroken, unit.n_bytes};
    const char32_t code = code_point_of(text.substr(at, unit.n_bytes));
    return {code, unit.n_bytes};
}

size_t n_chars(std::string_view text) {
    const size_t valid = utf8_valid_prefix(text);
    const auto begins = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; };
    auto n = static_cast<size_t>(std::count_if(text.begin(), text.begin() + valid, begins));
    for (size_t at = valid; at < text.size(); ++n) at += character_at(text, at).n_bytes;
    return n;
}

size_t byte_of(std::string_view text, size_t index) {
    size_t at = 0;
    for (; index > 0 && at < text.size(); --index) at += character_at(text, at).n_bytes;
    return at;
}

size_t find_text(std::string_view in, std::string_view what, size_t from) {
    if (from > in.size()) return in.npos;
    // Not string_view::find, which takes |in| * |what| steps on a text made for it.
    const void* place = memmem(in.data() + from, in.size() - from, what.data(), what.size());
    if (!place) return in.npos;
    return static_cast<size_t>(static_cast<const char*>(place) - in.data());
}

bool is_space(char32_t code) {
    if (is_ascii(code)) {
        return code == ' ' || (code >= 0x09 && code <= 0x0D) || (code >= 0x1C && code <= 0x1F);
    }
    return code == 0x85 || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) ||
           code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

bool is_printable(char32_t code) {
    if (is_ascii(code)) return code >= 0x20 && code < 0x7F;
    switch (category(code)) {
        case Category::Cc:
        case Category::Cf:
        case Category::Cs:
        case Category::Co:
        case Category::Cn:
        case Category::Zl:
        case Category::Zp:
        case Category::Zs:
            return false;
        default:
            return true;
    }
}

bool is_letter(char32_t code) {
    return category(code) <= Category::Lo;
}

bool is_digit(char32_t code) {
    return category(code) == Category::Nd || has(code, kOtherDigit);
}

bool is_numeric(char32_t code) {
    const Category kind = category(code);
    return (kind >= Category::Nd && kind <= Category::No) || has(code, kOtherNumber);
}

bool is_cased_as(std::string_view text, bool (*such)(char32_t)) {
    bool any = false;
    for (size_t at = 0; at < text.size();) {
        const Character c = character_at(text, at);
        if (is_cased(c.code) && !such(c.code)) return false;
        any = any || such(c.code);
        at += c.n_bytes;
    }
    return any;
}

bool is_upper(char32_t code) {
    if (is_ascii(code)) return code >= 'A' && code <= 'Z';
    return category(code) == Category::Lu || has(code, kOtherUpper);
}

bool is_lower(char32_t code) {
    if (is_ascii(code)) return code >= 'a' && code <= 'z';
    return category(code) == Category::Ll || has(code, kOtherLower);
}

bool is_cased(char32_t code) {
    return is_upper(code) || is_lower(code) || category(code) == Category::Lt;
}

bool CaseWalk::sigma_ends_word(size_t after) const {
    if (!after_cased_) return false;
    while (after < text_.size()) {
        const Character c = character_at(text_, after);
        if (!is_case_ignorable(c.code)) return !is_cased(c.code);
        after += c.n_bytes;
    }
    return true;
}

std::string CaseWalk::next(Case form) {
    const Character character = character_at(text_, at_);
    const char32_t code = character.code;
    const std::string_view bytes = text_.substr(at_, character.n_bytes);
    at_ += character.n_bytes;
    if (code == Character::kBroken) {
        after_cased_ = false;
        return std::string(bytes);
    }
    if (is_ascii(code)) {
        const bool letter = is_ascii_letter(code);
        if (letter || !is_case_ignorable(code)) after_cased_ = letter;
        if (!letter) return std::string(bytes);
        const char32_t cased = form == Case::lower ? code | 0x20 : code & ~char32_t{0x20};
        return std::string(1, static_cast<char>(cased));
    }
    const bool sigma_ends = code == 0x3A3 && form == Case::lower && sigma_ends_word(at_);
    if (!is_case_ignorable(code)) after_cased_ = is_cased(code);
    if (form == Case::upper) return upper(code);
    if (form == Case::title) return title(code);
    if (code == 0x130) return "i\xCC\x87";  // the one that becomes two in lower case
    if (code == 0x3A3) return utf8(sigma_ends ? 0x3C2 : 0x3C3);
    return utf8(mapped(unicode_lower(), code, code));
}

}  // namespace kvik::jinja
