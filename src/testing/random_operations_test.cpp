// The cache against its naive twin: the same random operations on both, and after each of them the
// same answers, the same accounts, and KV that gives the logits of a cold computation.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <map>
#include <ostream>
#include <string_view>

#include "base/thread_pool.h"
#include "cache/block_table.h"
#include "cache/prefix/prefix_cache.h"
#include "testing/hash_model.h"
#include "testing/naive_cache.h"
#include "testing/naive_prefix_cache.h"
#include "testing/stamped_kv.h"
#include "testing/trace.h"

namespace kvik {

struct RigParams {
    uint32_t block_tokens;
    uint32_t n_blocks;
    KvType type;
    uint64_t seed;
    uint32_t n_offloaded = 0;
    EvictionPolicy policy = EvictionPolicy::lru;
    std::vector<uint32_t> windows = {0};  // [n_groups]
    uint32_t max_logical_blocks = 5;      // of a sequence
};

static void PrintTo(const RigParams& p, std::ostream* out) {
    *out << "block_tokens " << p.block_tokens << ", blocks " << p.n_blocks << ", "
         << eviction_name(p.policy) << ", groups " << p.windows.size() << ", seed " << p.seed;
}

static constexpr uint32_t kMostSequences = 6, kMostHeld = 3, kMostSeen = 24, kMostLogits = 4,
                          kMostRecords = 60, kPinnedPercent = 20;
static const HashModelOptions kModel{};
static const uint64_t kLogitsBytes = kMostLogits * (kModel.vocab_size * sizeof(float) + 160);

// A layer a group, if there are several.
static KvSpec spec_of(const HashModel& model, const RigParams& params) {
    KvSpec spec = model.spec().kv;
    spec.block_tokens = params.block_tokens;
    spec.type = params.type;
    if (params.windows.size() == 1) return spec;
    spec.n_layers = static_cast<uint32_t>(params.windows.size());
    spec.groups = KvGroups::of(params.windows);
    return spec;
}

static NaiveTokens first_of(const NaiveTokens& tokens, size_t n) {
    return {tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(n)};
}

// Both caches, side by side.
class Twins {
  public:
    explicit Twins(const RigParams& params)
        : params_(params),
          block_(params.block_tokens),
          scratch_(*model_.make_scratch({}, threads_)),
          spec_(spec_of(model_, params)),
          pool_(params.n_blocks),
          storage_(*KvStorage::open(spec_, params.n_blocks)),
          tree_({.block_tokens = block_,
                 .n_blocks = params.n_blocks,
                 .groups = spec_.groups,
                 .logits_bytes = kLogitsBytes,
                 .policy = params.policy,
                 .n_offloaded = params.n_offloaded,
                 .pinned_percent = kPinnedPercent,
                 .resume_every = 3 * block_}),
          shape_{block_, params.windows},
          naive_pool_(params.n_blocks, shape_),
          naive_tree_({.shape = shape_,
                       .n_blocks = params.n_blocks,
                       .most_logits = kMostLogits,
                       .n_offloaded = params.n_offloaded,
                       .resume_every = 3 * block_,
                       .pinned_percent = kPinnedPercent,
                       .policy = params.policy}) {}

    void play(const Op& op) {
        play_on_tree(op);
        if (sequences_.empty()) return;
        Sequence& s = sequences_[op.who % sequences_.size()];
        play_on(s, op);
    }

    // free + used = all, counts = handles, and the twins hold the same number of everything.
    void check_accounts() const {
        pool_.check_invariants();
        tree_.check_invariants();
        uint64_t n_handles = tree_.stats().cached_blocks;
        for (const Sequence& s : sequences_) {
            s.table.check_invariants();
            n_handles += s.table.n_blocks();
            EXPECT_EQ(s.table.n_blocks(), s.twin.n_blocks());
        }
        for (const HeldHit& held : hits_)
            for (const GroupRefs& group : held.hit.groups) n_handles += group.blocks.size();
        EXPECT_EQ(pool_.n_handles(), n_handles);
        EXPECT_EQ(pool_.n_used(), naive_pool_.n_used());
        EXPECT_EQ(tree_.stats().cached_blocks, naive_tree_.n_blocks());
        EXPECT_EQ(tree_.stats().n_offloaded, naive_tree_.n_offloaded());
    }

