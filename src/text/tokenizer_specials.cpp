#include "text/tokenizer_specials.h"

#include <algorithm>

namespace kvik {

SpecialTrie::SpecialTrie(SpaceMark mark, size_t n_specials) : mark_(mark) {
    nodes_.reserve(1 + 4 * n_specials);
    nodes_.emplace_back();
}

char SpecialTrie::read(std::string_view text, size_t at, size_t& n_bytes) const {
    if (mark_ == SpaceMark::space && text.substr(at, kSpaceMark.size()) == kSpaceMark) {
        n_bytes = kSpaceMark.size();
        return ' ';
    }
    n_bytes = 1;
    return text[at];
}

uint32_t SpecialTrie::step(uint32_t node, char byte) const {
    if (node == 0) return first_[static_cast<uint8_t>(byte)];
    uint32_t child = nodes_[node].child;
    while (child != kNone && nodes_[child].byte != byte) child = nodes_[child].sibling;
    return child;
}

std::optional<TokenId> SpecialTrie::add(std::string_view spelling, TokenId id, SpecialUse use) {
    uint32_t node = 0;
    size_t n_most = 0;
    for (size_t at = 0, n_bytes = 0; at < spelling.size(); at += n_bytes) {
        const char byte = read(spelling, at, n_bytes);
        n_most += mark_ == SpaceMark::space && byte == ' ' ? kSpaceMark.size() : 1;
        uint32_t child = step(node, byte);
        if (child == kNone) {
            child = static_cast<uint32_t>(nodes_.size());
            nodes_.push_back({byte, SpecialUse::control, kNoId, kNone, nodes_[node].child});
            if (node == 0)
                first_[static_cast<uint8_t>(byte)] = child;
            else
                nodes_[node].child = child;
        }
        node = child;
    }
    if (nodes_[node].id != kNoId) return nodes_[node].id;
    longest_spelling_ = std::max(longest_spelling_, n_most);
    nodes_[node].id = id;
    nodes_[node].use = use;
    return std::nullopt;
}

std::optional<SpecialTrie::Hit> SpecialTrie::longest(std::string_view text,
                                                     size_t max_control_bytes) const {
    std::optional<Hit> best;
    uint32_t node = 0;
    for (size_t at = 0, n_bytes = 0; at < text.size();) {
        node = step(node, read(text, at, n_bytes));
        if (node == kNone) break;
        at += n_bytes;
        const Node& here = nodes_[node];
        if (here.id == kNoId) continue;
        if (here.use == SpecialUse::user_defined || at <= max_control_bytes)
            best = Hit{here.id, at};
    }
    return best;
}

std::optional<TokenId> SpecialTrie::find(std::string_view spelling) const {
    uint32_t node = 0;
    for (size_t at = 0, n_bytes = 0; at < spelling.size(); at += n_bytes) {
        node = step(node, read(spelling, at, n_bytes));
        if (node == kNone) return std::nullopt;
    }
    if (nodes_[node].id == kNoId) return std::nullopt;
    return nodes_[node].id;
}

}  // namespace kvik
