// Why the prefix tree finds what it finds, and a drawing of all that it knows.
#include <algorithm>

#include "cache/prefix/prefix_cache.h"

namespace kvik {

static constexpr size_t kMostOldTokens = 8;
static constexpr size_t kMostSiblings = 32;  // looked at on each side

// All full groups are on the tier: its tokens can come back.
bool PrefixCache::is_on_tier(uint32_t node) const {
    const uint32_t full_mask = (1u << n_full_) - 1;
    const TierRecord& tier = nodes_[node].tier;
    return tier.ref != kNoTier && (tier.group_mask & full_mask) == full_mask;
}

PathReport PrefixCache::explain(const NamespaceKey& ns, std::span<const TokenId> tokens) const {
    PathReport report;
    Path path = walk_resident(ns, tokens);
    if (path.root == kNone) return report;
    report.n_usable = usable_tokens(beside(path, tokens).value_or(path), State::in_ram);
    report.n_resident = report.n_known = path.n_tokens;
    if (Path offloaded = walk_on_offloaded(path, tokens); offloaded.n_tokens > path.n_tokens) {
        path = std::move(offloaded);
        report.n_known = path.n_tokens;
    }
    for (const uint32_t node : path.nodes) {
        if (nodes_[node].is_resident) continue;
        const uint32_t begin = std::max(nodes_[node].begin, report.n_resident);
        const uint32_t end = std::min(
            nodes_[node].begin + static_cast<uint32_t>(nodes_[node].tokens.size()), path.n_tokens);
        const uint32_t tier_end =
            nodes_[node].begin + (is_on_tier(node) ? nodes_[node].tier.n_tokens : 0);
        const uint32_t middle = std::clamp(tier_end, begin, end);
        report.n_on_tier += middle - begin;
        if (report.n_evicted == 0 && middle < end) report.evicted_ms = nodes_[node].evicted_ms;
        report.n_evicted += end - middle;
    }
    if (path.n_tokens < tokens.size())
        report.difference = difference(path.end(), path.n_tokens, tokens.subspan(path.n_tokens));
    return report;
}

// How the node itself goes on, else the most recent of the children whose tokens stand near `rest`.
std::optional<Difference> PrefixCache::difference(uint32_t at, uint32_t n_known,
                                                  std::span<const TokenId> rest) const {
    std::span<const TokenId> old(nodes_[at].tokens);
    old = old.subspan(n_known - nodes_[at].begin);
    uint64_t last_use = 0;
    for (const auto* list : {&nodes_[at].resident, &nodes_[at].offloaded}) {
        if (nodes_[at].begin + nodes_[at].tokens.size() > n_known) break;
        const size_t slot = match(*list, rest).slot;
        const size_t end = std::min(slot + kMostSiblings, list->size());
        for (size_t i = slot - std::min(slot, kMostSiblings); i < end; ++i) {
            const Node& child = nodes_[(*list)[i]];
            if (!old.empty() && child.last_use <= last_use) continue;
            old = child.tokens;
            last_use = child.last_use;
        }
    }
    if (old.empty()) return std::nullopt;
    old = old.first(std::min(old.size(), kMostOldTokens));
    return Difference{.at = n_known, .old_tokens = {old.begin(), old.end()}};
}

TreeAccounts PrefixCache::accounts() const {
    TreeAccounts all;
    for (const Node& node : nodes_) {
        if (!node.is_resident || node.ns != nullptr) continue;
        all.cached_tokens += node.tokens.size();
        all.slot_tokens += options_.block_tokens;
        if (node.resident.empty()) all.path_tokens += node.begin + node.tokens.size();
    }
    return all;
}

// ---- drawing ----

// From `first` on as long as there is one child.
TreeLine PrefixCache::line_of(uint32_t first, uint32_t* last) const {
    TreeLine line{.first_token_at = nodes_[first].begin, .n_uses = nodes_[first].n_uses};
    for (uint32_t at = first;;) {
        const Node& node = nodes_[at];
        const auto n = static_cast<uint32_t>(node.tokens.size());
        const uint32_t n_on_tier = node.is_resident || !is_on_tier(at) ? 0 : node.tier.n_tokens;
        line.n_tokens += n;
        line.ram_tokens += node.is_resident ? n : 0;
        line.tier_tokens += n_on_tier;
        line.ghost_tokens += node.is_resident ? 0 : n - n_on_tier;
        for (uint32_t g = 0; g < n_groups(); ++g) {
            line.n_blocks += block(at, g).ref.has_value();
            line.n_shared += block(at, g).ref && block(at, g).ref->is_shared();
        }
        line.is_pinned |= node.n_pins > 0;
        line.is_resume_point |= node.resume_rows > 0;
        line.tokens.insert(line.tokens.end(), node.tokens.begin(), node.tokens.end());
        *last = at;
        if (node.resident.size() + node.offloaded.size() != 1) return line;
        at = node.resident.empty() ? node.offloaded[0] : node.resident[0];
    }
}

std::vector<TreeLine> PrefixCache::draw(uint32_t most_lines) const {
    struct Pending {
        uint32_t node, depth, ns_index;
    };
    std::vector<TreeLine> lines;
    std::vector<Pending> stack;  // the next to be drawn last
    const auto push_children = [&](uint32_t node, uint32_t depth, uint32_t ns_index) {
        for (const auto* list : {&nodes_[node].offloaded, &nodes_[node].resident})
            for (auto child = list->rbegin(); child != list->rend(); ++child)
                stack.push_back({*child, depth, ns_index});
    };
    uint32_t ns_index = 0;
    for (const auto& [ns, root] : roots_) {
        push_children(root, 0, ns_index);
        while (!stack.empty() && lines.size() < most_lines) {
            const Pending next = stack.back();
            stack.pop_back();
            uint32_t last = next.node;
            TreeLine& line = lines.emplace_back(line_of(next.node, &last));
            line.depth = next.depth;
            line.ns_index = next.ns_index;
            push_children(last, next.depth + 1, next.ns_index);
        }
        if (!stack.empty()) return lines;
        ++ns_index;
    }
    return lines;
}

}  // namespace kvik
