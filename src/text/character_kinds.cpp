#include "text/character_kinds.h"

#include <algorithm>
#include <map>
#include <utility>

namespace kvik {

Result<CharacterKinds> CharacterKinds::of(std::span<const CodePoints> sets) {
    std::vector<uint32_t> begins = {0};  // of stretches of characters that no set tells apart
    for (const CodePoints& set : sets)
        for (const CodePoints::Range& range : set.ranges()) {
            begins.push_back(range.first);
            if (range.last < kLastCodePoint) begins.push_back(range.last + 1);
        }
    std::sort(begins.begin(), begins.end());
    begins.erase(std::unique(begins.begin(), begins.end()), begins.end());

    std::vector<std::vector<bool>> members(begins.size(), std::vector<bool>(sets.size()));
    for (size_t i = 0; i < sets.size(); ++i)
        for (const CodePoints::Range& range : sets[i].ranges()) {
            auto at = std::lower_bound(begins.begin(), begins.end(), range.first);
            for (; at != begins.end() && *at <= range.last; ++at)
                members[static_cast<size_t>(at - begins.begin())][i] = true;
        }

    std::map<std::vector<bool>, uint8_t> known;
    std::vector<uint8_t> kinds;
    for (const std::vector<bool>& member : members) {
        const auto found = known.find(member);
        if (found == known.end() && known.size() == 256)
            return fail(ErrorKind::unsupported, "tells more than 256 kinds of characters apart");
        kinds.push_back(known.emplace(member, static_cast<uint8_t>(known.size())).first->second);
    }
    CharacterKinds made;
    made.kinds_in_.resize(sets.size());
    for (const auto& [member, kind] : known)
        for (size_t i = 0; i < sets.size(); ++i)
            if (member[i]) made.kinds_in_[i].push_back(kind);
    made.fill(begins, kinds);
    return made;
}

void CharacterKinds::fill(std::span<const uint32_t> begins, std::span<const uint8_t> kinds) {
    std::map<std::vector<uint8_t>, uint16_t> known;
    std::vector<uint8_t> page(256);
    size_t stretch = 0;
    for (uint32_t first = 0; first <= kLastCodePoint; first += 256) {
        for (uint32_t i = 0; i < 256; ++i) {
            while (stretch + 1 < begins.size() && begins[stretch + 1] <= first + i) ++stretch;
            page[i] = kinds[stretch];
        }
        const auto [found, is_new] = known.emplace(page, static_cast<uint16_t>(known.size()));
        if (is_new) pages_.insert(pages_.end(), page.begin(), page.end());
        page_of_.push_back(found->second);
    }
}

void CharacterKinds::spell(std::string_view text, std::string& kinds) const {
    kinds.resize(text.size());
    size_t n = 0;
    for (size_t at = 0; at < text.size();) {
        const auto byte = [&](size_t i) {
            return uint32_t{static_cast<uint8_t>(text[at + i])} & 0x3F;
        };
        const uint32_t lead = static_cast<uint8_t>(text[at]);
        uint32_t character = lead;
        size_t n_bytes = 1;
        if (lead >= 0xF0) {
            character = (lead & 7) << 18 | byte(1) << 12 | byte(2) << 6 | byte(3);
            n_bytes = 4;
        } else if (lead >= 0xE0) {
            character = (lead & 15) << 12 | byte(1) << 6 | byte(2);
            n_bytes = 3;
        } else if (lead >= 0x80) {
            character = (lead & 31) << 6 | byte(1);
            n_bytes = 2;
        }
        kinds[n++] = static_cast<char>(kind(character));
        at += n_bytes;
    }
    kinds.resize(n);
}

}  // namespace kvik
