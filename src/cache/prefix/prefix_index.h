// PrefixIndex: the nodes of the prefix cache and the tokens that lead to them. It knows nothing of
// blocks, time or eviction.
//
// Shape   a trie per namespace. A node has the tokens of one block index; its parent has those of
//         the index before. Siblings that diverge inside a block have a node each; a node with
//         fewer than block_tokens tokens is a leaf. A node has two lists of children, resident and
//         offloaded ones, each sorted by tokens; within a list no node's tokens begin another's.
//           root -- [the cat sat] -- [on the mat] -- [and]
//                                 |- (on the sofa)          in parentheses: offloaded
// Use     add_node(), then link() into one of the parent's lists; unlink() before the node changes
//         to the other list or is freed. Other parts keep arrays of their own by node number.
// Owner   nodes, token lists, block hashes. Numbers of freed nodes are used again; a NodeHandle
//         tells whether its node is still the same one.
// Threads the engine thread.
// Cost    match is O(log(siblings)) comparisons of token lists; a walk is one match per block. link
//         and unlink move at most all siblings. block_hash computes one SHA-256 per node that has
//         not been hashed yet, and is O(1) for others. No function scans all nodes but
//         check_invariants.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/types.h"
#include "cache/kv_keys.h"
#include "cache/prefix/prefix_types.h"

namespace kvik {

inline constexpr uint32_t kNoNode = UINT32_MAX;

// Nodes of consecutive block indices from 0 on, each wholly matched but for the last.
struct PrefixPath {
    std::vector<uint32_t> nodes;
    uint32_t n_resident = 0;  // nodes; the first so many are resident, the others are not
    uint32_t n_tokens = 0;    // matched
    uint32_t root = kNoNode;  // kNoNode: nothing of this namespace is known
    uint32_t end() const { return nodes.empty() ? root : nodes.back(); }
};

enum class ChildList : uint8_t { resident, offloaded };

struct PrefixNode {
    uint32_t parent = kNoNode;    // kNoNode: a root, or free
    uint32_t generation = 0;      // grows whenever a node with this number is freed
    uint32_t begin = 0;           // tokens before it
    bool is_resident = false;     // it is in its parent's list of resident nodes, or a root
    bool has_hash = false;        // `hash` is that of these tokens
    BlockHash hash = {};          // see PrefixIndex::block_hash
    std::vector<TokenId> tokens;  // [1 .. block_tokens]; a root has none
    std::vector<uint32_t> resident, offloaded;  // children
    const NamespaceKey* ns = nullptr;           // roots only

    bool is_root() const { return ns != nullptr; }
    bool is_free() const { return parent == kNoNode && ns == nullptr; }
    uint32_t n_tokens() const { return static_cast<uint32_t>(tokens.size()); }
    uint32_t end() const { return begin + n_tokens(); }
    size_t n_children() const { return resident.size() + offloaded.size(); }
    const std::vector<uint32_t>& children(ChildList list) const {
        return list == ChildList::resident ? resident : offloaded;
    }
};

class PrefixIndex {
  public:
    // How far the tokens after a node go on in the child that shares most of them.
    struct Match {
        uint32_t child = kNoNode;  // kNoNode: no child has a token in common
        uint32_t n_tokens = 0;
        size_t slot = 0;  // where in the list these tokens stand or would stand
    };

    PrefixIndex(uint32_t block_tokens, uint64_t max_nodes);

    // ---- reading ----

    const PrefixNode& operator[](uint32_t node) const { return nodes_[node]; }
    uint32_t block_tokens() const { return block_tokens_; }
    uint32_t n_slots() const { return static_cast<uint32_t>(nodes_.size()); }  // free ones too
    uint32_t n_offloaded() const { return n_offloaded_; }                      // nodes
    uint32_t block_index(uint32_t node) const { return nodes_[node].begin / block_tokens_; }
    NodeHandle handle(uint32_t node) const { return {node, nodes_[node].generation}; }
    bool is_alive(const NodeHandle& handle) const;
    const std::map<NamespaceKey, uint32_t>& roots() const { return roots_; }

    // Among the children of one list: the one that shares most tokens with `rest`.
    Match match(uint32_t parent, ChildList list, std::span<const TokenId> rest) const;
    // The longest path of resident nodes that `tokens` begin with.
    PrefixPath walk_resident(const NamespaceKey& ns, std::span<const TokenId> tokens) const;
    // From the whole blocks of a resident path on among offloaded nodes. The result may be shorter
    // than `resident`, whose partly matched last node it leaves out.
    PrefixPath walk_on_offloaded(const PrefixPath& resident, std::span<const TokenId> tokens) const;

    // ---- changing ----

    uint32_t root_of(const NamespaceKey& ns);  // makes it if need be
    // Returns a node that is in no list yet.
    uint32_t add_node(uint32_t parent, std::span<const TokenId> tokens);
    void link(uint32_t node, ChildList list);
    void unlink(uint32_t node);  // from the list that it is in
    void free_node(uint32_t node);
    // The root is freed if it has no children.
    void free_root_if_empty(uint32_t root);
    // Replaces a node's tokens by others that begin with them: its place among its siblings stays.
    void set_tokens(uint32_t node, std::span<const TokenId> tokens);
    // All offloaded children of `from` become children of `to`, which has the same tokens and none.
    void move_offloaded_children(uint32_t from, uint32_t to);

    // The hash of a block (block_hash.h), kept in its node. A root gives kRootHash.
    const BlockHash& block_hash(const NamespaceKey& ns, uint32_t node);

    // ---- accounts ----

    uint64_t n_nodes() const { return nodes_.size() - free_.size() - roots_.size(); }
    // Bytes for max_nodes numbers of which n_nodes are nodes and n_roots are roots.
    struct Counts {
        uint64_t max_nodes = 0, n_nodes = 0, n_roots = 0;
    };
    static uint64_t bytes_of(const Counts& counts, uint32_t block_tokens);
    void check_invariants() const;  // O(nodes)

  private:
    std::vector<uint32_t>& list_of(uint32_t node);
    uint32_t take_number();
    bool extend(PrefixPath& path, ChildList list, std::span<const TokenId> tokens) const;
    void check_siblings(uint32_t parent, ChildList list) const;

    uint32_t block_tokens_;
    std::vector<PrefixNode> nodes_;  // its capacity is the most there can be, from the start
    std::vector<uint32_t> free_;     // numbers of freed nodes
    std::map<NamespaceKey, uint32_t> roots_;
    uint32_t n_offloaded_ = 0;
};

}  // namespace kvik
