#include "text/jinja/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstring>

#include "text/utf8.h"

namespace kvik::jinja {
namespace {

bool is_ascii(char32_t code) {
    return code < 0x80;
}

bool is_ascii_letter(char32_t code) {
    return (code | 0x20) >= 'a' && (code | 0x20) <= 'z';
}

utf8proc_category_t category(char32_t code) {
    return code == Character::kBroken ? UTF8PROC_CATEGORY_CN
                                      : utf8proc_category(static_cast<utf8proc_int32_t>(code));
}

std::string utf8(char32_t code) {
    std::string out;
    append_utf8(out, code);
    return out;
}

// Whether a character may become several in upper case; all that do lie in these ranges.
bool may_grow(char32_t code) {
    return (code >= 0xDF && code <= 0x587) || (code >= 0x1E96 && code <= 0x1FFC) ||
           (code >= 0xFB00 && code <= 0xFB17);
}

// Full case folding of a character that becomes several in another case ("\u00df" -> "ss", ligatures,
// some Greek), which the library has, unlike its full mappings; empty for all others. The two named
// ones only fold.
std::u32string unfolded(char32_t code) {
    if (!may_grow(code) || code == 0x130 || code == 0x1E9E) return {};
    utf8proc_int32_t folded[4];
    int boundary = 0;
    const utf8proc_ssize_t n = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code), folded,
                                                       4, UTF8PROC_CASEFOLD, &boundary);
    if (n < 2 || n > 4) return {};
    return {folded, folded + n};
}

char32_t simple_upper(char32_t code) {
    return static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(code)));
}

char32_t simple_title(char32_t code) {
    return static_cast<char32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(code)));
}

std::string upper(char32_t code) {
    const std::u32string several = unfolded(code);
    if (several.empty()) return utf8(simple_upper(code));
    std::string out;
    for (const char32_t each : several) append_utf8(out, simple_upper(each));
    return out;
}

std::string title(char32_t code) {
    constexpr char32_t kSharpS =
        0xDF;  // its simple title is a letter that Unicode's full one is not
    const std::u32string several = unfolded(code);
    if (several.empty() || (simple_title(code) != code && code != kSharpS)) {
        return utf8(simple_title(code));
    }
    std::string out = utf8(simple_title(several[0]));
    for (const char32_t each : several.substr(1)) append_utf8(out, each);
    return out;
}

bool is_case_ignorable(char32_t code) {
    constexpr std::u32string_view kMarks =
        U"'.:^`\u00a8\u00ad\u00af\u00b4\u00b7\u00b8\u2018\u2019"
        U"\u2024\u2027";
    switch (category(code)) {
        case UTF8PROC_CATEGORY_MN:
        case UTF8PROC_CATEGORY_ME:
        case UTF8PROC_CATEGORY_CF:
        case UTF8PROC_CATEGORY_LM:
        case UTF8PROC_CATEGORY_SK:
            return true;
        default:
            return kMarks.find(code) != kMarks.npos;
    }
}

}  // namespace

Character character_at(std::string_view text, size_t at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x80) return {byte, 1};
    const Utf8Unit unit = utf8_unit(text.substr(at));
    if (unit.kind != Utf8Kind::character) return {Character::kBroken, unit.n_bytes};
    char32_t code = byte & (0x7Fu >> unit.n_bytes);
    for (size_t i = 1; i < unit.n_bytes; ++i) {
        code = code << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3Fu);
    }
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

void append_utf8(std::string& to, char32_t code) {
    const auto put = [&](char32_t byte) { to += static_cast<char>(byte); };
    if (code < 0x80) {
        put(code);
    } else if (code < 0x800) {
        put(0xC0 | code >> 6);
        put(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        put(0xE0 | code >> 12);
        put(0x80 | (code >> 6 & 0x3F));
        put(0x80 | (code & 0x3F));
    } else {
        put(0xF0 | code >> 18);
        put(0x80 | (code >> 12 & 0x3F));
        put(0x80 | (code >> 6 & 0x3F));
        put(0x80 | (code & 0x3F));
    }
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
        case UTF8PROC_CATEGORY_CC:
        case UTF8PROC_CATEGORY_CF:
        case UTF8PROC_CATEGORY_CS:
        case UTF8PROC_CATEGORY_CO:
        case UTF8PROC_CATEGORY_CN:
        case UTF8PROC_CATEGORY_ZL:
        case UTF8PROC_CATEGORY_ZP:
        case UTF8PROC_CATEGORY_ZS:
            return false;
        default:
            return true;
    }
}

bool is_letter(char32_t code) {
    const utf8proc_category_t kind = category(code);
    return kind == UTF8PROC_CATEGORY_LU || kind == UTF8PROC_CATEGORY_LL ||
           kind == UTF8PROC_CATEGORY_LT || kind == UTF8PROC_CATEGORY_LM ||
           kind == UTF8PROC_CATEGORY_LO;
}

bool is_digit(char32_t code) {
    const bool raised = code == 0xB2 || code == 0xB3 || code == 0xB9 || code == 0x2070 ||
                        (code >= 0x2074 && code <= 0x2079) || (code >= 0x2080 && code <= 0x2089);
    return raised || category(code) == UTF8PROC_CATEGORY_ND;
}

bool is_numeric(char32_t code) {
    const utf8proc_category_t kind = category(code);
    return kind == UTF8PROC_CATEGORY_ND || kind == UTF8PROC_CATEGORY_NL ||
           kind == UTF8PROC_CATEGORY_NO;
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
    return category(code) == UTF8PROC_CATEGORY_LU;
}

bool is_lower(char32_t code) {
    if (is_ascii(code)) return code >= 'a' && code <= 'z';
    return category(code) == UTF8PROC_CATEGORY_LL;
}

bool is_cased(char32_t code) {
    return is_upper(code) || is_lower(code) || category(code) == UTF8PROC_CATEGORY_LT;
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
    return utf8(static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code))));
}

}  // namespace kvik::jinja