    // One sequence, one held hit and one path of the tree, in turn.
    void check_contents(size_t turn) const {
        if (!sequences_.empty()) {
            const Sequence& s = sequences_[turn % sequences_.size()];
            EXPECT_EQ(s.table.n_tokens(), s.twin.n_tokens());
            EXPECT_EQ(s.twin.tokens(), computed(s)) << "the twin itself";
            expect_cold(s.table, computed(s));
        }
        if (!hits_.empty()) {
            const HeldHit& held = hits_[turn % hits_.size()];
            expect_cold(held.hit, first_of(held.tokens, held.hit.n_tokens));
        }
        if (!seen_.empty()) {
            const NaiveTokens& tokens = seen_[turn % seen_.size()];
            const auto ns = static_cast<uint32_t>(turn / 2 % 2);
            const PrefixHit hit = find(ns, tokens).first;
            expect_cold(hit, first_of(tokens, hit.n_tokens));
            expect_same_report(ns, tokens);
        }
    }

    uint64_t n_refused() const { return n_refused_; }
    uint64_t n_whole_hits() const { return n_whole_hits_; }
    uint64_t n_loaded() const { return n_loaded_; }
    PrefixStats stats() const { return tree_.stats(); }

  private:
    struct Sequence {
        uint32_t ns;
        NaiveTokens known;  // the first table.n_tokens() of them are computed
        BlockTable table;
        NaiveTable twin;
    };
    struct HeldHit {
        NaiveTokens tokens;
        PrefixHit hit;
        NaiveHit twin;
    };
    struct HeldPin {
        Pin pin;
        uint64_t entry;
    };
    // What a tier below remembers of a node.
    struct Record {
        TierRef ref;
        uint32_t ns;
        NaiveTokens path;  // up to the record's last token
        uint32_t group_mask = 0;
        std::map<uint32_t, std::vector<std::byte>> blocks = {};  // by group
    };

    // ---- operations ----

    void play_on_tree(const Op& op) {
        const uint32_t ns = op.who % 2;
        switch (op.kind) {
            case OpKind::start:
                if (sequences_.size() < kMostSequences) start(ns, some_prompt(op));
                break;
            case OpKind::hold: {
                if (hits_.size() == kMostHeld) break;
                NaiveTokens tokens = some_prompt(op);
                auto [hit, twin] = find(ns, tokens);
                hits_.push_back({std::move(tokens), std::move(hit), std::move(twin)});
                break;
            }
            case OpKind::release:
                if (!hits_.empty()) hits_.erase(hits_.begin() + op.who % hits_.size());
                break;
            case OpKind::pin: {
                if (hits_.empty() || pins_.size() == kMostHeld) break;
                const HeldHit& held = hits_[op.who % hits_.size()];
                std::optional<Pin> pin = tree_.pin(held.hit);
                EXPECT_EQ(pin.has_value(), naive_tree_.pin(held.twin));
                if (pin) pins_.push_back({std::move(*pin), held.twin.entry});
                break;
            }
            case OpKind::unpin:
                if (pins_.empty()) break;
                naive_tree_.unpin(pins_[op.who % pins_.size()].entry);
                pins_.erase(pins_.begin() + op.who % pins_.size());
                break;
            case OpKind::evict:
                EXPECT_EQ(tree_.evict(op.how_many % 8), naive_tree_.evict(op.how_many % 8));
                break;
            case OpKind::release_shared:
                EXPECT_EQ(tree_.release_shared(1), naive_tree_.release_shared(1));
                break;
            case OpKind::pin_until: {
                if (hits_.empty()) break;
                const HeldHit& held = hits_[op.who % hits_.size()];
                const double until_ms = now_ms_ + op.how_many % 100;
                EXPECT_EQ(tree_.pin_until(held.hit, until_ms),
                          naive_tree_.pin_until(held.twin, until_ms));
                break;
            }
            case OpKind::tick:
                now_ms_ += op.how_many % 50;
                tree_.set_clock(now_ms_);
                naive_tree_.set_clock(now_ms_);
                break;
            case OpKind::forget: {
                if (seen_.empty()) break;
                const NaiveTokens& tokens = seen_[op.what / 8 % seen_.size()];
                const auto kind = op.what % 4 == 0 ? ForgetKind::stale : ForgetKind::now;
                const uint32_t from = op.how_many / 16 % 4 == 0 ? block_ : 0;
                tree_.forget(namespaces_[ns], tokens, from, kind);
                naive_tree_.forget(ns, tokens, from, kind);
                break;
            }
            case OpKind::save:
                save(ns, some_prompt(op), op);
                break;
            case OpKind::load_back:
            case OpKind::lose:
                load_back(ns, some_prompt(op), op);
                break;
            case OpKind::drop_tier: {
                const auto is_gone = [&](TierRef ref) { return ref % 8 == op.what % 8; };
                std::erase_if(records_, [&](const Record& r) { return is_gone(r.ref); });
                tree_.drop_tier(is_gone);
                naive_tree_.drop_tier(is_gone);
                break;
            }
            case OpKind::read_index:
                read_index(op);
                break;
            default:
                break;  // an operation on a sequence
        }
    }

