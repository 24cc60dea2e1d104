// Looking into the prefix tree, and using what was found.
#include <algorithm>

#include "base/check.h"
#include "cache/prefix/prefix_cache.h"

namespace kvik {

static constexpr size_t kMostSiblings = 32;  // looked at on each side

static uint32_t common_prefix(std::span<const TokenId> a, std::span<const TokenId> b) {
    const size_t n = std::min(a.size(), b.size());
    return static_cast<uint32_t>(std::mismatch(a.begin(), a.begin() + n, b.begin()).first -
                                 a.begin());
}

// Siblings are sorted and none begins another, so the tokens' logical block among them has the best
// match on its left or on its right; a child that covers them to their end is on the right, and is
// the leftmost that does.
PrefixCache::Match PrefixCache::match(const std::vector<uint32_t>& list,
                                      std::span<const TokenId> rest) const {
    rest = rest.first(std::min<size_t>(rest.size(), options_.block_tokens));
    const auto block_index = std::lower_bound(
        list.begin(), list.end(), rest, [this](uint32_t child, std::span<const TokenId> tokens) {
            const std::vector<TokenId>& own = nodes_[child].tokens;
            return std::lexicographical_compare(own.begin(), own.end(), tokens.begin(),
                                                tokens.end());
        });
    Match best{
        .child = kNone, .n_tokens = 0, .slot = static_cast<size_t>(block_index - list.begin())};
    const auto consider = [&](uint32_t child) {
        const uint32_t n = common_prefix(nodes_[child].tokens, rest);
        if (n > best.n_tokens) best.child = child, best.n_tokens = n;
    };
    if (block_index != list.end()) consider(*block_index);
    if (block_index != list.begin()) consider(*(block_index - 1));
    return best;
}

// ---- paths ----

PrefixCache::Path PrefixCache::walk_resident(const NamespaceKey& ns,
                                             std::span<const TokenId> tokens) const {
    Path path;
    const auto root = roots_.find(ns);
    if (root == roots_.end()) return path;
    path.root = root->second;
    path.nodes.reserve(tokens.size() / options_.block_tokens + 1);
    while (path.n_tokens < tokens.size()) {
        const Match next = match(nodes_[path.end()].resident, tokens.subspan(path.n_tokens));
        if (next.n_tokens == 0) break;
        path.nodes.push_back(next.child);
        path.n_tokens += next.n_tokens;
        if (next.n_tokens < options_.block_tokens) break;  // what is below follows other tokens
    }
    return path;
}

// From the whole logical blocks of a resident path on among those offloaded. It may end before that
// path does.
PrefixCache::Path PrefixCache::walk_on_offloaded(const Path& resident,
                                                 std::span<const TokenId> tokens) const {
    Path path = resident;
    if (path.root == kNone) return path;
    if (const uint32_t rest = path.n_tokens % options_.block_tokens; rest > 0) {
        path.nodes.pop_back();
        path.n_tokens -= rest;
    }
    while (path.n_tokens < tokens.size()) {
        const Match next = match(nodes_[path.end()].offloaded, tokens.subspan(path.n_tokens));
        if (next.n_tokens == 0) break;
        path.nodes.push_back(next.child);
        path.n_tokens += next.n_tokens;
        if (next.n_tokens < options_.block_tokens) break;
    }
    return path;
}

// ---- where all groups have state ----

uint32_t PrefixCache::first_block(uint32_t window, uint32_t n_tokens) const {
    return first_needed(window, n_tokens) / options_.block_tokens;
}

uint32_t PrefixCache::n_rows(uint32_t node, uint32_t group, State state) const {
    const TierRecord& tier = nodes_[node].tier;
    const uint32_t in_ram = nodes_[node].is_resident ? block(node, group).n_rows : 0;
    if (state == State::in_ram || (tier.group_mask >> group & 1) == 0) return in_ram;
    return std::max(in_ram, tier.n_tokens);
}

// The most tokens of a path after which a sequence can go on: every group has all logical blocks
// that the next token needs, all rows of those before the last.
uint32_t PrefixCache::usable_tokens(const Path& path, State state) const {
    std::array<uint32_t, kMostGroups> run =
        {};  // from here up to the logical block before, all are whole
    uint32_t usable = 0;
    for (uint32_t block_index = 0; block_index < path.nodes.size(); ++block_index) {
        const uint32_t node = path.nodes[block_index], begin = nodes_[node].begin;
        uint32_t rows = path.n_tokens - begin;
        for (uint32_t g = 0; g < n_groups(); ++g) rows = std::min(rows, n_rows(node, g, state));
        bool is_usable = rows > 0;
        for (uint32_t g = 0; g < n_groups() && is_usable; ++g)
            is_usable = run[g] <= first_block(windows_[g], begin + rows);
        if (is_usable) usable = begin + std::min(rows, options_.block_tokens);
        for (uint32_t g = 0; g < n_groups(); ++g)
            if (n_rows(node, g, state) < options_.block_tokens) run[g] = block_index + 1;
    }
    return usable;
}

// Of siblings that share tokens the nearest may lack a window that another one has: the path with
// that one at its end, if it is usable for longer.
std::optional<PrefixCache::Path> PrefixCache::beside(const Path& path,
                                                     std::span<const TokenId> tokens) const {
    const uint32_t usable = usable_tokens(path, State::in_ram);
    if (usable == path.n_tokens) return std::nullopt;
    const std::vector<uint32_t>& siblings = nodes_[nodes_[path.end()].parent].resident;
    const std::span<const TokenId> rest = tokens.subspan(nodes_[path.end()].begin);
    const size_t slot = match(siblings, rest).slot;
    const size_t last = std::min(slot + kMostSiblings, siblings.size());
    uint32_t best = kNone, most_rows = 0;
    for (size_t i = slot - std::min(slot, kMostSiblings); i < last; ++i) {
        uint32_t rows = common_prefix(nodes_[siblings[i]].tokens, rest);
        for (uint32_t g = n_full_; g < n_groups(); ++g)
            rows = std::min(rows, n_rows(siblings[i], g, State::in_ram));
        if (rows > most_rows) best = siblings[i], most_rows = rows;
    }
    if (best == kNone || best == path.end()) return std::nullopt;
    Path other = path;
    other.nodes.back() = best;
    other.n_tokens = nodes_[best].begin + most_rows;
    if (usable_tokens(other, State::in_ram) <= usable) return std::nullopt;
    return other;
}

PrefixHit PrefixCache::find(const NamespaceKey& ns, std::span<const TokenId> tokens) const {
    PrefixHit hit;
    hit.groups.resize(n_groups());
    Path path = walk_resident(ns, tokens);
    hit.n_resident = path.n_tokens;
    hit.n_known = std::max(path.n_tokens, walk_on_offloaded(path, tokens).n_tokens);
    if (std::optional<Path> other = beside(path, tokens)) path = std::move(*other);
    hit.n_tokens = usable_tokens(path, State::in_ram);
    if (hit.n_tokens == 0) return hit;
    hit.tail_rows = hit.n_tokens % options_.block_tokens;
    const uint32_t last = (hit.n_tokens - 1) / options_.block_tokens;
    hit.node = handle_of(path.nodes[last]);
    for (uint32_t g = 0; g < n_groups(); ++g) {
        GroupRefs& refs = hit.groups[g];
        refs.first = std::min(first_block(windows_[g], hit.n_tokens), last + 1);
        refs.blocks.reserve(last + 1 - refs.first);
        for (uint32_t block_index = refs.first; block_index <= last; ++block_index)
            refs.blocks.push_back(block(path.nodes[block_index], g).ref->share());
    }
    if (hit.n_tokens == tokens.size()) hit.logits = logits_.find(logits_key(hit));
    return hit;
}

LogitsKey PrefixCache::logits_key(const PrefixHit& hit) const {
    return {hit.node.index, hit.tail_rows > 0 ? hit.tail_rows : options_.block_tokens};
}

// ---- using ----

void PrefixCache::use(const PrefixHit& hit) {
    if (hit.n_tokens == 0) return;
    ++stats_.n_hits;
    stats_.hit_tokens += hit.n_tokens;
    if (!hit.logits.empty()) ++stats_.logits_hits;
    if (!is_resident(hit.node)) return;
    if (!hit.logits.empty()) logits_.use(logits_key(hit));
    touch_path(hit.node.index, Touch::hit);
}

void PrefixCache::touch_path(uint32_t node, Touch touch) {
    ++tick_;
    leave_offloaded_leaves(node);
    for (uint32_t at = node; at != kNone; at = nodes_[at].parent) {
        const bool is_leaf = nodes_[at].resident.empty();
        if (is_leaf) leave_order(at);
        nodes_[at].last_use = tick_;
        nodes_[at].n_uses += touch == Touch::hit;
        nodes_[at].rank = rank_of(nodes_[at]);
        if (is_leaf) enter_order(at);
    }
    enter_offloaded_leaves(node);
}

EvictionRank PrefixCache::rank_of(const Node& node) const {
    const auto n_tokens = static_cast<uint32_t>(node.tokens.size());
    return eviction_rank(
        options_.policy,
        {.last_use = node.last_use,
         .inserted = node.inserted,
         .n_uses = node.n_uses,
         .recompute_ms = options_.recompute_ms ? options_.recompute_ms(node.begin, n_tokens)
                                               : static_cast<double>(n_tokens),
         .clock = clock_});
}

bool PrefixCache::store_logits(const NamespaceKey& ns, std::span<const TokenId> tokens,
                               std::span<const float> logits) {
    const Path path = walk_resident(ns, tokens);
    if (tokens.empty() || usable_tokens(path, State::in_ram) != tokens.size()) return false;
    const auto n_rows = static_cast<uint32_t>(tokens.size()) - nodes_[path.end()].begin;
    return logits_.put({path.end(), n_rows}, logits);
}

}  // namespace kvik
