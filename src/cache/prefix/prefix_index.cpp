#include "cache/prefix/prefix_index.h"

#include <algorithm>

#include "base/check.h"

namespace kvik {

PrefixIndex::PrefixIndex(uint32_t block_tokens, uint64_t max_nodes) : block_tokens_(block_tokens) {
    KVIK_CHECK(block_tokens > 0, "a block has tokens");
    nodes_.reserve(max_nodes);
    free_.reserve(max_nodes);
}

bool PrefixIndex::is_alive(const NodeHandle& handle) const {
    return handle.index < nodes_.size() && nodes_[handle.index].generation == handle.generation &&
           nodes_[handle.index].parent != kNoNode;
}

// ---- matching and walking ----

// Siblings are sorted and none begins another. The child that shares most tokens is therefore next
// to the slot of `rest`, on its left or on its right; a child that covers `rest` to its end is on
// the right, and is the leftmost that does.
PrefixIndex::Match PrefixIndex::match(uint32_t parent, ChildList kind,
                                      std::span<const TokenId> rest) const {
    const std::vector<uint32_t>& list = nodes_[parent].children(kind);
    rest = rest.first(std::min<size_t>(rest.size(), block_tokens_));
    const auto at = std::lower_bound(list.begin(), list.end(), rest,
                                     [this](uint32_t child, std::span<const TokenId> tokens) {
                                         const std::vector<TokenId>& own = nodes_[child].tokens;
                                         return std::lexicographical_compare(
                                             own.begin(), own.end(), tokens.begin(), tokens.end());
                                     });
    Match best{.child = kNoNode, .n_tokens = 0, .slot = static_cast<size_t>(at - list.begin())};
    const auto consider = [&](uint32_t child) {
        const uint32_t n = common_prefix(nodes_[child].tokens, rest);
        if (n > best.n_tokens) best.child = child, best.n_tokens = n;
    };
    if (at != list.end()) consider(*at);
    if (at != list.begin()) consider(*(at - 1));
    return best;
}

// Goes one node on. False: no child matches, or only in part, so that nothing below can follow.
bool PrefixIndex::extend(PrefixPath& path, ChildList list, std::span<const TokenId> tokens) const {
    if (path.n_tokens >= tokens.size()) return false;
    const Match next = match(path.end(), list, tokens.subspan(path.n_tokens));
    if (next.n_tokens == 0) return false;
    path.nodes.push_back(next.child);
    path.n_tokens += next.n_tokens;
    return next.n_tokens == block_tokens_;
}

PrefixPath PrefixIndex::walk_resident(const NamespaceKey& ns,
                                      std::span<const TokenId> tokens) const {
    PrefixPath path;
    const auto root = roots_.find(ns);
    if (root == roots_.end()) return path;
    path.root = root->second;
    path.nodes.reserve(tokens.size() / block_tokens_ + 1);
    while (extend(path, ChildList::resident, tokens)) {
    }
    path.n_resident = static_cast<uint32_t>(path.nodes.size());
    return path;
}

PrefixPath PrefixIndex::walk_on_offloaded(const PrefixPath& resident,
                                          std::span<const TokenId> tokens) const {
    PrefixPath path = resident;
    if (path.root == kNoNode) return path;
    if (const uint32_t rest = path.n_tokens % block_tokens_; rest > 0) {
        path.nodes.pop_back();
        path.n_tokens -= rest;
    }
    path.n_resident = static_cast<uint32_t>(path.nodes.size());
    while (extend(path, ChildList::offloaded, tokens)) {
    }
    return path;
}

// ---- nodes ----

uint32_t PrefixIndex::take_number() {
    if (free_.empty()) {
        KVIK_CHECK(nodes_.size() < nodes_.capacity(), "no more nodes than there may be");
        nodes_.emplace_back();
        return static_cast<uint32_t>(nodes_.size() - 1);
    }
    const uint32_t node = free_.back();
    free_.pop_back();
    return node;
}

uint32_t PrefixIndex::root_of(const NamespaceKey& ns) {
    const auto [root, is_new] = roots_.try_emplace(ns, kNoNode);
    if (is_new) {
        root->second = take_number();
        nodes_[root->second].ns = &root->first;
        nodes_[root->second].is_resident = true;
    }
    return root->second;
}

uint32_t PrefixIndex::add_node(uint32_t parent, std::span<const TokenId> tokens) {
    const uint32_t at = take_number();
    PrefixNode& node = nodes_[at];
    node.parent = parent;
    node.begin = nodes_[parent].end();
    node.tokens.reserve(block_tokens_);  // a tail grows without another allocation
    node.tokens.assign(tokens.begin(), tokens.end());
    return at;
}

void PrefixIndex::free_node(uint32_t node) {
    const uint32_t generation = nodes_[node].generation + 1;
    nodes_[node] = PrefixNode{};
    nodes_[node].generation = generation;
    free_.push_back(node);
}

void PrefixIndex::free_root_if_empty(uint32_t root) {
    if (nodes_[root].n_children() > 0) return;
    roots_.erase(*nodes_[root].ns);
    free_node(root);
}

std::vector<uint32_t>& PrefixIndex::list_of(uint32_t node) {
    PrefixNode& parent = nodes_[nodes_[node].parent];
    return nodes_[node].is_resident ? parent.resident : parent.offloaded;
}

void PrefixIndex::link(uint32_t node, ChildList list) {
    PrefixNode& own = nodes_[node];
    own.is_resident = list == ChildList::resident;
    n_offloaded_ += !own.is_resident;
    const size_t slot = match(own.parent, list, own.tokens).slot;
    std::vector<uint32_t>& siblings = list_of(node);
    siblings.insert(siblings.begin() + static_cast<std::ptrdiff_t>(slot), node);
}

void PrefixIndex::unlink(uint32_t node) {
    PrefixNode& own = nodes_[node];
    const auto list = own.is_resident ? ChildList::resident : ChildList::offloaded;
    const size_t slot = match(own.parent, list, own.tokens).slot;
    std::vector<uint32_t>& siblings = list_of(node);
    KVIK_CHECK(slot < siblings.size() && siblings[slot] == node,
               "a child stands where its tokens say");
    siblings.erase(siblings.begin() + static_cast<std::ptrdiff_t>(slot));
    if (siblings.size() * 2 < siblings.capacity()) siblings.shrink_to_fit();
    n_offloaded_ -= !own.is_resident;
    own.is_resident = false;
}

void PrefixIndex::set_tokens(uint32_t node, std::span<const TokenId> tokens) {
    if (tokens.size() == nodes_[node].tokens.size()) return;
    nodes_[node].tokens.assign(tokens.begin(), tokens.end());
    nodes_[node].has_hash = false;  // only a leaf grows, so that no other hash depends on it
}

void PrefixIndex::move_offloaded_children(uint32_t from, uint32_t to) {
    if (nodes_[from].offloaded.empty()) return;
    KVIK_CHECK(nodes_[to].offloaded.empty() && nodes_[to].n_tokens() == nodes_[from].n_tokens(),
               "children go to the same tokens");
    nodes_[to].offloaded = std::move(nodes_[from].offloaded);
    nodes_[from].offloaded = {};
    for (const uint32_t child : nodes_[to].offloaded) nodes_[child].parent = to;
}

const BlockHash& PrefixIndex::block_hash(const NamespaceKey& ns, uint32_t node) {
    static constexpr BlockHash kOfRoot = kRootHash;
    std::vector<uint32_t> unhashed;
    uint32_t at = node;
    for (; !nodes_[at].is_root() && !nodes_[at].has_hash; at = nodes_[at].parent)
        unhashed.push_back(at);
    for (; !unhashed.empty(); unhashed.pop_back()) {
        PrefixNode& next = nodes_[unhashed.back()];
        const PrefixNode& parent = nodes_[next.parent];
        next.hash = kvik::block_hash(ns, parent.is_root() ? kOfRoot : parent.hash, next.tokens);
        next.has_hash = true;
    }
    return nodes_[node].is_root() ? kOfRoot : nodes_[node].hash;
}

// ---- accounts ----

// What the standard containers take around our values: a map node has three links and a colour; a
// list of children has room for at most twice its size.
static constexpr uint64_t kRootBytes = 4 * sizeof(void*) + sizeof(NamespaceKey) + sizeof(uint64_t);
static constexpr uint64_t kChildBytes = 2 * sizeof(uint32_t);

uint64_t PrefixIndex::bytes_of(const Counts& counts, uint32_t block_tokens) {
    return counts.max_nodes * (sizeof(PrefixNode) + sizeof(uint32_t)) +
           counts.n_nodes * (block_tokens * sizeof(TokenId) + kChildBytes) +
           counts.n_roots * kRootBytes;
}

void PrefixIndex::check_siblings(uint32_t at, ChildList kind) const {
    const PrefixNode& node = nodes_[at];
    const std::vector<uint32_t>& list = node.children(kind);
    KVIK_CHECK(list.capacity() <= 2 * list.size(), "child lists are as counted");
    for (size_t i = 0; i < list.size(); ++i) {
        const PrefixNode& child = nodes_[list[i]];
        KVIK_CHECK(child.parent == at, "a child knows its parent");
        KVIK_CHECK(child.is_resident == (kind == ChildList::resident), "and its list");
        KVIK_CHECK(child.begin == node.end(), "a child begins at the end");
        KVIK_CHECK(!child.tokens.empty(), "a node has tokens");
        if (i == 0) continue;
        const std::vector<TokenId>& left = nodes_[list[i - 1]].tokens;
        const auto [l, r] =
            std::mismatch(left.begin(), left.end(), child.tokens.begin(), child.tokens.end());
        KVIK_CHECK(l != left.end() && r != child.tokens.end() && *l < *r,
                   "siblings are sorted and none begins another");
    }
}

void PrefixIndex::check_invariants() const {
    size_t n_roots = 0, n_free = 0, n_children = 0, n_offloaded = 0;
    for (uint32_t at = 0; at < nodes_.size(); ++at) {
        const PrefixNode& node = nodes_[at];
        n_free += node.is_free();
        n_children += node.n_children();
        n_offloaded += !node.is_free() && !node.is_resident;
        KVIK_CHECK(node.tokens.capacity() <= block_tokens_, "token lists are as counted");
        if (node.is_root()) {
            const auto root = roots_.find(*node.ns);
            KVIK_CHECK(root != roots_.end() && root->second == at, "a root has its namespace");
            KVIK_CHECK(node.n_children() > 0, "a root lives only while it has a child");
            ++n_roots;
        } else if (node.n_children() > 0) {
            KVIK_CHECK(node.n_tokens() == block_tokens_, "only a whole block has children");
        }
        KVIK_CHECK(node.is_free() || node.is_root() || !node.is_resident ||
                       nodes_[node.parent].is_resident,
                   "all before a resident node is resident");
        KVIK_CHECK(node.is_resident || node.resident.empty(),
                   "nothing is resident below an offloaded node");
        check_siblings(at, ChildList::resident);
        check_siblings(at, ChildList::offloaded);
        if (node.has_hash && nodes_[node.parent].has_hash) {
            uint32_t root = at;
            while (!nodes_[root].is_root()) root = nodes_[root].parent;
            KVIK_CHECK(node.hash == kvik::block_hash(*nodes_[root].ns, nodes_[node.parent].hash,
                                                     node.tokens),
                       "a stored hash is that of the tokens");
        }
    }
    KVIK_CHECK(n_roots == roots_.size(), "every namespace has its root");
    KVIK_CHECK(n_free == free_.size(), "a freed node's number is free");
    KVIK_CHECK(n_children + n_roots + n_free == nodes_.size(), "a node has one parent");
    KVIK_CHECK(n_offloaded == n_offloaded_, "offloaded nodes are counted");
}

}  // namespace kvik
