// Sequence: token ids, of which the first n_computed have KV. It has no mode: there is no prefill
// phase. Computing catches up with the known tokens; chunks of a prompt, prefix hits and preemption
// are only different values of n_computed.
//
// Use     reserve(n) blocks, compute next(n), commit(n). push() adds a picked token. give_up()
//         releases all KV and keeps the tokens.
// Owner   its tokens and its BlockTable.
// Threads one at a time.
// Cost    O(1) but for reserve, commit and give_up (O(blocks)) and fork (O(tokens)); only the
//         constructor and fork allocate.
// Errors  reserve returns false when the pool has too few free blocks; misuse fails a check.
// Invariant n_prompt <= n_tokens <= max_tokens; n_computed <= n_tokens.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "cache/block_table.h"
#include "cache/prefix/prefix_types.h"
#include "sched/scheduler.h"

namespace kvik {

class Sequence {
  public:
    // max_tokens: the length of the prompt and of all that may be picked.
    Sequence(BlockTable table, std::vector<TokenId> prompt, uint32_t max_tokens);

    std::span<const TokenId> tokens() const { return tokens_; }
    std::span<const TokenId> prompt() const { return tokens().first(n_prompt_); }
    std::span<const TokenId> computed() const { return tokens().first(n_computed()); }
    std::span<const TokenId> next(uint32_t n) const { return tokens().subspan(n_computed(), n); }
    uint32_t n_prompt() const { return n_prompt_; }
    uint32_t n_tokens() const { return static_cast<uint32_t>(tokens_.size()); }
    uint32_t n_computed() const { return table_.n_tokens(); }
    bool has_caught_up() const { return n_computed() == n_tokens(); }

    void push(TokenId token);
    [[nodiscard]] bool reserve(uint32_t n);
    void commit(uint32_t n);
    // Forgets the tokens past the first n_tokens and their KV; n_tokens >= n_prompt.
    void truncate(uint32_t n_tokens);
    void give_up();         // releases all blocks
    Sequence fork() const;  // has the same tokens and shares the same KV

    BlockTable& table() { return table_; }
    const BlockTable& table() const { return table_; }
    SequenceView view(WantLogits want_logits) const;
    void check_invariants() const;

  private:
    std::vector<TokenId> tokens_;
    uint32_t n_prompt_;
    uint32_t max_tokens_;
    BlockTable table_;
};

}  // namespace kvik
