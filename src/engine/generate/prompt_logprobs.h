// PromptLogprobs: the log-probabilities of the tokens of prompts, kept so that asking for them
// again computes nothing: rows of logits are too large to keep, these are not.
//
// Shape   an entry per prompt: its tokens, and for each token its log-probability after those
//         before it (0 for the first). Entries are sorted by namespace and tokens, so that the
//         entry with the longest common prefix is a neighbour of a prompt's place.
// Owner   copies of tokens and values.
// Threads the engine thread.
// Cost    find and put compare the prompt with O(log n) entries.
// Errors  none: an entry larger than the budget is not kept.
// Invariant n_bytes() <= the budget. No entry is a prefix of another. The entry whose put is
//         longest ago goes first.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/types.h"
#include "cache/kv_keys.h"

namespace kvik {

class PromptLogprobs {
  public:
    explicit PromptLogprobs(uint64_t budget_bytes) : budget_bytes_(budget_bytes) {}

    // Returns the values of the longest known prefix of `tokens`; valid until the next put.
    std::span<const float> find(const NamespaceKey& ns, std::span<const TokenId> tokens) const;

    // values[i]: of tokens[i].
    void put(const NamespaceKey& ns, std::span<const TokenId> tokens,
             std::span<const float> values);

    uint64_t n_bytes() const { return n_bytes_; }
    size_t n_entries() const { return entries_.size(); }

  private:
    struct Key {
        NamespaceKey ns;
        std::vector<TokenId> tokens;
        auto operator<=>(const Key&) const = default;
    };
    struct Entry {
        std::vector<float> values;
        uint64_t last_put = 0;
    };
    using Entries = std::map<Key, Entry>;
    void erase(Entries::iterator entry);

    uint64_t budget_bytes_;
    uint64_t n_bytes_ = 0;
    uint64_t tick_ = 0;
    Entries entries_;
    std::map<uint64_t, Entries::iterator> by_put_;
};

}  // namespace kvik