    void play_on(Sequence& s, const Op& op) {
        switch (op.kind) {
            case OpKind::compute:
                compute(s, op);
                break;
            case OpKind::abort:
                if (!reserve(s, length(op.how_many))) break;
                s.table.truncate(s.table.n_tokens());
                s.twin.truncate(s.twin.n_tokens());
                break;
            case OpKind::draft: {
                const uint32_t n_before = s.table.n_tokens();
                const uint32_t n_drafts = std::min(length(op.how_many), kRewindTokens);
                const NaiveTokens drafts(n_drafts, static_cast<TokenId>(50 + op.what % 50));
                if (!reserve(s, static_cast<uint32_t>(drafts.size()))) break;
                forward(s, drafts);
                s.table.truncate(n_before);
                s.twin.truncate(n_before);
                break;
            }
            case OpKind::rewind: {
                const uint32_t n = op.how_many % (s.table.n_tokens() + 1);
                EXPECT_EQ(s.table.can_truncate(n), s.twin.can_truncate(n));
                if (!s.table.can_truncate(n)) break;
                s.table.truncate(n);
                s.twin.truncate(n);
                s.known.resize(n);
                break;
            }
            case OpKind::fork:
                if (sequences_.size() < kMostSequences)
                    sequences_.push_back({s.ns, computed(s), s.table.fork(), s.twin.fork()});
                break;
            case OpKind::publish:
                publish(s, op);
                break;
            case OpKind::store_logits: {
                const std::vector<float> logits = model_.cold_logits(computed(s));
                const bool is_stored = tree_.store_logits(namespaces_[s.ns], computed(s), logits);
                EXPECT_EQ(is_stored, naive_tree_.store_logits(s.ns, computed(s)));
                if (is_stored) remember(op, computed(s));
                break;
            }
            case OpKind::remap: {
                const auto [hit, twin] = find(s.ns, computed(s));
                s.table.remap(hit);
                s.twin.remap(twin);
                break;
            }
            case OpKind::drop:
                sequences_.erase(sequences_.begin() + op.who % sequences_.size());
                break;
            default:
                break;  // an operation on the tree
        }
    }

    void start(uint32_t ns, NaiveTokens prompt) {
        auto [hit, naive_hit] = find(ns, prompt);
        tree_.use(hit);
        naive_tree_.use(naive_hit, ns, prompt);
        Sequence s{ns, std::move(prompt), BlockTable(pool_, storage_, most_tokens() + 3 * block_),
                   NaiveTable(naive_pool_)};
        if (!hit.logits.empty()) {  // the whole prompt was cached: no forward pass
            EXPECT_EQ(std::vector<float>(hit.logits.begin(), hit.logits.end()),
                      model_.cold_logits(s.known));
            ++n_whole_hits_;
        }
        s.twin.adopt(naive_hit);
        s.table.adopt(std::move(hit));
        sequences_.push_back(std::move(s));
    }

