#include "text/code_points.h"

#include <algorithm>
#include <array>
#include <span>
#include <unordered_map>

#include "text/unicode_tables.h"

namespace kvik {
namespace {

constexpr std::array<std::string_view, 30> kCategories = {
    "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe",
    "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co", "Cn"};
constexpr std::array<std::string_view, 9> kScripts = {
    "", "Han", "Hiragana", "Katakana", "Hangul", "Latin", "Greek", "Cyrillic", "Thai"};

template <class Wanted>
CodePoints from_runs(std::span<const uint32_t> runs, Wanted wanted) {
    CodePoints found;
    for (size_t i = 0; i < runs.size(); ++i) {
        if (!wanted(runs[i] & 0xFF)) continue;
        const uint32_t end = i + 1 < runs.size() ? runs[i + 1] >> 8 : kLastCodePoint + 1;
        found.add({runs[i] >> 8, end - 1});
    }
    return found;
}

}  // namespace

uint32_t code_point_of(std::string_view character) {
    const auto tail = [&](size_t i) { return uint32_t{static_cast<uint8_t>(character[i])} & 0x3F; };
    const uint32_t lead = static_cast<uint8_t>(character[0]);
    switch (character.size()) {
        case 1:
            return lead;
        case 2:
            return (lead & 31) << 6 | tail(1);
        case 3:
            return (lead & 15) << 12 | tail(1) << 6 | tail(2);
        default:
            return (lead & 7) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3);
    }
}

void append_utf8(std::string& to, uint32_t code_point) {
    const auto tail = [&](int shift) {
        return static_cast<char>(0x80 | (code_point >> shift & 0x3F));
    };
    if (code_point < 0x80) {
        to += static_cast<char>(code_point);
    } else if (code_point < 0x800) {
        to += {static_cast<char>(0xC0 | code_point >> 6), tail(0)};
    } else if (code_point < 0x10000) {
        to += {static_cast<char>(0xE0 | code_point >> 12), tail(6), tail(0)};
    } else {
        to += {static_cast<char>(0xF0 | code_point >> 18), tail(12), tail(6), tail(0)};
    }
}

std::optional<CodePoints> CodePoints::property(std::string_view name) {
    const auto is_named = [name](std::string_view one) {
        return !name.empty() && (one == name || (name.size() == 1 && one.starts_with(name)));
    };
    if (std::any_of(kCategories.begin(), kCategories.end(), is_named))
        return from_runs(unicode_categories(),
                         [&](uint32_t value) { return is_named(kCategories[value]); });
    if (name.size() > 1 && std::find(kScripts.begin(), kScripts.end(), name) != kScripts.end())
        return from_runs(unicode_scripts(),
                         [&](uint32_t value) { return kScripts[value] == name; });
    return std::nullopt;
}

CodePoints CodePoints::white_space() {
    CodePoints space(0x9, 0xD);
    space.ranges_.push_back({0x85, 0x85});
    space.add(*property("Z"));
    return space;
}

void CodePoints::add(const CodePoints& other) {
    const bool is_behind = ranges_.empty() || (!other.ranges_.empty() &&
                                               other.ranges_[0].first > ranges_.back().last + 1);
    ranges_.insert(ranges_.end(), other.ranges_.begin(), other.ranges_.end());
    if (!is_behind) tidy();
}

void CodePoints::tidy() {
    std::sort(ranges_.begin(), ranges_.end(),
              [](const Range& a, const Range& b) { return a.first < b.first; });
    size_t n = 0;
    for (const Range& range : ranges_) {
        if (n > 0 && range.first <= ranges_[n - 1].last + 1)
            ranges_[n - 1].last = std::max(ranges_[n - 1].last, range.last);
        else
            ranges_[n++] = range;
    }
    ranges_.resize(n);
}

CodePoints CodePoints::others() const {
    CodePoints rest;
    uint32_t next = 0;
    for (const Range& range : ranges_) {
        if (range.first > next) rest.ranges_.push_back({next, range.first - 1});
        next = range.last + 1;
    }
    if (next <= kLastCodePoint) rest.ranges_.push_back({next, kLastCodePoint});
    return rest;
}

CodePoints CodePoints::in_any_case() const {
    std::unordered_map<uint32_t, bool> is_in;  // by the lowest of those alike
    const auto look = [&](uint32_t character, uint32_t lowest) {
        bool& found = is_in[lowest];
        found = found || contains(character) || contains(lowest);
    };
    for (const CasePair& pair : unicode_case_pairs()) look(pair.character, pair.lowest);
    CodePoints all = *this;
    for (const CasePair& pair : unicode_case_pairs()) {
        if (!is_in[pair.lowest]) continue;
        all.ranges_.push_back({pair.character, pair.character});
        all.ranges_.push_back({pair.lowest, pair.lowest});
    }
    all.tidy();
    return all;
}

bool CodePoints::contains(uint32_t character) const {
    const auto after =
        std::upper_bound(ranges_.begin(), ranges_.end(), character,
                         [](uint32_t value, const Range& range) { return value < range.first; });
    return after != ranges_.begin() && (after - 1)->last >= character;
}

}  // namespace kvik
