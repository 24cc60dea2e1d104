// The nodes of the prefix tree: how they come, change between resident and offloaded, and go.
#include "cache/prefix/prefix_cache.h"

#include <algorithm>

#include "base/check.h"

namespace kvik {

PrefixCache::PrefixCache(const PrefixCacheOptions& options)
    : options_(options), windows_(1, 0), logits_(options.logits_bytes) {
    KVIK_CHECK(options.block_tokens > 0, "a block has tokens");
    if (options.groups) {
        windows_.clear();
        for (const KvGroup& group : options.groups->groups) windows_.push_back(group.window);
        n_full_ = static_cast<uint32_t>(std::ranges::count(windows_, 0u));
        most_window_ = *std::ranges::max_element(windows_);
    }
    KVIK_CHECK(windows_.size() <= kMostGroups, "a group is a bit of a mask");
    KVIK_CHECK(n_full_ > 0 && std::all_of(windows_.begin(), windows_.begin() + n_full_,
                                          [](uint32_t window) { return window == 0; }),
               "full groups come first, and there is one");
    // A root lives only while it has a child; one more while the least recently used offloaded node
    // goes.
    const uint64_t n_nodes = 2ull * (uint64_t{options.n_blocks} + options.n_offloaded) + 2;
    nodes_.reserve(n_nodes);
    blocks_.reserve(n_nodes * windows_.size());
    free_.reserve(n_nodes);
}

PrefixCache::~PrefixCache() {
    KVIK_CHECK(n_pinned_ == 0, "the tree outlives its pins");
}

bool PrefixCache::is_alive(const NodeHandle& handle) const {
    return handle.index < nodes_.size() && nodes_[handle.index].generation == handle.generation &&
           nodes_[handle.index].parent != kNone;
}

bool PrefixCache::is_resident(const NodeHandle& handle) const {
    return is_alive(handle) && nodes_[handle.index].is_resident;
}

// ---- coming and going ----

uint32_t PrefixCache::new_slot() {
    if (free_.empty()) {
        KVIK_CHECK(nodes_.size() < nodes_.capacity(), "no more nodes than there may be");
        nodes_.emplace_back();
        for (uint32_t g = 0; g < n_groups(); ++g) blocks_.emplace_back();
        return static_cast<uint32_t>(nodes_.size() - 1);
    }
    const uint32_t node = free_.back();
    free_.pop_back();
    return node;
}

uint32_t PrefixCache::new_node(uint32_t parent, std::span<const TokenId> tokens) {
    const uint32_t at = new_slot();
    Node& node = nodes_[at];
    node.parent = parent;
    node.begin = nodes_[parent].begin + static_cast<uint32_t>(nodes_[parent].tokens.size());
    node.inserted = tick_ + 1;                   // of the touch that follows
    node.tokens.reserve(options_.block_tokens);  // a tail grows in place
    node.tokens.assign(tokens.begin(), tokens.end());
    return at;
}

void PrefixCache::free_node(uint32_t node) {
    const uint32_t generation = nodes_[node].generation + 1;
    nodes_[node] = Node{};
    nodes_[node].generation = generation;
    free_.push_back(node);
}

uint32_t PrefixCache::root_of(const NamespaceKey& ns) {
    const auto [root, is_new] = roots_.try_emplace(ns, kNone);
    if (is_new) {
        root->second = new_slot();
        nodes_[root->second].ns = &root->first;
        nodes_[root->second].is_resident = true;
    }
    return root->second;
}

void PrefixCache::remove(uint32_t node) {
    const uint32_t parent = nodes_[node].parent;
    if (nodes_[node].is_resident)
        leave_resident(node);
    else
        leave_offloaded(node);
    free_node(node);
    after_loss_of_child(parent);
}

void PrefixCache::after_loss_of_child(uint32_t parent) {
    Node& node = nodes_[parent];
    if (node.ns == nullptr)
        return node.is_resident ? enter_order(parent) : enter_offloaded_leaves(parent);
    if (!node.resident.empty() || !node.offloaded.empty()) return;
    roots_.erase(*node.ns);
    free_node(parent);
}

// ---- lists of children ----

void PrefixCache::add_to(std::vector<uint32_t>& list, uint32_t node) {
    const size_t slot = match(list, nodes_[node].tokens).slot;
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(slot), node);
}

void PrefixCache::take_from(std::vector<uint32_t>& list, uint32_t node) {
    const size_t slot = match(list, nodes_[node].tokens).slot;
    KVIK_CHECK(slot < list.size() && list[slot] == node, "a child stands where its tokens say");
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(slot));
    if (list.size() * 2 < list.capacity()) list.shrink_to_fit();
}

