// KvCache: pool, storage, prefix cache and disk tier of one engine, and the operations that concern
// more than one of them.
//
// Owner   all KV memory; it outlives every Sequence made over it and stays where it is.
// Threads the engine thread.
// Cost    evicting is the prefix cache's; match and publish are linear in the tokens.
// Invariant a block is free, or in a sequence's table, or in the prefix cache, or on its way to disk:
//         check_invariants says so.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cache/block_pool.h"
#include "cache/block_table.h"
#include "cache/kv_storage.h"
#include "cache/prefix/prefix_cache.h"
#include "engine/engine_settings.h"
#include "engine/kv_offloader.h"
#include "sched/sequence.h"
#include "sched/step_costs.h"

namespace kvik {

class KvCache {
  public:
    static Result<std::unique_ptr<KvCache>> open(const EngineSettings& settings,
                                                 uint32_t vocab_size);

    BlockTable make_table(uint32_t max_tokens) { return {pool_, storage_, max_tokens}; }
    KvView view() const { return storage_.view(); }
    uint32_t n_blocks() const { return pool_.n_blocks(); }
    uint32_t n_free() const { return pool_.n_free(); }
    uint32_t block_tokens() const { return storage_.spec().block_tokens; }
    uint64_t block_bytes() const { return storage_.spec().block_bytes(); }
    PrefixStats stats() const { return tree_.stats(); }
    KvTree draw(uint32_t most_lines) const {
        return {tree_.draw(most_lines), tree_.accounts(), block_tokens()};
    }

    // All of what follows is within a namespace: that of the engine, or one below it.
    const NamespaceKey& ns() const { return ns_; }

    // Brings back from disk what makes more of `tokens` usable. The places that were read, in
    // order.
    std::vector<uint32_t> load_back(const NamespaceKey& ns, std::span<const TokenId> tokens);

    // The longest cached prefix of `tokens` from which the last token's logits can be had: all of
    // them if those logits are stored, else at least one less.
    PrefixHit find(const NamespaceKey& ns, std::span<const TokenId> tokens) const;
    uint32_t n_cached(const NamespaceKey& ns,
                      std::span<const TokenId> tokens) const;  // however its logits
    PathReport explain(const NamespaceKey& ns, std::span<const TokenId> tokens) const {
        return tree_.explain(ns, tokens);
    }
    void adopt(Sequence& sequence, PrefixHit&& hit);

    // Shares the KV of the sequence's first n tokens; blocks that were computed twice are freed.
    void publish(const NamespaceKey& ns, Sequence& sequence, uint32_t n_tokens,
                 InsertKind kind = InsertKind::boundary);
    // What was published of them goes to disk too, if there is one.
    void save(const NamespaceKey& ns, std::span<const TokenId> tokens);
    // Remembers the logits after these tokens, which are published.
    void store_logits(const NamespaceKey& ns, std::span<const TokenId> tokens,
                      std::span<const float> logits);

    // Keeps what is cached of `tokens` until then. False: too much is so kept already.
    bool pin(const NamespaceKey& ns, std::span<const TokenId> tokens, double until_ms);
    void set_clock(double now_ms) { tree_.set_clock(now_ms); }
    PrefillRate& rate() { return rate_; }

    // Takes note of what the disk did. True: something is still being written.
    bool poll_disk() { return offloader_ && offloader_->poll(); }
    void finish_disk();  // waits for it
    bool release_written() {
        return offloader_ && offloader_->release();
    }  // false: no block was held by it
    DiskStats disk_stats() const { return offloader_ ? offloader_->stats() : DiskStats{}; }

    void forget(const NamespaceKey& ns, std::span<const TokenId> tokens, uint32_t from,
                ForgetKind kind) {
        tree_.forget(ns, tokens, from, kind);
    }
    uint32_t evict(uint32_t n_blocks) { return tree_.evict(n_blocks); }
    uint32_t release_shared() { return tree_.release_shared(1); }

    // n_held: blocks in all tables, each counted as often as it is held.
    void check_invariants(uint64_t n_held) const;

  private:
    KvCache(KvStorage storage, const EngineSettings& settings, uint32_t vocab_size);

    NamespaceKey ns_;
    KvStorage storage_;
    BlockPool pool_;
    PrefillRate rate_;
    PrefixCache tree_;                        // gives its blocks back before the pool dies
    std::unique_ptr<KvOffloader> offloader_;  // null: no disk tier
    uint32_t vocab_size_;
};

}  // namespace kvik
