#include "text/utf8_nfc.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/check.h"
#include "text/utf8.h"

namespace kvik {
namespace {

constexpr auto kOptions = static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE);

bool is_ascii(char c) {
    return static_cast<unsigned char>(c) < 0x80;
}

int combining_class(int32_t character) {
    return utf8proc_get_property(character)->combining_class;
}

// Valid UTF-8 whose neighbours cannot compose with it.
class Composer {
  public:
    void append(std::string_view text, std::string& out) {
        characters_.clear();
        for (size_t at = 0; at < text.size();) at += decompose(text.substr(at));
        order();
        const utf8proc_ssize_t n = utf8proc_normalize_utf32(
            characters_.data(), static_cast<utf8proc_ssize_t>(characters_.size()), kOptions);
        for (utf8proc_ssize_t i = 0; i < n; ++i) {
            std::array<utf8proc_uint8_t, 4> bytes{};
            const utf8proc_ssize_t n_bytes =
                utf8proc_encode_char(characters_[static_cast<size_t>(i)], bytes.data());
            out.append(reinterpret_cast<const char*>(bytes.data()), static_cast<size_t>(n_bytes));
        }
    }

  private:
    size_t decompose(std::string_view text) {
        int32_t character = 0;
        const utf8proc_ssize_t n_bytes =
            utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                             static_cast<utf8proc_ssize_t>(text.size()), &character);
        std::array<int32_t, 32> parts{};  // of one character: 4 at most
        int boundary = 0;
        const utf8proc_ssize_t n_parts =
            utf8proc_decompose_char(character, parts.data(), parts.size(), kOptions, &boundary);
        KVIK_CHECK(n_bytes > 0 && n_parts >= 0 && static_cast<size_t>(n_parts) <= parts.size(),
                   "a character of valid UTF-8 can be decomposed");
        characters_.insert(characters_.end(), parts.begin(), parts.begin() + n_parts);
        return static_cast<size_t>(n_bytes);
    }

    // Canonical order of every run of combining marks. utf8proc's own takes quadratic time.
    void order() {
        for (size_t i = 0; i < characters_.size();) {
            size_t end = i;
            while (end < characters_.size() && combining_class(characters_[end]) != 0) ++end;
            std::stable_sort(
                characters_.begin() + static_cast<ptrdiff_t>(i),
                characters_.begin() + static_cast<ptrdiff_t>(end),
                [](int32_t a, int32_t b) { return combining_class(a) < combining_class(b); });
            i = end + 1;
        }
    }

    std::vector<int32_t> characters_;
};

}  // namespace

void append_nfc(std::string_view text, std::string& out) {
    Composer composer;
    for (size_t at = 0; at < text.size();) {
        // An ASCII character changes only through what comes right after it.
        size_t end = at;
        while (end < text.size() && is_ascii(text[end])) ++end;
        if (end == text.size()) {
            out += text.substr(at);
            return;
        }
        const size_t first = end > at ? end - 1 : end;
        out += text.substr(at, first - at);
        while (end < text.size() && !is_ascii(text[end])) ++end;
        std::string_view part = text.substr(first, end - first);
        while (!part.empty()) {
            const size_t n_valid = utf8_valid_prefix(part);
            if (n_valid > 0) composer.append(part.substr(0, n_valid), out);
            part.remove_prefix(n_valid);
            if (part.empty()) break;
            const size_t n_broken = utf8_unit(part).n_bytes;
            out += part.substr(0, n_broken);
            part.remove_prefix(n_broken);
        }
        at = end;
    }
}

}  // namespace kvik
