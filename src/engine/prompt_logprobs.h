// PromptLogprobs: the log-probabilities of prompts' tokens, kept so that asking for them computes no
// token twice: rows of logits are large and go, these stay.
//
// Shape   an entry a prompt: its tokens, and for each its logprob after those before it (0 for the
//         first). Sorted by namespace and tokens, so that who has most in common with a prompt is a
//         neighbour of its place.
// Owner   copies. Threads the engine thread.
// Cost    find and put compare O(log n) prompts.
// Invariant n_bytes() <= the budget; no entry begins another. The least recently put goes first.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/types.h"
#include "cache/namespace_key.h"

namespace kvik {

class PromptLogprobs {
  public:
    explicit PromptLogprobs(uint64_t budget_bytes) : budget_bytes_(budget_bytes) {}

    // Those of the longest prefix that is known, token by token; valid until the next put.
    std::span<const float> find(const NamespaceKey& ns, std::span<const TokenId> tokens) const;

    // values[i]: of tokens[i]. What alone exceeds the budget is not kept.
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
