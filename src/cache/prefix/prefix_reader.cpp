#include "cache/prefix/prefix_reader.h"

#include <algorithm>

namespace kvik {

static constexpr size_t kMostOldTokens = 8;
static constexpr size_t kMostSiblings = 32;  // looked at on each side

// ---- hits ----

// Of siblings that share tokens the nearest may lack a block of a window that another one has.
// Returns the path with that other one at its end, if it is usable for longer.
std::optional<PrefixPath> PrefixReader::beside(const PrefixPath& path,
                                               std::span<const TokenId> tokens) const {
    const PrefixIndex& index = nodes_.index;
    const KvResidency& residency = nodes_.residency;
    const uint32_t usable = residency.usable_tokens(path, KvState::in_ram);
    if (usable == path.n_tokens) return std::nullopt;
    const uint32_t parent = index[path.end()].parent;
    const std::vector<uint32_t>& siblings = index[parent].resident;
    const std::span<const TokenId> rest = tokens.subspan(index[path.end()].begin);
    const size_t slot = index.match(parent, ChildList::resident, rest).slot;
    const size_t last = std::min(slot + kMostSiblings, siblings.size());
    uint32_t best = kNoNode, most_rows = 0;
    for (size_t i = slot - std::min(slot, kMostSiblings); i < last; ++i) {
        uint32_t rows = common_prefix(index[siblings[i]].tokens, rest);
        for (uint32_t g = residency.n_full(); g < residency.n_groups(); ++g)
            rows = std::min(rows, residency.block(siblings[i], g).n_rows);
        if (rows > most_rows) best = siblings[i], most_rows = rows;
    }
    if (best == kNoNode || best == path.end()) return std::nullopt;
    PrefixPath other = path;
    other.nodes.back() = best;
    other.n_tokens = index[best].begin + most_rows;
    if (residency.usable_tokens(other, KvState::in_ram) <= usable) return std::nullopt;
    return other;
}

uint32_t PrefixReader::usable_now(const PrefixPath& path, std::span<const TokenId> tokens) const {
    return nodes_.residency.usable_tokens(beside(path, tokens).value_or(path), KvState::in_ram);
}

PrefixHit PrefixReader::match(const NamespaceKey& ns, std::span<const TokenId> tokens) const {
    const KvResidency& residency = nodes_.residency;
    const uint32_t block_tokens = nodes_.index.block_tokens();
    PrefixHit hit;
    hit.groups.resize(residency.n_groups());
    PrefixPath path = nodes_.index.walk_resident(ns, tokens);
    hit.n_resident = path.n_tokens;
    hit.n_known = std::max(path.n_tokens, nodes_.index.walk_on_offloaded(path, tokens).n_tokens);
    if (std::optional<PrefixPath> other = beside(path, tokens)) path = std::move(*other);
    hit.n_tokens = residency.usable_tokens(path, KvState::in_ram);
    if (hit.n_tokens == 0) return hit;
    hit.tail_rows = hit.n_tokens % block_tokens;
    const uint32_t last = (hit.n_tokens - 1) / block_tokens;
    hit.node = nodes_.index.handle(path.nodes[last]);
    for (uint32_t g = 0; g < residency.n_groups(); ++g) {
        GroupRefs& refs = hit.groups[g];
        refs.first = std::min(residency.first_block(residency.window(g), hit.n_tokens), last + 1);
        refs.blocks.reserve(last + 1 - refs.first);
        for (uint32_t i = refs.first; i <= last; ++i)
            refs.blocks.push_back(residency.block(path.nodes[i], g).ref->share());
    }
    if (hit.n_tokens == tokens.size()) hit.logits = nodes_.logits.find(logits_key(hit));
    return hit;
}

LogitsKey PrefixReader::logits_key(const PrefixHit& hit) const {
    return {hit.node.index, hit.tail_rows > 0 ? hit.tail_rows : nodes_.index.block_tokens()};
}

// ---- loading back ----

// Either the resident path gains, whose groups with a window may have gaps that records fill, or
// the path that goes on from its whole blocks among offloaded nodes, if that leads further.
LoadPlan PrefixReader::plan_load(const NamespaceKey& ns, std::span<const TokenId> tokens) const {
    LoadPlan plan;
    PrefixPath path = nodes_.index.walk_resident(ns, tokens);
    const uint32_t usable = usable_now(path, tokens);
    plan.n_tokens = nodes_.residency.usable_tokens(path, KvState::with_tier);
    PrefixPath on_tier = nodes_.index.walk_on_offloaded(path, tokens);
    if (const uint32_t n = nodes_.residency.usable_tokens(on_tier, KvState::with_tier);
        n > path.n_tokens) {
        path = std::move(on_tier);
        plan.n_tokens = n;
    }
    if (plan.n_tokens <= usable) return {};
    for (uint32_t i = 0; i <= (plan.n_tokens - 1) / nodes_.index.block_tokens(); ++i)
        add_items(plan, path, i);
    return plan;
}

// The full groups come last: they make an offloaded node resident.
void PrefixReader::add_items(LoadPlan& plan, const PrefixPath& path, uint32_t index) const {
    const KvResidency& residency = nodes_.residency;
    const uint32_t block_tokens = nodes_.index.block_tokens();
    const uint32_t last = (plan.n_tokens - 1) / block_tokens;
    const uint32_t node = path.nodes[index];
    const uint32_t n_needed = std::min(block_tokens, plan.n_tokens - index * block_tokens);
    const TierRecord& record = residency.record(node);
    const std::vector<TokenId>& tokens = nodes_.index[node].tokens;
    for (uint32_t i = 0; i < residency.n_groups(); ++i) {
        const uint32_t group = (i + residency.n_full()) % residency.n_groups();
        const uint32_t first = residency.first_block(residency.window(group), plan.n_tokens);
        if (index < std::min(first, last)) continue;
        if (residency.n_rows(node, group, KvState::in_ram, index < path.n_resident) >= n_needed)
            continue;
        plan.items.push_back({.node = nodes_.index.handle(node),
                              .block_index = index,
                              .group = group,
                              .ref = record.ref,
                              .tokens = {tokens.begin(), tokens.begin() + record.n_tokens}});
    }
}

// ---- forgetting ----

std::vector<uint32_t> PrefixReader::path_to_forget(const NamespaceKey& ns,
                                                   std::span<const TokenId> tokens,
                                                   uint32_t from) const {
    std::vector<uint32_t> found;
    const PrefixPath resident = nodes_.index.walk_resident(ns, tokens);
    const PrefixPath path = nodes_.index.walk_on_offloaded(resident, tokens);
    size_t n_below = 0;  // found at the block index after
    for (size_t i = std::max(resident.nodes.size(), path.nodes.size()); i-- > 0;) {
        size_t n_here = 0;
        const auto consider = [&](uint32_t at, size_t n_children_found) {
            const PrefixNode& node = nodes_.index[at];
            const auto rest = tokens.subspan(std::min<size_t>(node.begin, tokens.size()));
            if (node.begin < from || nodes_.pins.is_pinned(at) ||
                node.n_children() != n_children_found ||
                common_prefix(node.tokens, rest) < node.n_tokens())
                return;
            found.push_back(at);
            ++n_here;
        };
        if (i < path.nodes.size()) consider(path.nodes[i], n_below);
        // A resident tail beside the offloaded nodes that the path goes on with.
        const bool is_other = i < resident.nodes.size() &&
                              (i >= path.nodes.size() || resident.nodes[i] != path.nodes[i]);
        if (is_other) consider(resident.nodes[i], 0);
        n_below = n_here;
    }
    return found;
}

// ---- reports ----

PathReport PrefixReader::explain(const NamespaceKey& ns, std::span<const TokenId> tokens) const {
    PathReport report;
    PrefixPath path = nodes_.index.walk_resident(ns, tokens);
    if (path.root == kNoNode) return report;
    report.n_usable = usable_now(path, tokens);
    report.n_resident = report.n_known = path.n_tokens;
    PrefixPath offloaded = nodes_.index.walk_on_offloaded(path, tokens);
    if (offloaded.n_tokens > path.n_tokens) {
        path = std::move(offloaded);
        report.n_known = path.n_tokens;
    }
    for (size_t i = path.n_resident; i < path.nodes.size(); ++i) {
        const PrefixNode& node = nodes_.index[path.nodes[i]];
        const bool is_on_tier = nodes_.residency.is_on_tier(path.nodes[i]);
        const uint32_t begin = std::max(node.begin, report.n_resident);
        const uint32_t end = std::min(node.end(), path.n_tokens);
        const uint32_t n_recorded = nodes_.residency.record(path.nodes[i]).n_tokens;
        const uint32_t tier_end =
            std::clamp(node.begin + (is_on_tier ? n_recorded : 0), begin, end);
        report.n_on_tier += tier_end - begin;
        if (report.n_evicted == 0 && tier_end < end)
            report.evicted_ms = nodes_.order.of(path.nodes[i]).evicted_ms;
        report.n_evicted += end - tier_end;
    }
    if (path.n_tokens < tokens.size())
        report.difference = difference(path.end(), path.n_tokens, tokens.subspan(path.n_tokens));
    return report;
}

// Returns how the known path goes on after n_known tokens: within the node itself, else in the most
// recently used of the children whose tokens are near `rest`.
std::optional<Difference> PrefixReader::difference(uint32_t at, uint32_t n_known,
                                                   std::span<const TokenId> rest) const {
    const PrefixNode& node = nodes_.index[at];
    std::span<const TokenId> old(node.tokens);
    old = old.subspan(n_known - node.begin);
    uint64_t last_use = 0;
    for (const ChildList kind : {ChildList::resident, ChildList::offloaded}) {
        if (node.end() > n_known) break;
        const std::vector<uint32_t>& list = node.children(kind);
        const size_t slot = nodes_.index.match(at, kind, rest).slot;
        const size_t end = std::min(slot + kMostSiblings, list.size());
        for (size_t i = slot - std::min(slot, kMostSiblings); i < end; ++i) {
            const uint64_t child_use = nodes_.order.of(list[i]).last_use;
            if (!old.empty() && child_use <= last_use) continue;
            old = nodes_.index[list[i]].tokens;
            last_use = child_use;
        }
    }
    if (old.empty()) return std::nullopt;
    old = old.first(std::min(old.size(), kMostOldTokens));
    return Difference{.at = n_known, .old_tokens = {old.begin(), old.end()}};
}

TreeAccounts PrefixReader::accounts() const {
    TreeAccounts all;
    for (uint32_t at = 0; at < nodes_.index.n_slots(); ++at) {
        const PrefixNode& node = nodes_.index[at];
        if (!node.is_resident || node.is_root()) continue;
        all.cached_tokens += node.n_tokens();
        all.slot_tokens += nodes_.index.block_tokens();
        if (node.resident.empty()) all.path_tokens += node.end();
    }
    return all;
}

// ---- drawing ----

// One line from `first` on, for as long as a node has one child.
TreeLine PrefixReader::line_of(uint32_t first, uint32_t* last) const {
    const KvResidency& residency = nodes_.residency;
    TreeLine line{.first_token_at = nodes_.index[first].begin,
                  .n_uses = nodes_.order.of(first).n_uses};
    for (uint32_t at = first;;) {
        const PrefixNode& node = nodes_.index[at];
        const bool is_on_tier = !node.is_resident && residency.is_on_tier(at);
        const uint32_t n_on_tier = is_on_tier ? residency.record(at).n_tokens : 0;
        line.n_tokens += node.n_tokens();
        line.ram_tokens += node.is_resident ? node.n_tokens() : 0;
        line.tier_tokens += n_on_tier;
        line.ghost_tokens += node.is_resident ? 0 : node.n_tokens() - n_on_tier;
        line.n_blocks += residency.n_blocks_of(at);
        line.n_shared += residency.n_blocks_of(at) - residency.n_unshared_of(at);
        line.is_pinned |= nodes_.pins.is_pinned(at);
        line.is_resume_point |= nodes_.points.has_point(at);
        line.tokens.insert(line.tokens.end(), node.tokens.begin(), node.tokens.end());
        *last = at;
        if (node.n_children() != 1) return line;
        at = node.resident.empty() ? node.offloaded[0] : node.resident[0];
    }
}

std::vector<TreeLine> PrefixReader::draw(uint32_t most_lines) const {
    struct Pending {
        uint32_t node, depth, ns_index;
    };
    std::vector<TreeLine> lines;
    std::vector<Pending> stack;  // the next to be drawn last
    const auto push_children = [&](uint32_t node, uint32_t depth, uint32_t ns_index) {
        for (const ChildList kind : {ChildList::offloaded, ChildList::resident}) {
            const std::vector<uint32_t>& list = nodes_.index[node].children(kind);
            for (auto child = list.rbegin(); child != list.rend(); ++child)
                stack.push_back({*child, depth, ns_index});
        }
    };
    uint32_t ns_index = 0;
    for (const auto& [ns, root] : nodes_.index.roots()) {
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
