// PrefixReader: what the prefix cache can say about a prompt and about itself. It changes nothing.
//
// Threads the engine thread.
// Cost    match, explain, usable_path, plan_load and path_to_forget are linear in the tokens, with
//         one search among siblings per block. accounts is O(nodes); draw is O(nodes that it
//         draws).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cache/prefix/prefix_nodes.h"
#include "cache/prefix/prefix_reports.h"
#include "cache/prefix/prefix_types.h"

namespace kvik {

class PrefixReader {
  public:
    explicit PrefixReader(const PrefixNodes& nodes) : nodes_(nodes) {}

    // See PrefixCache for match, explain, plan_load, accounts and draw.
    PrefixHit match(const NamespaceKey& ns, std::span<const TokenId> tokens) const;
    PathReport explain(const NamespaceKey& ns, std::span<const TokenId> tokens) const;
    LoadPlan plan_load(const NamespaceKey& ns, std::span<const TokenId> tokens) const;
    TreeAccounts accounts() const;
    std::vector<TreeLine> draw(uint32_t most_lines) const;

    // Where the logits after a hit's last token are stored.
    LogitsKey logits_key(const PrefixHit& hit) const;
    // The nodes that PrefixCache::forget concerns, the last first: those that begin at `from` or
    // later, are wholly matched and unpinned, and all of whose children are among them.
    std::vector<uint32_t> path_to_forget(const NamespaceKey& ns, std::span<const TokenId> tokens,
                                         uint32_t from) const;

  private:
    uint32_t usable_now(const PrefixPath& path, std::span<const TokenId> tokens) const;
    std::optional<PrefixPath> beside(const PrefixPath& path, std::span<const TokenId> tokens) const;
    void add_items(LoadPlan& plan, const PrefixPath& path, uint32_t index) const;
    std::optional<Difference> difference(uint32_t node, uint32_t n_known,
                                         std::span<const TokenId> rest) const;
    TreeLine line_of(uint32_t first, uint32_t* last) const;

    const PrefixNodes& nodes_;
};

}  // namespace kvik
