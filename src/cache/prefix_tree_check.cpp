// The accounts of the prefix tree and the laws it must obey after every step.
#include <algorithm>

#include "base/check.h"
#include "cache/prefix_tree.h"

namespace kvik {

// What the standard containers take around our values: a map or set node has three links and a
// colour; a list of children has room for at most twice its size.
static constexpr uint64_t kTreeLinks = 4 * sizeof(void*);
static constexpr uint64_t kRankBytes = kTreeLinks + sizeof(std::pair<EvictionRank, uint32_t>);
static constexpr uint64_t kTimedPinBytes = kTreeLinks + sizeof(std::pair<double, uint32_t>);
static constexpr uint64_t kRootBytes = kTreeLinks + sizeof(NamespaceKey) + sizeof(uint64_t);
static constexpr uint64_t kChildBytes = 2 * sizeof(uint32_t);

static uint64_t node_bytes(uint32_t block_tokens) {
    return block_tokens * sizeof(TokenId) + kChildBytes + kRankBytes + kTimedPinBytes;
}

uint64_t PrefixTree::index_bytes(uint32_t n_blocks, uint32_t block_tokens) {
    const uint64_t slots = 2 * (sizeof(Node) + sizeof(uint32_t));
    return n_blocks * (slots + node_bytes(block_tokens) + kRootBytes);
}

uint64_t PrefixTree::n_bytes() const {
    return nodes_.capacity() * sizeof(Node) + free_.capacity() * sizeof(uint32_t) +
           stats_.cached_blocks * node_bytes(options_.block_tokens) + roots_.size() * kRootBytes +
           logits_.n_bytes();
}

PrefixStats PrefixTree::stats() const {
    PrefixStats stats = stats_;
    stats.n_bytes = n_bytes();
    return stats;
}

void PrefixTree::check_node(uint32_t at) const {
    const Node& node = nodes_[at];
    KVIK_CHECK(node.tokens.capacity() <= options_.block_tokens, "token lists are as counted");
    KVIK_CHECK(node.children.capacity() <= 2 * node.children.size(), "child lists are as counted");
    const bool is_evictable = node.block && node.children.empty() && node.n_pins == 0;
    KVIK_CHECK(by_rank_.contains({node.rank, at}) == is_evictable,
               "unpinned leaves wait for eviction");
    if (!node.children.empty())
        KVIK_CHECK(node.ns || node.tokens.size() == options_.block_tokens,
                   "only a whole block has children");
    for (size_t i = 0; i < node.children.size(); ++i) {
        const Node& child = nodes_[node.children[i]];
        KVIK_CHECK(child.parent == at && child.block, "a child knows its parent");
        KVIK_CHECK(!child.tokens.empty(), "an edge has tokens");
        KVIK_CHECK(child.begin == node.begin + node.tokens.size(), "a child begins at the end");
        KVIK_CHECK(child.last_use <= node.last_use, "a path was used when its end was");
        if (i == 0) continue;
        const std::vector<TokenId>& left = nodes_[node.children[i - 1]].tokens;
        const auto [l, r] =
            std::mismatch(left.begin(), left.end(), child.tokens.begin(), child.tokens.end());
        KVIK_CHECK(l != left.end() && r != child.tokens.end() && *l < *r,
                   "siblings are sorted and none begins another");
    }
}

void PrefixTree::check_pins() const {
    std::vector<uint32_t> n_timed(nodes_.size(), 0);
    for (const auto& [until_ms, node] : timed_pins_) {
        KVIK_CHECK(nodes_[node].pinned_until == until_ms && until_ms > now_ms_,
                   "a pin with a time ends when its time has come");
        for (uint32_t at = node; !nodes_[at].ns; at = nodes_[at].parent) ++n_timed[at];
    }
    uint32_t n_blocks = 0;
    for (uint32_t at = 0; at < nodes_.size(); ++at) {
        KVIK_CHECK(nodes_[at].n_timed == n_timed[at], "pins with a time are counted on their path");
        n_blocks += n_timed[at] > 0;
    }
    KVIK_CHECK(n_blocks == n_timed_blocks_, "what pins with a time hold is counted");
    KVIK_CHECK(uint64_t{n_blocks} * 100 <= uint64_t{options_.n_blocks} * options_.pinned_percent,
               "pins with a time hold no more than their share");
}

void PrefixTree::check_invariants() const {
    std::vector<BlockId> blocks;
    uint64_t n_tokens = 0;
    size_t n_roots = 0, n_children = 0, n_dead = 0, n_leaves = 0;
    uint32_t n_pins = 0;
    for (uint32_t at = 0; at < nodes_.size(); ++at) {
        const Node& node = nodes_[at];
        n_dead += !node.block && !node.ns;
        n_children += node.children.size();
        n_pins += node.n_pins - (node.pinned_until > 0);
        if (node.ns) {
            const auto root = roots_.find(*node.ns);
            KVIK_CHECK(root != roots_.end() && root->second == at, "a root has its namespace");
            KVIK_CHECK(!node.children.empty(), "a root lives only while it has a child");
            ++n_roots;
        }
        if (node.block) {
            blocks.push_back(node.block->id());
            n_tokens += node.tokens.size();
            n_leaves += node.children.empty() && node.n_pins == 0;
        }
        check_node(at);
    }
    KVIK_CHECK(n_roots == roots_.size(), "every namespace has its root");
    KVIK_CHECK(n_dead == free_.size(), "a dead node is free");
    KVIK_CHECK(n_children == blocks.size(), "every block hangs on exactly one parent");
    KVIK_CHECK(n_leaves == by_rank_.size(), "nothing else waits for eviction");
    KVIK_CHECK(n_pins == n_pinned_, "every pin is counted");
    KVIK_CHECK(blocks.size() == stats_.cached_blocks && n_tokens == stats_.cached_tokens,
               "what is cached is counted");
    std::sort(blocks.begin(), blocks.end());
    KVIK_CHECK(std::adjacent_find(blocks.begin(), blocks.end()) == blocks.end(),
               "a block belongs to one node");
    check_pins();
    logits_.check_invariants();
    KVIK_CHECK(
        n_bytes() <= index_bytes(options_.n_blocks, options_.block_tokens) + options_.logits_bytes,
        "one budget counts everything");
}

}  // namespace kvik
