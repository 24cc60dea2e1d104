#include "engine/kv_cache.h"

#include <utility>

#include "base/check.h"

namespace kvik {

Result<std::unique_ptr<KvCache>> KvCache::open(const Settings& settings) {
    KVIK_TRY(KvStorage storage, KvStorage::open(settings.kv, settings.budget.n_blocks));
    return std::unique_ptr<KvCache>(new KvCache(std::move(storage), settings));
}

KvCache::KvCache(KvStorage storage, const Settings& settings)
    : ns_(settings.ns),
      storage_(std::move(storage)),
      pool_(settings.budget.n_blocks),
      tree_({.block_tokens = settings.kv.block_tokens,
             .n_blocks = settings.budget.n_blocks,
             .logits_bytes = settings.budget.logits_bytes,
             .policy = settings.evict}) {}

PrefixHit KvCache::find(const NamespaceKey& ns, std::span<const TokenId> tokens) const {
    PrefixHit hit = tree_.find(ns, tokens);
    if (hit.n_tokens < tokens.size() || !hit.logits.empty()) return hit;
    return tree_.find(ns, tokens.first(tokens.size() - 1));
}

uint32_t KvCache::n_cached(const NamespaceKey& ns, std::span<const TokenId> tokens) const {
    return tree_.find(ns, tokens).n_tokens;
}

void KvCache::adopt(Sequence& sequence, PrefixHit&& hit) {
    tree_.use(hit);
    sequence.table().adopt(std::move(hit));
}

void KvCache::publish(const NamespaceKey& ns, Sequence& sequence, uint32_t n_tokens) {
    KVIK_CHECK(n_tokens <= sequence.n_computed(), "only computed tokens are published");
    if (n_tokens == 0) return;
    const std::span<const TokenId> tokens = sequence.tokens().first(n_tokens);
    const InsertReport report = tree_.insert(ns, tokens, sequence.table().group_blocks());
    if (report.n_duplicates > 0) sequence.table().remap(tree_.find(ns, tokens));
}

void KvCache::store_logits(const NamespaceKey& ns, std::span<const TokenId> tokens,
                           std::span<const float> logits) {
    tree_.store_logits(ns, tokens, logits);
}

void KvCache::check_invariants(uint64_t n_held) const {
    pool_.check_invariants();
    tree_.check_invariants();
    KVIK_CHECK(pool_.n_handles() == n_held + tree_.stats().cached_blocks,
               "every share of a block is a table's or the tree's");
}

}  // namespace kvik