    // Catches up with what is known, or else goes on: mostly alike, as a greedy model would, so
    // that forks and late starters compute the same tokens.
    void compute(Sequence& s, const Op& op) {
        size_t n = length(op.how_many);
        const size_t n_computed = s.table.n_tokens();
        if (s.known.size() == n_computed) {
            n = std::min(n, most_tokens() - std::min<size_t>(most_tokens(), n_computed));
            for (size_t i = 0; i < n; ++i)
                s.known.push_back(
                    op.what % 4 == 0 ? static_cast<TokenId>(op.what >> (8 + i % 16) & 1) : 0);
        }
        n = std::min(n, s.known.size() - n_computed);
        if (n == 0 || !reserve(s, static_cast<uint32_t>(n))) return;
        forward(s, {s.known.begin() + static_cast<std::ptrdiff_t>(n_computed),
                    s.known.begin() + static_cast<std::ptrdiff_t>(n_computed + n)});
    }

    void publish(Sequence& s, const Op& op) {
        NaiveTokens tokens = computed(s);
        if (op.what % 3 == 0) tokens.resize(op.how_many % (tokens.size() + 1));
        const auto kind = op.what % 5 == 0 ? InsertKind::passing : InsertKind::boundary;
        const InsertReport report =
            tree_.insert(namespaces_[s.ns], tokens, s.table.group_blocks(), kind);
        const NaiveInsert twin = naive_tree_.insert(s.ns, tokens, s.twin.groups(), kind);
        EXPECT_EQ(report.n_new, twin.n_new);
        EXPECT_EQ(report.n_duplicates, twin.n_duplicates);
        remember(op, std::move(tokens));
    }

    void remember(const Op& op, NaiveTokens tokens) {
        if (seen_.size() < kMostSeen) seen_.emplace_back();
        last_seen_ = op.what % seen_.size();
        seen_[last_seen_] = std::move(tokens);
    }

    bool reserve(Sequence& s, uint32_t n_tokens) {
        const uint32_t n_needed = s.table.n_blocks_needed(n_tokens);
        const bool has_room = s.table.reserve(n_tokens);
        EXPECT_EQ(has_room, s.twin.reserve(n_tokens));
        EXPECT_EQ(has_room || n_needed > pool_.n_free(), true);
        n_refused_ += !has_room;
        return has_room;
    }

    // With several groups there is no model that could compute: rows are stamped instead.
    void forward(Sequence& s, const NaiveTokens& tokens) {
        const auto n = static_cast<uint32_t>(tokens.size());
        NaiveTokens all = first_of(s.known, s.table.n_tokens());
        all.insert(all.end(), tokens.begin(), tokens.end());
        if (has_groups()) {
            stamps_.compute(s.table, all);
        } else {
            const SequenceRows rows{
                .blocks = s.table.ids(), .n_past = s.table.n_tokens(), .first_row = 0, .n_rows = n};
            const uint32_t last_row = n - 1;
            std::vector<float> logits(kModel.vocab_size);
            const Batch batch{
                .tokens = tokens, .sequences = {&rows, 1}, .logits_rows = {&last_row, 1}};
            ASSERT_TRUE(model_.forward(batch, storage_.view(), *scratch_, logits).has_value());
            EXPECT_EQ(logits, model_.cold_logits(all));
        }
        s.table.append(n);
        s.twin.append(tokens);
    }

    // ---- the tier below ----

    void save(uint32_t ns, const NaiveTokens& tokens, const Op& op) {
        const std::vector<SaveItem> items = tree_.unsaved(namespaces_[ns], tokens);
        const std::vector<NaiveSaveItem> twins = naive_tree_.unsaved(ns, tokens);
        ASSERT_EQ(items.size(), twins.size());
        for (size_t i = 0; i < items.size(); ++i) {
            const SaveItem& item = items[i];
            const size_t begin = item.block_index * block_;
            Record record{.ref = next_ref_++, .ns = ns, .path = first_of(tokens, begin)};
            record.path.insert(record.path.end(), item.tokens.begin(), item.tokens.end());
            for (const auto& [group, block] : item.blocks) {
                record.group_mask |= 1u << group;
                const std::span<std::byte> bytes = bytes_of(block.id());
                record.blocks[group] = {bytes.begin(), bytes.end()};
            }
            EXPECT_EQ(item.block_index, twins[i].block_index);
            EXPECT_EQ(item.tokens.size(), twins[i].n_tokens);
            EXPECT_EQ(record.group_mask, twins[i].group_mask);
            if ((op.what >> i & 7) == 0) continue;  // not written
            const auto n_tokens = static_cast<uint32_t>(item.tokens.size());
            tree_.note_saved(item.node, {record.ref, record.group_mask, n_tokens});
            naive_tree_.note_saved(twins[i].entry, record.ref, record.group_mask, n_tokens);
            if (records_.size() == kMostRecords) records_.erase(records_.begin());
            records_.push_back(std::move(record));
        }
    }

