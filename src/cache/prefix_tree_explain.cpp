// Why the prefix tree finds what it finds.
#include <algorithm>

#include "cache/prefix_tree.h"

namespace kvik {

static constexpr size_t kMostOldTokens = 8;
static constexpr size_t kMostSiblings = 32;  // looked at on each side

PathReport PrefixTree::explain(const NamespaceKey& ns, std::span<const TokenId> tokens) const {
    PathReport report;
    const auto root = roots_.find(ns);
    if (root == roots_.end()) return report;
    const PrefixHit hit = find(ns, tokens);
    report.n_usable = report.n_resident = report.n_known = hit.n_tokens;
    const uint32_t node = hit.n_tokens > 0 ? hit.node.index : root->second;
    if (hit.n_tokens < tokens.size())
        report.difference = difference(node, hit.n_tokens, tokens.subspan(hit.n_tokens));
    return report;
}

// How the node itself goes on, else the most recent of the children whose tokens stand near `rest`.
std::optional<Difference> PrefixTree::difference(uint32_t at, uint32_t n_known,
                                                 std::span<const TokenId> rest) const {
    const Node& node = nodes_[at];
    std::span<const TokenId> old(node.tokens);
    old = old.subspan(n_known - node.begin);
    if (old.empty()) {
        if (node.children.empty()) return std::nullopt;
        const size_t slot = match_child(at, rest).slot;
        const size_t first = slot - std::min(slot, kMostSiblings);
        const size_t last = std::min(slot + kMostSiblings, node.children.size());
        const auto recent = std::max_element(
            node.children.begin() + static_cast<std::ptrdiff_t>(first),
            node.children.begin() + static_cast<std::ptrdiff_t>(last),
            [this](uint32_t a, uint32_t b) { return nodes_[a].last_use < nodes_[b].last_use; });
        old = nodes_[*recent].tokens;
    }
    old = old.first(std::min(old.size(), kMostOldTokens));
    return Difference{.at = n_known, .old_tokens = {old.begin(), old.end()}};
}

}  // namespace kvik
