// Resume points of the prefix tree: logical blocks from which groups with a window can go on, since
// what lies in their windows is anchored. What is not is loose, and the first to be evicted.
#include <algorithm>

#include "base/check.h"
#include "cache/prefix/prefix_cache.h"

namespace kvik {

// One token before is served as well: a prompt without stored logits computes its last token again.
uint32_t PrefixCache::first_anchored(const Node& node, uint32_t rows) const {
    return first_block(most_window_, node.begin + rows - 1);
}

// What lies in the widest window before a resume point is anchored as long as its node is resident.
// Of several points in a node the first is remembered: the blocks for it are those for all.
void PrefixCache::add_resume_point(uint32_t node, uint32_t rows) {
    if (most_window_ == 0 || rows == 0 || nodes_[node].ns) return;
    Node& own = nodes_[node];
    if (own.resume_rows > 0 && own.resume_rows <= rows) return;
    const uint32_t old_first =
        own.resume_rows > 0 ? first_anchored(own, own.resume_rows) : block_index_of(node) + 1;
    const uint32_t first = first_anchored(own, rows);
    own.resume_rows = rows;
    for (uint32_t at = node; !nodes_[at].ns && block_index_of(at) >= first;
         at = nodes_[at].parent) {
        if (block_index_of(at) >= old_first) continue;
        ++nodes_[at].n_anchors;
        leave_loose(at);
    }
}

void PrefixCache::drop_resume_points(uint32_t node) {
    if (nodes_[node].resume_rows == 0) return;
    const uint32_t first = first_anchored(nodes_[node], nodes_[node].resume_rows);
    nodes_[node].resume_rows = 0;
    for (uint32_t at = node; !nodes_[at].ns && block_index_of(at) >= first; at = nodes_[at].parent)
        if (--nodes_[at].n_anchors == 0) enter_loose(at);
}

// Where paths part: inside a logical block, in both of its nodes; else at the end of the logical
// block before.
void PrefixCache::mark_branch(uint32_t parent, const Match& nearest, uint32_t node) {
    if (nearest.n_tokens > 0) {
        add_resume_point(nearest.child, nearest.n_tokens);
        add_resume_point(node, nearest.n_tokens);
    } else if (nodes_[parent].resident.size() > 1) {
        add_resume_point(parent, options_.block_tokens);
    }
}

void PrefixCache::mark_distance(uint32_t node) {
    if (options_.resume_every == 0) return;
    const uint32_t begin = nodes_[node].begin;
    const uint32_t end = begin + static_cast<uint32_t>(nodes_[node].tokens.size());
    const uint32_t point = end / options_.resume_every * options_.resume_every;
    if (point > begin) add_resume_point(node, point - begin);
}

// Filed under the use that it had then; a later one is seen when its turn comes.
void PrefixCache::enter_loose(uint32_t node) {
    if (nodes_[node].loose_since > 0 || nodes_[node].n_anchors > 0 || !nodes_[node].is_resident)
        return;
    bool has_any = false;
    for (uint32_t g = n_full_; g < n_groups(); ++g) has_any |= block(node, g).ref.has_value();
    if (!has_any) return;
    nodes_[node].loose_since = std::max<uint64_t>(nodes_[node].last_use, 1);
    loose_.emplace(nodes_[node].loose_since, nodes_[node].begin, node);
}

void PrefixCache::leave_loose(uint32_t node) {
    if (nodes_[node].loose_since == 0) return;
    loose_.erase({nodes_[node].loose_since, nodes_[node].begin, node});
    nodes_[node].loose_since = 0;
}

}  // namespace kvik