    // Some records are bad, and there may be no room in the middle of it.
    void load_back(uint32_t ns, const NaiveTokens& tokens, const Op& op) {
        const LoadPlan plan = tree_.plan_load(namespaces_[ns], tokens);
        const NaiveLoadPlan twin = naive_tree_.plan_load(ns, tokens);
        EXPECT_EQ(plan.n_tokens, twin.n_tokens);
        ASSERT_EQ(plan.items.size(), twin.items.size());
        bool is_all = true;
        std::vector<std::pair<BlockRef, NaiveRef>> held;  // so that making room spares them
        for (size_t i = 0; i < plan.items.size(); ++i) {
            const LoadItem& item = plan.items[i];
            EXPECT_EQ(std::tuple(item.block_index, item.group, item.ref, item.tokens.size()),
                      std::tuple(twin.items[i].block_index, twin.items[i].group, twin.items[i].ref,
                                 twin.items[i].n_tokens));
            const auto record = std::ranges::find(records_, item.ref, &Record::ref);
            if (record == records_.end() || (op.kind == OpKind::lose && i == op.what % 4)) {
                tree_.lose(item);
                naive_tree_.lose(twin.items[i]);
                is_all = false;
                continue;
            }
            if (op.what / 16 % 2 == 0 && pool_.n_free() == 0) {
                EXPECT_EQ(tree_.evict(1), naive_tree_.evict(1));
                is_all = false;  // what goes may be of the same path
            }
            std::optional<BlockRef> block = pool_.take();
            const NaiveRef twin_block = naive_pool_.take();
            if (!block) return;
            const std::vector<std::byte>& bytes = record->blocks.at(item.group);
            std::ranges::copy(bytes, bytes_of(block->id()).begin());
            twin_block->rows.assign(item.tokens.begin(), item.tokens.end());
            const bool is_taken = tree_.load_back(item, *block);
            EXPECT_EQ(is_taken, naive_tree_.load_back(twin.items[i], twin_block));
            is_all &= is_taken;
            if (op.what / 16 % 2 == 0) held.emplace_back(std::move(*block), twin_block);
        }
        if (!is_all || plan.items.empty()) return;
        ++n_loaded_;
        EXPECT_GE(tree_.match(namespaces_[ns], tokens).n_tokens, plan.n_tokens);
    }

    // A record and those before it, as a scan of the tier would tell.
    void read_index(const Op& op) {
        if (records_.empty()) return;
        const Record& last = records_[op.who % records_.size()];
        std::optional<NodeHandle> parent;
        for (size_t end = block_;; end += block_) {
            const NaiveTokens path = first_of(last.path, std::min(end, last.path.size()));
            const auto record = std::ranges::find_if(
                records_, [&](const Record& r) { return r.ns == last.ns && r.path == path; });
            if (record == records_.end()) return;
            const std::span<const TokenId> tokens = std::span(path).subspan(end - block_);
            const NodeHandle handle = tree_.add_offloaded(namespaces_[last.ns], parent, tokens,
                                                          record->ref, record->group_mask);
            const bool is_known = handle.index != NodeHandle{}.index;
            EXPECT_EQ(is_known,
                      naive_tree_.add_offloaded(last.ns, path, record->ref, record->group_mask));
            if (!is_known || path.size() == last.path.size()) return;
            parent = handle;
        }
    }

    std::span<std::byte> bytes_of(BlockId block) const {
        const uint64_t n_bytes = spec_.block_bytes();
        return {storage_.view().base + static_cast<uint64_t>(block) * n_bytes, n_bytes};
    }

