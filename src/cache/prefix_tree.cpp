#include "cache/prefix_tree.h"

#include <algorithm>

#include "base/check.h"

namespace kvik {

static constexpr uint32_t kNone = UINT32_MAX;

static uint32_t common_prefix(std::span<const TokenId> a, std::span<const TokenId> b) {
    const size_t n = std::min(a.size(), b.size());
    const auto [end, other] = std::mismatch(a.begin(), a.begin() + n, b.begin());
    return static_cast<uint32_t>(end - a.begin());
}

PrefixTree::PrefixTree(const PrefixTreeOptions& options)
    : options_(options), logits_(options.logits_bytes) {
    KVIK_CHECK(options.block_tokens > 0, "a block has tokens");
    nodes_.reserve(2ull * options.n_blocks);  // a root lives only while it has a child
    free_.reserve(2ull * options.n_blocks);
}

PrefixTree::~PrefixTree() {
    KVIK_CHECK(n_pinned_ == 0, "the tree outlives its pins");
}

// ---- looking ----

// Siblings are sorted and none begins another, so the tokens' place among them has the best match
// on its left or on its right; a child that covers them to their end is on the right, and is the
// leftmost that does.
PrefixTree::Match PrefixTree::match_child(uint32_t parent, std::span<const TokenId> rest) const {
    rest = rest.first(std::min<size_t>(rest.size(), options_.block_tokens));
    const std::vector<uint32_t>& children = nodes_[parent].children;
    const auto place =
        std::lower_bound(children.begin(), children.end(), rest,
                         [this](uint32_t child, std::span<const TokenId> tokens) {
                             const std::vector<TokenId>& own = nodes_[child].tokens;
                             return std::lexicographical_compare(own.begin(), own.end(),
                                                                 tokens.begin(), tokens.end());
                         });
    Match match{
        .child = kNone, .n_tokens = 0, .slot = static_cast<size_t>(place - children.begin())};
    const auto consider = [&](uint32_t child) {
        const uint32_t n = common_prefix(nodes_[child].tokens, rest);
        if (n > match.n_tokens) match.child = child, match.n_tokens = n;
    };
    if (place != children.end()) consider(*place);
    if (place != children.begin()) consider(*(place - 1));
    return match;
}

PrefixHit PrefixTree::find(const NamespaceKey& ns, std::span<const TokenId> tokens) const {
    PrefixHit hit;
    hit.groups.resize(1);
    const auto root = roots_.find(ns);
    if (root == roots_.end()) return hit;
    uint32_t node = root->second;
    while (hit.n_tokens < tokens.size()) {
        const Match match = match_child(node, tokens.subspan(hit.n_tokens));
        if (match.n_tokens == 0) break;
        node = match.child;
        hit.groups[0].blocks.push_back(nodes_[node].block->share());
        hit.n_tokens += match.n_tokens;
        hit.node = {node, nodes_[node].generation};
        if (match.n_tokens < options_.block_tokens) {  // what is below follows other tokens
            hit.tail_rows = match.n_tokens;
            break;
        }
    }
    if (hit.n_tokens > 0 && hit.n_tokens == tokens.size()) hit.logits = logits_.find(place_of(hit));
    return hit;
}

LogitsPlace PrefixTree::place_of(const PrefixHit& hit) const {
    return {hit.node.index, hit.tail_rows > 0 ? hit.tail_rows : options_.block_tokens};
}

bool PrefixTree::is_alive(const NodeHandle& handle) const {
    return handle.index < nodes_.size() && nodes_[handle.index].generation == handle.generation &&
           nodes_[handle.index].block.has_value();
}

// ---- using and publishing ----

void PrefixTree::use(const PrefixHit& hit) {
    if (hit.n_tokens == 0) return;
    ++stats_.n_hits;
    stats_.hit_tokens += hit.n_tokens;
    if (!hit.logits.empty()) ++stats_.logits_hits;
    if (!is_alive(hit.node)) return;
    if (!hit.logits.empty()) logits_.use(place_of(hit));
    touch_path(hit.node.index, Touch::hit);
}

void PrefixTree::touch_path(uint32_t node, Touch touch) {
    ++tick_;
    leave_order(node);
    for (uint32_t at = node; at != kNone; at = nodes_[at].parent) {
        nodes_[at].last_use = tick_;
        nodes_[at].n_uses += touch == Touch::hit;
        nodes_[at].rank = rank_of(nodes_[at]);
    }
    enter_order(node);
}

EvictionRank PrefixTree::rank_of(const Node& node) const {
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

InsertReport PrefixTree::insert(const NamespaceKey& ns, std::span<const TokenId> tokens,
                                std::span<const GroupBlocks> groups) {
    InsertReport report;
    if (tokens.empty()) return report;
    KVIK_CHECK(groups.size() == 1 && groups[0].first == 0, "blocks are of one group of all layers");
    const std::span<const BlockRef> blocks = groups[0].refs;
    KVIK_CHECK((tokens.size() - 1) / options_.block_tokens < blocks.size(),
               "published tokens have their KV in blocks");
    uint32_t node = root_of(ns);
    for (size_t i = 0; i * options_.block_tokens < tokens.size(); ++i) {
        std::span<const TokenId> rest = tokens.subspan(i * options_.block_tokens);
        rest = rest.first(std::min<size_t>(rest.size(), options_.block_tokens));
        const Match match = match_child(node, rest);
        const bool covered = match.n_tokens == rest.size();
        const bool extends =
            !covered && match.child != kNone && match.n_tokens == nodes_[match.child].tokens.size();
        if (covered) {
            node = match.child;
            report.n_duplicates +=
                rest.size() == options_.block_tokens && nodes_[node].block->id() != blocks[i].id();
        } else if (extends) {
            node = match.child;
            refill(node, rest, blocks[i]);
            ++report.n_new;
            ++stats_.replaced_blocks;
        } else {
            node = add_child({node, match.slot}, rest, blocks[i]);
            ++report.n_new;
        }
    }
    stats_.inserted_blocks += report.n_new;
    stats_.duplicate_blocks += report.n_duplicates;
    touch_path(node, Touch::published);
    return report;
}

bool PrefixTree::store_logits(const NamespaceKey& ns, std::span<const TokenId> tokens,
                              std::span<const float> logits) {
    const PrefixHit hit = find(ns, tokens);
    if (hit.n_tokens == 0 || hit.n_tokens != tokens.size()) return false;
    return logits_.put(place_of(hit), logits);
}

// ---- nodes ----

uint32_t PrefixTree::new_node() {
    if (free_.empty()) {
        KVIK_CHECK(nodes_.size() < nodes_.capacity(), "no more nodes than blocks and their roots");
        nodes_.emplace_back();
        return static_cast<uint32_t>(nodes_.size() - 1);
    }
    const uint32_t node = free_.back();
    free_.pop_back();
    return node;
}

void PrefixTree::free_node(uint32_t node) {
    const uint32_t generation = nodes_[node].generation + 1;
    nodes_[node] = Node{};
    nodes_[node].generation = generation;
    free_.push_back(node);
}

uint32_t PrefixTree::root_of(const NamespaceKey& ns) {
    const auto [root, is_new] = roots_.try_emplace(ns, kNone);
    if (is_new) {
        root->second = new_node();
        nodes_[root->second].ns = &root->first;
    }
    return root->second;
}

uint32_t PrefixTree::add_child(const Slot& slot, std::span<const TokenId> tokens,
                               const BlockRef& block) {
    leave_order(slot.parent);
    const uint32_t child = new_node();
    Node& node = nodes_[child];
    node.parent = slot.parent;
    node.begin =
        nodes_[slot.parent].begin + static_cast<uint32_t>(nodes_[slot.parent].tokens.size());
    node.inserted = tick_ + 1;  // of the touch that follows
    node.block = block.share();
    node.tokens.reserve(options_.block_tokens);  // a tail grows in place
    node.tokens.assign(tokens.begin(), tokens.end());
    std::vector<uint32_t>& siblings = nodes_[slot.parent].children;
    siblings.insert(siblings.begin() + slot.index, child);
    // Logits live with the leftmost node that covers their tokens, where match_child looks.
    if (slot.index + 1 < siblings.size()) {
        const uint32_t right = siblings[slot.index + 1];
        logits_.move({right, child, common_prefix(tokens, nodes_[right].tokens)});
    }
    stats_.cached_tokens += tokens.size();
    ++stats_.cached_blocks;
    return child;
}

// The longer fill's block holds the shorter's tokens too, with the same bits: a tail has one node.
void PrefixTree::refill(uint32_t node, std::span<const TokenId> tokens, const BlockRef& block) {
    stats_.cached_tokens += tokens.size() - nodes_[node].tokens.size();
    nodes_[node].tokens.assign(tokens.begin(), tokens.end());
    nodes_[node].block = block.share();
}

void PrefixTree::remove_leaf(uint32_t leaf) {
    const uint32_t parent = nodes_[leaf].parent;
    std::vector<uint32_t>& siblings = nodes_[parent].children;
    const size_t slot = match_child(parent, nodes_[leaf].tokens).slot;
    KVIK_CHECK(siblings[slot] == leaf, "a child stands where its tokens say");
    if (slot + 1 < siblings.size()) {
        const uint32_t right = siblings[slot + 1];
        logits_.move({leaf, right, common_prefix(nodes_[leaf].tokens, nodes_[right].tokens)});
    }
    logits_.drop(leaf);
    siblings.erase(siblings.begin() + static_cast<std::ptrdiff_t>(slot));
    if (siblings.size() * 2 < siblings.capacity()) siblings.shrink_to_fit();
    stats_.cached_tokens -= nodes_[leaf].tokens.size();
    --stats_.cached_blocks;
    free_node(leaf);
    if (!nodes_[parent].children.empty()) return;
    if (nodes_[parent].ns == nullptr) return enter_order(parent);
    roots_.erase(*nodes_[parent].ns);
    free_node(parent);
}

// ---- evicting ----

void PrefixTree::enter_order(uint32_t node) {
    if (!nodes_[node].children.empty() || !nodes_[node].block || nodes_[node].n_pins > 0) return;
    by_rank_.emplace(nodes_[node].rank, node);
}

void PrefixTree::leave_order(uint32_t node) {
    by_rank_.erase({nodes_[node].rank, node});
}

// Who else owns a block changes behind the tree's back, so it is asked when a leaf's turn comes.
uint32_t PrefixTree::remove_leaves(uint32_t n_leaves, Owners owners) {
    std::vector<std::set<Ranked>::node_type> passed_over;
    uint32_t n_removed = 0;
    while (n_removed < n_leaves && !by_rank_.empty()) {
        auto next = by_rank_.extract(by_rank_.begin());
        const uint32_t leaf = next.value().second;
        if (nodes_[leaf].block->is_shared() != (owners == Owners::others_too)) {
            passed_over.push_back(std::move(next));
            continue;
        }
        clock_ = std::max(clock_, next.value().first.value);
        remove_leaf(leaf);  // its parent may be next
        ++n_removed;
    }
    for (auto& leaf : passed_over) by_rank_.insert(std::move(leaf));
    stats_.evicted_blocks += n_removed;
    return n_removed;
}

uint32_t PrefixTree::evict(uint32_t n_blocks) {
    return remove_leaves(n_blocks, Owners::tree_alone);
}

uint32_t PrefixTree::let_go_shared(uint32_t n_leaves) {
    return remove_leaves(n_leaves, Owners::others_too);
}

}  // namespace kvik
