// The accounts of the prefix tree and the laws it must obey after every step.
#include <algorithm>

#include "base/check.h"
#include "cache/prefix/prefix_cache.h"

namespace kvik {

// ---- bytes ----

// What the standard containers take around our values: a map or set node has three links and a
// colour; a list of children has room for at most twice its size.
static constexpr uint64_t kTreeLinks = 4 * sizeof(void*);
static constexpr uint64_t kRankBytes = kTreeLinks + sizeof(std::pair<EvictionRank, uint32_t>);
static constexpr uint64_t kTimedPinBytes = kTreeLinks + sizeof(std::pair<double, uint32_t>);
static constexpr uint64_t kListBytes =  // its entry among the loose or the offloaded nodes
    kTreeLinks + sizeof(std::tuple<uint64_t, uint64_t, uint32_t>);
static constexpr uint64_t kRootBytes = kTreeLinks + sizeof(NamespaceKey) + sizeof(uint64_t);
static constexpr uint64_t kChildBytes = 3 * sizeof(uint32_t);  // half_loaded_ too

static uint64_t node_bytes(uint32_t block_tokens) {
    return block_tokens * sizeof(TokenId) + kChildBytes + kRankBytes + kTimedPinBytes + kListBytes;
}

uint64_t PrefixCache::index_bytes(const IndexSize& size) {
    const uint64_t n_nodes = uint64_t{size.n_blocks} + size.n_offloaded + 1;
    const uint64_t slot = sizeof(Node) + size.n_groups * sizeof(NodeBlock) + sizeof(uint32_t);
    return n_nodes * (2 * slot + node_bytes(size.block_tokens) + kRootBytes);
}

uint64_t PrefixCache::n_bytes() const {
    const uint64_t n_nodes = nodes_.size() - free_.size() - roots_.size();
    return nodes_.capacity() * sizeof(Node) + blocks_.capacity() * sizeof(NodeBlock) +
           free_.capacity() * sizeof(uint32_t) + n_nodes * node_bytes(options_.block_tokens) +
           roots_.size() * kRootBytes + logits_.n_bytes();
}

PrefixStats PrefixCache::stats() const {
    PrefixStats stats = stats_;
    stats.n_offloaded = n_offloaded_;
    stats.pinned_blocks = n_timed_blocks_;
    stats.n_bytes = n_bytes();
    return stats;
}

// ---- nodes ----

void PrefixCache::check_siblings(uint32_t at, const std::vector<uint32_t>& list) const {
    const Node& node = nodes_[at];
    KVIK_CHECK(list.capacity() <= 2 * list.size(), "child lists are as counted");
    for (size_t i = 0; i < list.size(); ++i) {
        const Node& child = nodes_[list[i]];
        KVIK_CHECK(child.parent == at, "a child knows its parent");
        KVIK_CHECK(child.begin == node.begin + node.tokens.size(), "a child begins at the end");
        KVIK_CHECK(!child.tokens.empty(), "an edge has tokens");
        KVIK_CHECK(child.last_use <= node.last_use, "a path was used when its end was");
        if (i == 0) continue;
        const std::vector<TokenId>& left = nodes_[list[i - 1]].tokens;
        const auto [l, r] =
            std::mismatch(left.begin(), left.end(), child.tokens.begin(), child.tokens.end());
        KVIK_CHECK(l != left.end() && r != child.tokens.end() && *l < *r,
                   "siblings are sorted and none begins another");
    }
}

void PrefixCache::check_resident(uint32_t at) const {
    const Node& node = nodes_[at];
    KVIK_CHECK(node.parent == kNone || nodes_[node.parent].is_resident,
               "all before a resident node is resident");
    if (node.ns) return;
    for (uint32_t g = 0; g < n_groups(); ++g) {
        const NodeBlock& own = block(at, g);
        KVIK_CHECK(own.ref.has_value() == (own.n_rows > 0),
                   "a block counts as far as it is filled");
        KVIK_CHECK(
            g < n_full_ ? own.n_rows == node.tokens.size() : own.n_rows <= node.tokens.size(),
            "full groups hold all tokens of a resident node");
    }
    for (const uint32_t offloaded : nodes_[node.parent].offloaded) {
        const std::vector<TokenId>& begun = nodes_[offloaded].tokens;
        KVIK_CHECK(std::mismatch(begun.begin(), begun.end(), node.tokens.begin(), node.tokens.end())
                           .first != begun.end(),
                   "no offloaded node is or begins a node that is resident");
    }
}

void PrefixCache::check_offloaded(uint32_t at) const {
    const Node& node = nodes_[at];
    KVIK_CHECK(node.resident.empty() && node.n_pins == 0 && node.n_timed == 0,
               "nothing is resident below an offloaded node");
    KVIK_CHECK(node.n_anchors == 0 && node.resume_rows == 0, "resume points die with their node");
    KVIK_CHECK(offloaded_leaves_.contains({node.tier.ref != kNoTier, node.last_use, at}) ==
                   node.offloaded.empty(),
               "childless offloaded nodes wait to go");
    uint32_t n_read = 0;
    for (uint32_t g = 0; g < n_groups(); ++g) n_read += block(at, g).ref.has_value();
    KVIK_CHECK((n_read > 0) == (std::ranges::count(half_loaded_, at) == 1),
               "what was read in part is known");
}

void PrefixCache::check_node(uint32_t at) const {
    const Node& node = nodes_[at];
    const bool is_evictable =
        node.is_resident && !node.ns && node.resident.empty() && node.n_pins == 0;
    KVIK_CHECK(by_rank_.contains({node.rank, at}) == is_evictable,
               "unpinned leaves wait for eviction");
    KVIK_CHECK(node.tokens.capacity() <= options_.block_tokens, "token lists are as counted");
    if (!node.resident.empty() || !node.offloaded.empty())
        KVIK_CHECK(node.ns || node.tokens.size() == options_.block_tokens,
                   "only a whole block_index has children");
    KVIK_CHECK(node.tier.n_tokens <= node.tokens.size() &&
                   (node.tier.ref == kNoTier) == (node.tier.n_tokens == 0),
               "a record holds tokens of its node");
    check_siblings(at, node.resident);
    check_siblings(at, node.offloaded);
    if (node.is_resident)
        check_resident(at);
    else if (node.parent != kNone)
        check_offloaded(at);
}

// ---- accounts ----

void PrefixCache::check_pins() const {
    std::vector<uint32_t> n_timed(nodes_.size(), 0);
    uint32_t n_blocks = 0;
    for (const auto& [until_ms, node] : timed_pins_) {
        KVIK_CHECK(nodes_[node].pinned_until == until_ms && until_ms > now_ms_,
                   "a pin with a time ends when its time has come");
        n_blocks += timed_windows(node);
        for (uint32_t at = node; !nodes_[at].ns; at = nodes_[at].parent) ++n_timed[at];
    }
    for (uint32_t at = 0; at < nodes_.size(); ++at) {
        KVIK_CHECK(nodes_[at].n_timed == n_timed[at], "pins with a time are counted on their path");
        n_blocks += n_timed[at] > 0 ? n_full_ : 0;
    }
    KVIK_CHECK(n_blocks == n_timed_blocks_, "what pins with a time hold is counted");
    KVIK_CHECK(uint64_t{n_blocks} * 100 <= uint64_t{options_.n_blocks} * options_.pinned_percent,
               "pins with a time hold no more than their share");
}

void PrefixCache::check_anchors() const {
    std::vector<uint32_t> n_anchors(nodes_.size(), 0);
    for (uint32_t node = 0; node < nodes_.size(); ++node) {
        if (nodes_[node].resume_rows == 0) continue;
        const uint32_t first = first_anchored(nodes_[node], nodes_[node].resume_rows);
        for (uint32_t at = node; !nodes_[at].ns && block_index_of(at) >= first;
             at = nodes_[at].parent)
            ++n_anchors[at];
    }
    size_t n_loose = 0;
    for (uint32_t at = 0; at < nodes_.size(); ++at) {
        const Node& node = nodes_[at];
        KVIK_CHECK(node.n_anchors == n_anchors[at], "resume points anchor their windows");
        bool has_window = false;
        for (uint32_t g = n_full_; g < n_groups(); ++g) has_window |= block(at, g).ref.has_value();
        const bool is_loose = node.is_resident && has_window && node.n_anchors == 0;
        KVIK_CHECK((node.loose_since > 0) == is_loose, "what no resume point needs is loose");
        KVIK_CHECK(!is_loose || loose_.contains({node.loose_since, node.begin, at}),
                   "the loose wait for eviction");
        n_loose += is_loose;
    }
    KVIK_CHECK(n_loose == loose_.size(), "nothing else is loose");
}

void PrefixCache::check_blocks() const {
    std::vector<BlockId> blocks;
    for (const NodeBlock& own : blocks_)
        if (own.ref) blocks.push_back(own.ref->id());
    KVIK_CHECK(blocks.size() == stats_.cached_blocks, "every block is counted");
    std::ranges::sort(blocks);
    KVIK_CHECK(std::ranges::adjacent_find(blocks) == blocks.end(), "a block belongs to one node");
}

void PrefixCache::check_invariants() const {
    uint64_t n_tokens = 0;
    size_t n_roots = 0, n_dead = 0, n_children = 0, n_leaves = 0, n_childless = 0;
    uint32_t n_pins = 0, n_offloaded = 0;
    for (uint32_t at = 0; at < nodes_.size(); ++at) {
        const Node& node = nodes_[at];
        n_dead += node.parent == kNone && !node.ns;
        n_children += node.resident.size() + node.offloaded.size();
        n_pins += node.n_pins - (node.pinned_until > 0);
        if (node.ns) {
            const auto root = roots_.find(*node.ns);
            KVIK_CHECK(root != roots_.end() && root->second == at, "a root has its namespace");
            KVIK_CHECK(!node.resident.empty() || !node.offloaded.empty(),
                       "a root lives only while it has a child");
            ++n_roots;
        } else if (node.is_resident) {
            n_tokens += node.tokens.size();
            n_leaves += node.resident.empty() && node.n_pins == 0;
        } else if (node.parent != kNone) {
            ++n_offloaded;
            n_childless += node.offloaded.empty();
        }
        check_node(at);
    }
    KVIK_CHECK(n_roots == roots_.size(), "every namespace has its root");
    KVIK_CHECK(n_dead == free_.size(), "a dead node is free");
    KVIK_CHECK(n_children + n_roots + n_dead == nodes_.size(), "a node hangs on one parent");
    KVIK_CHECK(n_leaves == by_rank_.size(), "nothing else waits for eviction");
    KVIK_CHECK(n_offloaded == n_offloaded_ && n_offloaded <= options_.n_offloaded,
               "offloaded nodes are counted");
    KVIK_CHECK(n_childless == offloaded_leaves_.size(), "no other offloaded waits to go");
    KVIK_CHECK(n_pins == n_pinned_, "every pin is counted");
    KVIK_CHECK(n_tokens == stats_.cached_tokens, "what is cached is counted");
    check_blocks();
    check_pins();
    check_anchors();
    logits_.check_invariants();
    KVIK_CHECK(
        n_bytes() <= options_.logits_bytes + index_bytes({.n_blocks = options_.n_blocks,
                                                          .n_offloaded = options_.n_offloaded,
                                                          .block_tokens = options_.block_tokens,
                                                          .n_groups = n_groups()}),
        "one budget counts everything");
}

}  // namespace kvik