static uint32_t common_prefix(std::span<const TokenId> a, std::span<const TokenId> b) {
    const size_t n = std::min(a.size(), b.size());
    return static_cast<uint32_t>(std::mismatch(a.begin(), a.begin() + n, b.begin()).first -
                                 a.begin());
}

// Logits live with the leftmost resident node that covers their tokens, where match looks.
void PrefixCache::join_resident(uint32_t node) {
    const uint32_t parent = nodes_[node].parent;
    leave_order(parent);
    std::vector<uint32_t>& siblings = nodes_[parent].resident;
    add_to(siblings, node);
    nodes_[node].is_resident = true;
    const size_t slot = match(siblings, nodes_[node].tokens).slot;
    if (slot + 1 < siblings.size()) {
        const uint32_t right = siblings[slot + 1];
        logits_.move({right, node, common_prefix(nodes_[node].tokens, nodes_[right].tokens)});
    }
    stats_.cached_tokens += nodes_[node].tokens.size();
}

void PrefixCache::leave_resident(uint32_t node) {
    leave_order(node);
    drop_resume_points(node);
    clear_blocks(node, 0);
    std::vector<uint32_t>& siblings = nodes_[nodes_[node].parent].resident;
    const size_t slot = match(siblings, nodes_[node].tokens).slot;
    if (slot + 1 < siblings.size()) {
        const uint32_t right = siblings[slot + 1];
        logits_.move({node, right, common_prefix(nodes_[node].tokens, nodes_[right].tokens)});
    }
    logits_.drop(node);
    take_from(siblings, node);
    nodes_[node].is_resident = false;
    stats_.cached_tokens -= nodes_[node].tokens.size();
}

void PrefixCache::join_offloaded(uint32_t node) {
    leave_offloaded_leaves(nodes_[node].parent);
    add_to(nodes_[nodes_[node].parent].offloaded, node);
    ++n_offloaded_;
    enter_offloaded_leaves(node);
}

void PrefixCache::leave_offloaded(uint32_t node) {
    leave_offloaded_leaves(node);
    drop_read(node);
    take_from(nodes_[nodes_[node].parent].offloaded, node);
    --n_offloaded_;
}

// ---- offloading ----

// Only its tokens and its record stay. Of offloaded siblings, too, none begins another.
void PrefixCache::offload(uint32_t leaf) {
    if (options_.n_offloaded == 0) return remove(leaf);
    const uint32_t parent = nodes_[leaf].parent;
    leave_resident(leaf);
    nodes_[leaf].evicted_ms = now_ms_;
    nodes_[leaf].rank.is_fresh = true;
    const std::span<const TokenId> tokens = nodes_[leaf].tokens;
    const Match nearest = match(nodes_[parent].offloaded, tokens);
    if (nearest.child != kNone && nearest.n_tokens == tokens.size()) {  // it begins that one
        absorb(nearest.child, leaf);
        free_node(leaf);
    } else {
        if (nearest.child != kNone && nearest.n_tokens == nodes_[nearest.child].tokens.size()) {
            leave_offloaded(nearest.child);
            absorb(leaf, nearest.child);
            free_node(nearest.child);
        }
        join_offloaded(leaf);
    }
    after_loss_of_child(parent);
    trim_offloaded();
}

// The history, record and children of one of two nodes whose tokens begin alike go to the other,
// which has no children of its own if that one has.
void PrefixCache::absorb(uint32_t node, uint32_t other) {
    Node& to = nodes_[node];
    Node& from = nodes_[other];
    if (from.tier.n_tokens > to.tier.n_tokens) set_tier(node, from.tier);
    leave_offloaded_leaves(node);
    to.n_uses = std::max(to.n_uses, from.n_uses);
    to.last_use = std::max(to.last_use, from.last_use);
    if (!from.offloaded.empty()) {
        KVIK_CHECK(to.offloaded.empty() && to.tokens.size() == from.tokens.size(),
                   "children go to the same tokens");
        to.offloaded = std::move(from.offloaded);
        for (const uint32_t child : to.offloaded) nodes_[child].parent = node;
    }
    enter_offloaded_leaves(node);
}

void PrefixCache::trim_offloaded() {
    while (n_offloaded_ > options_.n_offloaded) remove(std::get<2>(*offloaded_leaves_.begin()));
}

// Ghosts go before records, and in each kind the least recently used.
void PrefixCache::enter_offloaded_leaves(uint32_t at) {
    const Node& node = nodes_[at];
    if (node.is_resident || !node.offloaded.empty()) return;
    offloaded_leaves_.emplace(node.tier.ref != kNoTier, node.last_use, at);
}

void PrefixCache::leave_offloaded_leaves(uint32_t at) {
    offloaded_leaves_.erase({nodes_[at].tier.ref != kNoTier, nodes_[at].last_use, at});
}

}  // namespace kvik
