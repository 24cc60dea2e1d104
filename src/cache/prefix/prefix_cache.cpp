#include "cache/prefix/prefix_cache.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "cache/prefix/prefix_evictor.h"
#include "cache/prefix/prefix_reader.h"

namespace kvik {

PrefixCache::~PrefixCache() {
    KVIK_CHECK(nodes_.pins.n_held() == 0, "the cache outlives its pins");
}

// ---- hits ----

PrefixHit PrefixCache::match(const NamespaceKey& ns, std::span<const TokenId> tokens) const {
    return PrefixReader(nodes_).match(ns, tokens);
}

PathReport PrefixCache::explain(const NamespaceKey& ns, std::span<const TokenId> tokens) const {
    return PrefixReader(nodes_).explain(ns, tokens);
}

void PrefixCache::use(const PrefixHit& hit) {
    if (hit.n_tokens == 0) return;
    ++nodes_.counters.n_hits;
    nodes_.counters.hit_tokens += hit.n_tokens;
    if (!hit.logits.empty()) ++nodes_.counters.logits_hits;
    if (!nodes_.is_resident(hit.node)) return;
    if (!hit.logits.empty()) nodes_.logits.use(PrefixReader(nodes_).logits_key(hit));
    nodes_.touch_path(hit.node.index, PathUse::hit);
}

InsertReport PrefixCache::insert(const NamespaceKey& ns, std::span<const TokenId> tokens,
                                 std::span<const GroupBlocks> groups, InsertKind kind) {
    return PrefixWriter(nodes_).insert(ns, tokens, groups, kind);
}

bool PrefixCache::store_logits(const NamespaceKey& ns, std::span<const TokenId> tokens,
                               std::span<const float> logits) {
    const PrefixPath path = nodes_.index.walk_resident(ns, tokens);
    if (tokens.empty()) return false;
    if (nodes_.residency.usable_tokens(path, KvState::in_ram) != tokens.size()) return false;
    const auto n_rows = static_cast<uint32_t>(tokens.size()) - nodes_.index[path.end()].begin;
    return nodes_.logits.put({path.end(), n_rows}, logits);
}

// ---- pins ----

Pin& Pin::operator=(Pin&& other) noexcept {
    if (this != &other) {
        if (cache_) cache_->unpin(node_);
        cache_ = std::exchange(other.cache_, nullptr);
        node_ = other.node_;
    }
    return *this;
}

Pin::~Pin() {
    if (cache_) cache_->unpin(node_);
}

std::optional<Pin> PrefixCache::pin(const PrefixHit& hit) {
    if (hit.n_tokens == 0 || !nodes_.is_resident(hit.node)) return std::nullopt;
    const uint32_t node = hit.node.index;
    nodes_.pins.add(node);
    nodes_.update_order(node);
    nodes_.points.add(node, hit.n_tokens - nodes_.index[node].begin);
    return Pin(*this, node);
}

void PrefixCache::unpin(uint32_t node) {
    nodes_.pins.remove(node);
    nodes_.update_order(node);
}

bool PrefixCache::pin_until(const PrefixHit& hit, double until_ms) {
    if (hit.n_tokens == 0 || !nodes_.is_resident(hit.node) || until_ms <= nodes_.now_ms)
        return false;
    const uint32_t node = hit.node.index;
    if (!nodes_.pins.add_until(node, until_ms)) return false;
    nodes_.update_order(node);
    nodes_.points.add(node, hit.n_tokens - nodes_.index[node].begin);
    return true;
}

void PrefixCache::set_clock(double now_ms) {
    nodes_.now_ms = std::max(nodes_.now_ms, now_ms);
    while (const std::optional<uint32_t> node = nodes_.pins.end_next(nodes_.now_ms))
        nodes_.update_order(*node);
}

// ---- releasing ----

void PrefixCache::forget(const NamespaceKey& ns, std::span<const TokenId> tokens, uint32_t from,
                         ForgetKind kind) {
    for (const uint32_t node : PrefixReader(nodes_).path_to_forget(ns, tokens, from)) {
        if (kind == ForgetKind::now) {
            nodes_.counters.forgotten_blocks += nodes_.residency.n_blocks_of(node);
            nodes_.remove(node);
        } else if (nodes_.index[node].is_resident) {
            nodes_.order.set_fresh(node, false);
        }
    }
}

uint32_t PrefixCache::evict(uint32_t n_blocks) {
    return PrefixEvictor(nodes_).evict(n_blocks);
}

uint32_t PrefixCache::release_shared(uint32_t n_leaves) {
    return PrefixEvictor(nodes_).release_shared(n_leaves);
}

// ---- the tier below ----

LoadPlan PrefixCache::plan_load(const NamespaceKey& ns, std::span<const TokenId> tokens) const {
    return PrefixReader(nodes_).plan_load(ns, tokens);
}

bool PrefixCache::load_back(const LoadItem& item, const BlockRef& block) {
    return PrefixWriter(nodes_).load_back(item, block);
}

void PrefixCache::lose(const LoadItem& item) {
    PrefixWriter(nodes_).lose(item);
}

std::vector<SaveItem> PrefixCache::unsaved(const NamespaceKey& ns,
                                           std::span<const TokenId> tokens) {
    return PrefixWriter(nodes_).unsaved(ns, tokens);
}

void PrefixCache::note_saved(const NodeHandle& node, const TierRecord& record) {
    PrefixWriter(nodes_).note_saved(node, record);
}

EndHashes PrefixCache::end_hashes(const NamespaceKey& ns, std::span<const TokenId> tokens) {
    KVIK_CHECK(!tokens.empty(), "a block has tokens");
    const uint32_t block_tokens = nodes_.index.block_tokens();
    const PrefixPath path = nodes_.index.walk_resident(ns, tokens);
    const size_t begin = (tokens.size() - 1) / block_tokens * block_tokens;  // of the last block
    size_t at = std::min<size_t>(begin, path.n_tokens / block_tokens * block_tokens);
    EndHashes ends;
    if (at > 0) ends.parent = nodes_.index.block_hash(ns, path.nodes[at / block_tokens - 1]);
    for (; at < begin; at += block_tokens)
        ends.parent = block_hash(ns, ends.parent, tokens.subspan(at, block_tokens));
    ends.hash = block_hash(ns, ends.parent, tokens.subspan(begin));
    return ends;
}

NodeHandle PrefixCache::add_offloaded(const NamespaceKey& ns,
                                      const std::optional<NodeHandle>& parent,
                                      std::span<const TokenId> tokens, TierRef ref,
                                      uint32_t group_mask) {
    const auto n_tokens = static_cast<uint32_t>(tokens.size());
    return PrefixWriter(nodes_).add_offloaded(
        ns, parent, tokens, {.ref = ref, .group_mask = group_mask, .n_tokens = n_tokens});
}

void PrefixCache::drop_tier(const std::function<bool(TierRef)>& is_gone) {
    PrefixWriter(nodes_).drop_tier(is_gone);
}

// ---- accounts ----

std::vector<TreeLine> PrefixCache::draw(uint32_t most_lines) const {
    return PrefixReader(nodes_).draw(most_lines);
}

TreeAccounts PrefixCache::accounts() const {
    return PrefixReader(nodes_).accounts();
}

PrefixStats PrefixCache::stats() const {
    PrefixStats stats = nodes_.counters;
    stats.cached_blocks = nodes_.residency.n_blocks();
    stats.n_offloaded = nodes_.index.n_offloaded();
    stats.pinned_blocks = nodes_.pins.n_timed_blocks();
    stats.n_bytes = nodes_.n_bytes();
    return stats;
}

// ---- the budget ----

static constexpr uint64_t kPoolBytes = sizeof(uint32_t) + sizeof(BlockId);  // count, free list
static constexpr uint64_t kMostBlocks = 1u << 30;

static uint64_t index_bytes(const KvSpec& spec, uint64_t n_blocks, uint64_t n_offloaded) {
    return PrefixCache::index_bytes({.n_blocks = static_cast<uint32_t>(n_blocks),
                                     .n_offloaded = static_cast<uint32_t>(n_offloaded),
                                     .block_tokens = spec.block_tokens,
                                     .n_groups = spec.n_groups()});
}

// Stored logits get one sixteenth of the bytes: a row is about as large as a block of a small
// model, and one row serves one prompt. Offloaded nodes get a fourth of that. When this would leave
// no room for a block, both get nothing.
Result<CacheBudget> plan_cache(const KvSpec& spec, uint64_t cache_bytes) {
    const uint64_t empty = index_bytes(spec, 0, 0);
    const uint64_t per_node = index_bytes(spec, 1, 0) - empty;
    const uint64_t per_block = spec.block_bytes() + kPoolBytes + per_node;
    uint64_t logits_bytes = cache_bytes / 16;
    uint64_t n_offloaded = std::min(cache_bytes / 64 / per_node, kMostBlocks);
    const auto blocks_for = [&](uint64_t other_bytes) {
        return other_bytes < cache_bytes ? (cache_bytes - other_bytes) / per_block : 0;
    };
    uint64_t n_blocks = blocks_for(logits_bytes + empty + n_offloaded * per_node);
    if (n_blocks == 0) {
        logits_bytes = n_offloaded = 0;
        n_blocks = blocks_for(empty);
    }
    if (n_blocks == 0)
        return fail(ErrorKind::memory,
                    fmt::format("KV cache has {} bytes, one block of {} tokens takes {}: raise "
                                "--cache-ram",
                                cache_bytes, spec.block_tokens, per_block + empty));
    n_blocks = std::min(n_blocks, kMostBlocks);
    return CacheBudget{
        .n_blocks = static_cast<uint32_t>(n_blocks),
        .logits_bytes = logits_bytes,
        .n_offloaded = static_cast<uint32_t>(n_offloaded),
        .n_bytes = empty + n_blocks * per_block + n_offloaded * per_node + logits_bytes};
}

}  // namespace kvik
