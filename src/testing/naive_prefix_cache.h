// NaivePrefixCache: a naive counterpart of PrefixCache: a flat list of whole paths, searched from
// end to end.
//
// Shape     an entry is a node: the tokens from the start of its sequence to the node's last.
// Cost      everything is linear in all there is, or worse.
// Invariant the same calls give the same answers as the real one, block for block.
#pragma once

#include <optional>
#include <set>

#include "cache/eviction.h"
#include "cache/prefix/prefix_cache.h"
#include "testing/naive_cache.h"

namespace kvik {

struct NaivePrefixCacheOptions {
    NaiveShape shape;
    uint32_t n_blocks = 0;
    uint32_t most_logits = 0;
    uint32_t n_offloaded = 0;
    uint32_t resume_every = 0;
    uint32_t pinned_percent = 50;
    EvictionPolicy policy = EvictionPolicy::lru;
};

struct NaiveInsert {
    uint32_t n_new = 0, n_duplicates = 0;
};

struct NaiveLoadItem {
    uint64_t entry = 0;
    uint32_t block_index = 0, group = 0;
    TierRef ref = kNoTier;
    uint32_t n_tokens = 0;
};
struct NaiveLoadPlan {
    uint32_t n_tokens = 0;
    std::vector<NaiveLoadItem> items;
};
struct NaiveSaveItem {
    uint64_t entry = 0;
    uint32_t block_index = 0, n_tokens = 0, group_mask = 0;
};

class NaivePrefixCache {
  public:
    explicit NaivePrefixCache(const NaivePrefixCacheOptions& options) : options_(options) {}

    NaiveHit match(uint32_t ns, const NaiveTokens& tokens) const;
    PathReport explain(uint32_t ns, const NaiveTokens& tokens) const;  // without the difference
    void use(const NaiveHit& hit, uint32_t ns, const NaiveTokens& tokens);
    NaiveInsert insert(uint32_t ns, const NaiveTokens& tokens,
                       const std::vector<NaiveGroup>& groups, InsertKind kind);
    bool store_logits(uint32_t ns, const NaiveTokens& tokens);
    bool pin(const NaiveHit& hit);  // false: its entry is gone
    void unpin(uint64_t entry);
    bool pin_until(const NaiveHit& hit, double until_ms);
    void set_clock(double now_ms);
    void forget(uint32_t ns, const NaiveTokens& tokens, uint32_t from, ForgetKind kind);
    uint32_t evict(uint32_t n_blocks);
    uint32_t release_shared(uint32_t n_leaves);

    NaiveLoadPlan plan_load(uint32_t ns, const NaiveTokens& tokens) const;
    bool load_back(const NaiveLoadItem& item, const NaiveRef& block);
    void lose(const NaiveLoadItem& item);
    std::vector<NaiveSaveItem> unsaved(uint32_t ns, const NaiveTokens& tokens) const;
    void note_saved(uint64_t entry, TierRef ref, uint32_t group_mask, uint32_t n_tokens);
    bool add_offloaded(uint32_t ns, const NaiveTokens& path, TierRef ref, uint32_t group_mask);
    void drop_tier(const std::function<bool(TierRef)>& is_gone);

    uint32_t n_blocks() const;
    uint32_t n_offloaded() const;
    uint32_t n_logits() const { return static_cast<uint32_t>(logits_.size()); }

  private:
    struct Share {
        NaiveRef ref;
        uint32_t n_rows = 0;
    };
    struct Entry {
        uint64_t id = 0;
        uint32_t ns = 0;
        NaiveTokens path;
        bool is_resident = true;
        std::vector<Share> groups = {};
        uint64_t last_use = 0, inserted = 0, n_uses = 1;
        EvictionRank rank = {};
        double evicted_ms = 0, pinned_until = 0;
        uint32_t n_pins = 0;
        std::set<uint32_t> resume_points = {};  // after so many tokens
        TierRecord tier = {};
    };
    struct Logits {
        uint32_t ns = 0;
        NaiveTokens path;
        auto operator<=>(const Logits&) const = default;
    };
    enum class Owners : uint8_t { tree_alone, others_too };
    enum class State : uint8_t { in_ram, with_tier };
    enum class Kind : uint8_t { resident, offloaded };
    using Path = std::vector<const Entry*>;
    using Offer = std::vector<NaiveRef>;  // [n_groups] null: none

    uint32_t block_index_of(const Entry& entry) const;
    size_t begin_of(const Entry& entry) const;
    NaiveTokens above(const Entry& entry) const;  // the path of its parent
    bool is_below(const Entry& entry, const Entry& above) const;
    const Entry* best_entry(uint32_t ns, const NaiveTokens& tokens, size_t block_index,
                            Kind kind) const;
    Path walk_resident(uint32_t ns, const NaiveTokens& tokens) const;
    Path walk_on_offloaded(uint32_t ns, const NaiveTokens& tokens, Path path) const;
    uint32_t n_matched(const Path& path, const NaiveTokens& tokens) const;
    uint32_t n_rows(const Entry& entry, uint32_t group, State state) const;
    bool is_usable(const Path& path, uint32_t n_tokens, State state) const;
    uint32_t usable_tokens(const Path& path, const NaiveTokens& tokens, State state) const;
    Path beside(const Path& path, const NaiveTokens& tokens) const;
    Entry* by_id(uint64_t id);
    Entry* covering(uint32_t ns, const NaiveTokens& path, Kind kind);
    Entry* beginning(uint32_t ns, const NaiveTokens& path, Kind kind);
    void touch(uint64_t end, uint64_t n_hits);
    uint64_t put(uint32_t ns, const NaiveTokens& path, const Offer& offer, NaiveInsert& report);
    void mark(uint64_t entry, size_t n_tokens);
    void mark_distance(uint64_t entry);
    bool is_loose(const Entry& entry) const;
    bool has_window_block(const Entry& entry) const;
    bool is_leaf(const Entry& entry) const;
    void absorb(Entry& to, const Entry& from);
    void clear_read(Entry& offloaded);
    void offload(uint64_t entry);
    void trim_offloaded();
    void erase(uint64_t entry);
    void forget_uncovered_logits();
    uint32_t n_timed_blocks(const Entry* more) const;
    uint32_t evict_loose(uint32_t n_blocks);
    uint32_t evict_anchored(uint32_t n_blocks);
    uint32_t remove_leaves(uint32_t n_most, Owners owners);

    NaivePrefixCacheOptions options_;
    uint64_t tick_ = 0, next_id_ = 1;
    double now_ms_ = 0, clock_ = 0;
    std::vector<Entry> entries_;
    std::vector<Logits> logits_;  // the least recently used first
};

}  // namespace kvik
