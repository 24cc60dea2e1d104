// PrefixWriter: publishes KV into the prefix cache, from the blocks of a sequence or from blocks
// that were read from the tier, and keeps the nodes' records in step with the tier.
//
// Use     PrefixCache has the description of each public function.
// Owner   nothing; it changes the nodes it is given.
// Threads the engine thread.
// Cost    insert and unsaved are linear in the tokens, with one search among siblings per block;
//         load_back is O(nodes of the path); the others are O(groups + log n), drop_tier O(nodes).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "cache/block_pool.h"
#include "cache/prefix/prefix_nodes.h"
#include "cache/prefix/prefix_types.h"

namespace kvik {

struct InsertReport {
    uint32_t n_new = 0;         // blocks that the cache took a share of, longer tails included
    uint32_t n_duplicates = 0;  // whole blocks whose tokens were cached in another block:
                                // BlockTable::remap frees them
};

enum class InsertKind : uint8_t {
    boundary,  // others will go on from here: its end is a resume point
    passing,   // published on the way
};

class PrefixWriter {
  public:
    explicit PrefixWriter(PrefixNodes& nodes) : nodes_(nodes) {}

    InsertReport insert(const NamespaceKey& ns, std::span<const TokenId> tokens,
                        std::span<const GroupBlocks> groups, InsertKind kind);

    bool load_back(const LoadItem& item, const BlockRef& block);
    void lose(const LoadItem& item);

    std::vector<SaveItem> unsaved(const NamespaceKey& ns, std::span<const TokenId> tokens);
    void note_saved(const NodeHandle& node, const TierRecord& record);
    NodeHandle add_offloaded(const NamespaceKey& ns, const std::optional<NodeHandle>& parent,
                             std::span<const TokenId> tokens, const TierRecord& record);
    void drop_tier(const std::function<bool(TierRef)>& is_gone);

  private:
    using Offer = std::span<const BlockRef* const>;  // [n_groups] null: no block of that group

    uint32_t put(uint32_t parent, std::span<const TokenId> tokens, Offer offer,
                 InsertReport& report);
    void extend(uint32_t node, std::span<const TokenId> tokens, Offer offer, InsertReport& report);
    uint32_t add_resident(uint32_t parent, std::span<const TokenId> tokens, Offer offer,
                          InsertReport& report);
    void offer_windows(uint32_t node, Offer offer, InsertReport& report);
    void mark_branch(uint32_t parent, const PrefixIndex::Match& nearest, uint32_t node);
    void mark_distance(uint32_t node);
    void make_resident(uint32_t node);
    bool is_saved(uint32_t node) const;
    uint32_t find_or_add_offloaded(uint32_t parent, std::span<const TokenId> tokens);

    PrefixNodes& nodes_;
};

}  // namespace kvik