    // ---- looking ----

    // Prompts go on from what was published, cut around block boundaries or anywhere, so that they
    // meet cached paths in all ways.
    NaiveTokens some_prompt(const Op& op) const {
        NaiveTokens prompt;
        if (!seen_.empty() && op.what % 8 != 0) {
            prompt = seen_[(op.what % 2 == 0 ? op.what / 8 : last_seen_) % seen_.size()];
            if (op.how_many % 4 == 0) return prompt;
            const size_t boundary = op.how_many / 4 % 5 * block_ + op.how_many / 32 % 3;
            const size_t cut = op.how_many % 4 == 1 ? op.how_many / 4 % (prompt.size() + 1)
                                                    : boundary - std::min<size_t>(boundary, 1);
            prompt.resize(std::min(prompt.size(), cut));
        }
        for (uint32_t i = 0; i < op.how_many / 128 % 4; ++i)
            prompt.push_back(static_cast<TokenId>(op.what >> (8 + i) & 1));
        return prompt;
    }

    uint32_t length(uint32_t number) const {
        const std::array<uint32_t, 8> lengths = {
            1, 2, 3, block_ - 1, block_, block_ + 1, 1 + number / 8 % (2 * block_), 1};
        return lengths[number % lengths.size()];
    }

    NaiveTokens computed(const Sequence& s) const { return first_of(s.known, s.table.n_tokens()); }

    std::pair<PrefixHit, NaiveHit> find(uint32_t ns, const NaiveTokens& tokens) const {
        std::pair<PrefixHit, NaiveHit> hits = {tree_.match(namespaces_[ns], tokens),
                                               naive_tree_.match(ns, tokens)};
        const auto& [hit, twin] = hits;
        EXPECT_EQ(hit.n_tokens, twin.n_tokens);
        EXPECT_EQ(hit.n_resident, twin.n_resident);
        EXPECT_EQ(hit.n_known, twin.n_known);
        for (uint32_t g = 0; g < shape_.n_groups(); ++g) {
            EXPECT_EQ(hit.groups[g].first, twin.groups[g].first);
            EXPECT_EQ(hit.groups[g].blocks.size(), twin.groups[g].blocks.size());
        }
        EXPECT_EQ(hit.tail_rows, twin.n_tokens % block_);
        EXPECT_EQ(!hit.logits.empty(), twin.has_logits);
        return hits;
    }

    void expect_same_report(uint32_t ns, const NaiveTokens& tokens) const {
        const PathReport report = tree_.explain(namespaces_[ns], tokens);
        const PathReport twin = naive_tree_.explain(ns, tokens);
        EXPECT_EQ(report.n_usable, twin.n_usable);
        EXPECT_EQ(report.n_resident, twin.n_resident);
        EXPECT_EQ(report.n_known, twin.n_known);
        EXPECT_EQ(report.n_on_tier, twin.n_on_tier);
        EXPECT_EQ(report.n_evicted, twin.n_evicted);
        EXPECT_EQ(report.evicted_ms, twin.evicted_ms);
        if (report.difference) {
            EXPECT_EQ(report.difference->at, report.n_known);
            EXPECT_NE(report.difference->old_tokens[0], tokens[report.n_known]);
        }
    }

    // KV of these tokens as a cold computation would give it.
    void expect_cold(const BlockTable& table, const NaiveTokens& tokens) const {
        if (has_groups()) return stamps_.expect(table, tokens);
        expect_cold(table.ids(), tokens);
    }
    void expect_cold(const PrefixHit& hit, const NaiveTokens& tokens) const {
        if (has_groups()) return stamps_.expect(hit, tokens);
        std::vector<BlockId> ids;
        for (const BlockRef& block : hit.groups[0].blocks) ids.push_back(block.id());
        expect_cold(ids, tokens);
    }
    void expect_cold(std::span<const BlockId> ids, const NaiveTokens& tokens) const {
        EXPECT_EQ(model_.read_back(storage_.view(), ids, static_cast<uint32_t>(tokens.size())),
                  model_.cold_logits(tokens));
    }

    bool has_groups() const { return shape_.n_groups() > 1; }
    uint32_t most_tokens() const { return params_.max_logical_blocks * block_; }

