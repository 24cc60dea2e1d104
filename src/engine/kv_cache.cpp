#include "engine/kv_cache.h"

#include <utility>

#include "base/check.h"

namespace kvik {

Result<std::unique_ptr<KvCache>> KvCache::open(const EngineSettings& settings,
                                               uint32_t vocab_size) {
    KVIK_TRY(KvStorage storage, KvStorage::open(settings.kv, settings.budget.n_blocks));
    std::unique_ptr<KvCache> cache(new KvCache(std::move(storage), settings, vocab_size));
    if (settings.cache_folder.empty()) return cache;
    KVIK_TRY(std::unique_ptr<DiskTier> tier,
             DiskTier::open({.folder = settings.cache_folder,
                             .quota_bytes = settings.disk_bytes,
                             .block_bytes = settings.kv.block_bytes(),
                             .n_groups = settings.kv.n_groups(),
                             .block_tokens = settings.kv.block_tokens,
                             .identity = settings.identity}));
    cache->offloader_ = std::make_unique<KvOffloader>(
        std::move(tier),
        KvParts{cache->pool_, cache->storage_, cache->tree_, vocab_size, settings.disk_bytes});
    return cache;
}

KvCache::KvCache(KvStorage storage, const EngineSettings& settings, uint32_t vocab_size)
    : ns_(settings.ns),
      storage_(std::move(storage)),
      pool_(settings.budget.n_blocks),
      tree_({.block_tokens = settings.kv.block_tokens,
             .n_blocks = settings.budget.n_blocks,
             .groups = settings.kv.groups,
             .logits_bytes = settings.budget.logits_bytes,
             .policy = settings.evict,
             .n_offloaded = settings.budget.n_offloaded,
             .recompute_ms = [this](uint32_t depth,
                                    uint32_t n_tokens) { return rate_.ms(n_tokens, depth); }}),
      vocab_size_(vocab_size) {}

std::vector<uint32_t> KvCache::load_back(const NamespaceKey& ns, std::span<const TokenId> tokens) {
    return offloader_ ? offloader_->load_back(ns, tokens) : std::vector<uint32_t>();
}

PrefixHit KvCache::find(const NamespaceKey& ns, std::span<const TokenId> tokens) const {
    PrefixHit hit = tree_.match(ns, tokens);
    if (hit.n_tokens < tokens.size() || !hit.logits.empty()) return hit;
    return tree_.match(ns, tokens.first(tokens.size() - 1));
}

uint32_t KvCache::n_cached(const NamespaceKey& ns, std::span<const TokenId> tokens) const {
    return tree_.match(ns, tokens).n_tokens;
}

void KvCache::adopt(Sequence& sequence, PrefixHit&& hit) {
    tree_.use(hit);
    sequence.table().adopt(std::move(hit));
}

void KvCache::publish(const NamespaceKey& ns, Sequence& sequence, uint32_t n_tokens,
                      InsertKind kind) {
    KVIK_CHECK(n_tokens <= sequence.n_computed(), "only computed tokens are published");
    if (n_tokens == 0) return;
    const std::span<const TokenId> tokens = sequence.tokens().first(n_tokens);
    const InsertReport report = tree_.insert(ns, tokens, sequence.table().group_blocks(), kind);
    if (report.n_duplicates > 0) sequence.table().remap(tree_.match(ns, tokens));
}

void KvCache::store_logits(const NamespaceKey& ns, std::span<const TokenId> tokens,
                           std::span<const float> logits) {
    tree_.store_logits(ns, tokens, logits);
    if (offloader_) offloader_->save_logits(ns, tokens, logits);
}

void KvCache::save(const NamespaceKey& ns, std::span<const TokenId> tokens) {
    if (offloader_) offloader_->save(ns, tokens);
}

bool KvCache::pin(const NamespaceKey& ns, std::span<const TokenId> tokens, double until_ms) {
    return tree_.pin_until(tree_.match(ns, tokens), until_ms);
}

void KvCache::finish_disk() {
    if (offloader_) offloader_->finish();
}

void KvCache::check_invariants(uint64_t n_held) const {
    pool_.check_invariants();
    tree_.check_invariants();
    const uint64_t n_written = offloader_ ? offloader_->n_held() : 0;
    KVIK_CHECK(pool_.n_handles() == n_held + n_written + tree_.stats().cached_blocks,
               "every share of a block is a table's, the tree's or of a block being written");
}

}  // namespace kvik
