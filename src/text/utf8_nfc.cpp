#include "text/utf8_nfc.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "text/code_points.h"
#include "text/unicode_tables.h"
#include "text/utf8.h"

namespace kvik {
namespace {

// Hangul syllables are composed by arithmetic: Unicode 9.0, section 3.12.
constexpr uint32_t kSyllables = 0xAC00, kLeads = 0x1100, kVowels = 0x1161, kTails = 0x11A7;
constexpr uint32_t kLeadCount = 19, kVowelCount = 21, kTailCount = 28;
constexpr uint32_t kSyllableCount = kLeadCount * kVowelCount * kTailCount;

bool is_ascii(char c) {
    return static_cast<unsigned char>(c) < 0x80;
}

uint8_t combining_class(uint32_t character) {
    return unicode_value(unicode_combining_classes(), character);
}

const Decomposition* find_parts(uint32_t character) {
    return unicode_find(unicode_decompositions(), character, &Decomposition::character);
}

struct Pair {
    uint64_t parts = 0;
    uint32_t whole = 0;
};

const std::vector<Pair>& pairs() {
    static const std::vector<Pair> sorted = [] {
        std::vector<Pair> made;
        for (const Decomposition& one : unicode_decompositions())
            if (one.composes)
                made.push_back({uint64_t{one.first} << 32 | one.second, one.character});
        std::sort(made.begin(), made.end(),
                  [](const Pair& a, const Pair& b) { return a.parts < b.parts; });
        return made;
    }();
    return sorted;
}

// Nothing: they stay two characters.
std::optional<uint32_t> composed(uint32_t first, uint32_t second) {
    if (first - kLeads < kLeadCount && second - kVowels < kVowelCount)
        return kSyllables + ((first - kLeads) * kVowelCount + (second - kVowels)) * kTailCount;
    if (first - kSyllables < kSyllableCount && (first - kSyllables) % kTailCount == 0 &&
        second - kTails - 1 < kTailCount - 1)
        return first + (second - kTails);
    const uint64_t parts = uint64_t{first} << 32 | second;
    const auto found =
        std::lower_bound(pairs().begin(), pairs().end(), parts,
                         [](const Pair& one, uint64_t value) { return one.parts < value; });
    if (found == pairs().end() || found->parts != parts) return std::nullopt;
    return found->whole;
}

struct Character {
    uint32_t code = 0;
    uint8_t combining = 0;
};

// Valid UTF-8 whose neighbours cannot compose with it.
class Composer {
  public:
    void append(std::string_view text, std::string& out) {
        characters_.clear();
        for (size_t at = 0; at < text.size();) {
            const size_t n_bytes = utf8_unit(text.substr(at)).n_bytes;
            decompose(code_point_of(text.substr(at, n_bytes)));
            at += n_bytes;
        }
        order();
        compose();
        for (const Character& character : characters_) append_utf8(out, character.code);
    }

  private:
    void decompose(uint32_t code) {
        const uint32_t syllable = code - kSyllables;
        if (syllable < kSyllableCount) {
            put(kLeads + syllable / (kVowelCount * kTailCount));
            put(kVowels + syllable / kTailCount % kVowelCount);
            if (syllable % kTailCount != 0) put(kTails + syllable % kTailCount);
            return;
        }
        const Decomposition* parts = code < 0xC0 ? nullptr : find_parts(code);
        if (parts == nullptr) return put(code);
        decompose(parts->first);  // the second part is whole
        if (parts->second != 0) put(parts->second);
    }

    void put(uint32_t code) {
        characters_.push_back({code, code < 0x300 ? uint8_t{0} : combining_class(code)});
    }

    // Canonical order of every run of combining marks.
    void order() {
        for (size_t i = 0; i < characters_.size();) {
            size_t end = i;
            while (end < characters_.size() && characters_[end].combining != 0) ++end;
            std::stable_sort(characters_.begin() + static_cast<ptrdiff_t>(i),
                             characters_.begin() + static_cast<ptrdiff_t>(end),
                             [](Character a, Character b) { return a.combining < b.combining; });
            i = end + 1;
        }
    }

    // Each goes into the last starter before it, unless one of its class or higher is between.
    void compose() {
        size_t n = 0;
        std::optional<size_t> starter;
        uint8_t between = 0;  // class of the last character behind the starter
        for (const Character character : characters_) {
            const bool is_next = starter && n == *starter + 1;
            if (starter && (is_next || between < character.combining)) {
                if (const auto whole = composed(characters_[*starter].code, character.code)) {
                    characters_[*starter].code = *whole;
                    continue;
                }
            }
            if (character.combining == 0) starter = n;
            between = character.combining;
            characters_[n++] = character;
        }
        characters_.resize(n);
    }

    std::vector<Character> characters_;
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