    RigParams params_;
    uint32_t block_;
    HashModel model_{kModel};
    ThreadPool threads_{1};
    std::unique_ptr<Scratch> scratch_;
    KvSpec spec_;
    std::array<NamespaceKey, 2> namespaces_ = {namespace_key({"a"}), namespace_key({"b"})};
    BlockPool pool_;
    KvStorage storage_;
    StampedKv stamps_{storage_};
    PrefixCache tree_;
    NaiveShape shape_;
    NaivePool naive_pool_;
    NaivePrefixCache naive_tree_;
    std::vector<Sequence> sequences_;
    std::vector<HeldHit> hits_;
    std::vector<HeldPin> pins_;
    std::vector<NaiveTokens> seen_;  // published once; prompts begin like these
    size_t last_seen_ = 0;
    std::vector<Record> records_;
    TierRef next_ref_ = 1;
    double now_ms_ = 0;
    uint64_t n_refused_ = 0, n_whole_hits_ = 0, n_loaded_ = 0;
};

class RandomOperations : public testing::TestWithParam<RigParams> {};

// KVIK_OPS asks for more, or fewer, in all.
static uint32_t n_ops() {
    const char* asked = std::getenv("KVIK_OPS");
    uint32_t n = 96'000;
    if (asked) std::from_chars(asked, asked + std::strlen(asked), n);
    return n / 12;
}

TEST_P(RandomOperations, leave_cache_and_twin_with_the_same_answers_accounts_and_logits) {
    Twins twins(GetParam());
    const std::vector<Op> trace = random_trace(GetParam().seed, n_ops());
    for (size_t step = 0; step < trace.size(); ++step) {
        twins.play(trace[step]);
        twins.check_accounts();
        twins.check_contents(step);
        ASSERT_FALSE(HasFailure())
            << "seed " << GetParam().seed << ", step " << step << ": " << to_string(trace[step]);
    }
    // The trace went where it should: out of room, into hits, whole hits and evictions.
    const PrefixStats stats = twins.stats();
    RecordProperty("loaded", std::to_string(stats.loaded_blocks));
    EXPECT_GT(twins.n_refused(), 5u);
    EXPECT_GT(twins.n_whole_hits(), 5u);
    EXPECT_GT(stats.n_hits, 100u);
    EXPECT_GT(stats.replaced_blocks, 5u);
    EXPECT_GT(stats.duplicate_blocks, 5u);
    EXPECT_GT(stats.evicted_blocks, 100u);
    EXPECT_GE(stats.forgotten_blocks, 3u);
    EXPECT_GE(twins.n_loaded(), GetParam().n_offloaded > 0 ? 5u : 0u);
    EXPECT_GE(stats.evicted_window_blocks, GetParam().windows.size() > 1 ? 5u : 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Cache, RandomOperations,
    testing::Values(RigParams{16, 16, KvType::f16, 1}, RigParams{16, 12, KvType::f32, 2},
                    RigParams{16, 20, KvType::f16, 3, 8, EvictionPolicy::lfu},
                    RigParams{32, 20, KvType::f16, 4, 30, EvictionPolicy::cost},
                    RigParams{32, 14, KvType::f32, 5, 12, EvictionPolicy::fifo},
                    RigParams{64, 16, KvType::f16, 6, 20, EvictionPolicy::lru},
                    RigParams{16, 40, KvType::f32, 7, 0, EvictionPolicy::lru, {0, 20}, 12},
                    RigParams{16, 60, KvType::f32, 8, 20, EvictionPolicy::cost, {0, 20, 20}, 12},
                    RigParams{16, 60, KvType::f32, 9, 30, EvictionPolicy::lru, {0, 16, 40}, 12},
                    RigParams{
                        16, 80, KvType::f32, 10, 30, EvictionPolicy::lfu, {0, 0, 17, 17, 17}, 12},
                    RigParams{32, 40, KvType::f32, 11, 20, EvictionPolicy::fifo, {0, 33}, 8},
                    RigParams{16, 50, KvType::f32, 12, 16, EvictionPolicy::cost, {0, 1, 64}, 12}));

}  // namespace kvik
