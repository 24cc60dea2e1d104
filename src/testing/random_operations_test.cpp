// The cache against its naive twin: the same random operations on both, and after each of them the
// same answers, the same accounts, and KV that gives the logits of a cold computation.
#include <gtest/gtest.h>

#include <array>
#include <ostream>

#include "base/thread_pool.h"
#include "cache/block_table.h"
#include "cache/prefix_tree.h"
#include "testing/hash_model.h"
#include "testing/naive_cache.h"
#include "testing/trace.h"

namespace kvik {

struct RigParams {
    uint32_t block_tokens;
    uint32_t n_blocks;
    KvType type;
    uint64_t seed;
};

static void PrintTo(const RigParams& p, std::ostream* out) {
    *out << "block_tokens " << p.block_tokens << ", blocks " << p.n_blocks << ", seed " << p.seed;
}

static constexpr uint32_t kMostSequences = 6, kMostHeld = 3, kMostSeen = 24, kMostLogits = 4;
static constexpr HashModelOptions kModel{};
static constexpr uint64_t kLogitsBytes = kMostLogits * (kModel.vocab_size * sizeof(float) + 160);

static KvSpec spec_of(const HashModel& model, const RigParams& params) {
    KvSpec spec = model.spec().kv;
    spec.block_tokens = params.block_tokens;
    spec.type = params.type;
    return spec;
}

static NaiveTokens first_of(const NaiveTokens& tokens, size_t n) {
    return {tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(n)};
}

// Both caches, side by side.
class Twins {
  public:
    explicit Twins(const RigParams& params)
        : block_(params.block_tokens),
          scratch_(*model_.make_scratch({}, threads_)),
          pool_(params.n_blocks),
          storage_(*KvStorage::open(spec_of(model_, params), params.n_blocks)),
          tree_(
              {.block_tokens = block_, .n_blocks = params.n_blocks, .logits_bytes = kLogitsBytes}),
          naive_pool_(params.n_blocks, block_),
          naive_tree_(block_, kMostLogits) {}

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
        }
        for (const HeldHit& held : hits_) n_handles += held.hit.groups[0].blocks.size();
        EXPECT_EQ(pool_.n_handles(), n_handles);
        EXPECT_EQ(pool_.n_used(), naive_pool_.n_used());
        EXPECT_EQ(tree_.stats().cached_blocks, naive_tree_.n_blocks());
    }

    // One sequence, one held hit and one path of the tree, in turn.
    void check_contents(size_t turn) const {
        if (!sequences_.empty()) {
            const Sequence& s = sequences_[turn % sequences_.size()];
            EXPECT_EQ(s.table.n_tokens(), s.twin.n_tokens());
            EXPECT_EQ(s.twin.tokens(), computed(s)) << "the twin itself";
            expect_cold(s.table.ids(), computed(s));
        }
        if (!hits_.empty()) {
            const HeldHit& held = hits_[turn % hits_.size()];
            expect_cold(ids_of(held.hit), first_of(held.tokens, held.hit.n_tokens));
        }
        if (!seen_.empty()) {
            const NaiveTokens& tokens = seen_[turn % seen_.size()];
            const auto ns = static_cast<uint32_t>(turn / 2 % 2);
            const PrefixHit hit = find(ns, tokens).first;
            expect_cold(ids_of(hit), first_of(tokens, hit.n_tokens));
        }
    }

    uint64_t n_refused() const { return n_refused_; }
    uint64_t n_whole_hits() const { return n_whole_hits_; }
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
            case OpKind::let_go_shared:
                EXPECT_EQ(tree_.let_go_shared(1), naive_tree_.let_go_shared(1));
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
                NaiveTokens drafts(length(op.how_many), static_cast<TokenId>(50 + op.what % 50));
                if (!reserve(s, static_cast<uint32_t>(drafts.size()))) break;
                forward(s, drafts);
                s.table.truncate(n_before);
                s.twin.truncate(n_before);
                break;
            }
            case OpKind::rewind: {
                const uint32_t n = op.how_many % (s.table.n_tokens() + 1);
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
        Sequence s{ns, std::move(prompt), BlockTable(pool_, storage_, 8 * block_),
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
            n = std::min(n, 5 * block_ - std::min<size_t>(5 * block_, n_computed));
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
        const InsertReport report = tree_.insert(namespaces_[s.ns], tokens, s.table.group_blocks());
        const NaiveInsert twin = naive_tree_.insert(s.ns, tokens, s.twin.blocks());
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

    void forward(Sequence& s, const NaiveTokens& tokens) {
        const auto n = static_cast<uint32_t>(tokens.size());
        const SequenceRows rows{
            .blocks = s.table.ids(), .n_past = s.table.n_tokens(), .first_row = 0, .n_rows = n};
        const uint32_t last_row = n - 1;
        std::vector<float> logits(kModel.vocab_size);
        const Batch batch{.tokens = tokens, .sequences = {&rows, 1}, .logits_rows = {&last_row, 1}};
        ASSERT_TRUE(model_.forward(batch, storage_.view(), *scratch_, logits).has_value());
        NaiveTokens all = first_of(s.known, s.table.n_tokens());
        all.insert(all.end(), tokens.begin(), tokens.end());
        EXPECT_EQ(logits, model_.cold_logits(all));
        s.table.append(n);
        s.twin.append(tokens);
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
        std::pair<PrefixHit, NaiveHit> hits = {tree_.find(namespaces_[ns], tokens),
                                               naive_tree_.find(ns, tokens)};
        const auto& [hit, twin] = hits;
        EXPECT_EQ(hit.n_tokens, twin.n_tokens);
        EXPECT_EQ(hit.groups[0].blocks.size(), twin.blocks.size());
        EXPECT_EQ(hit.tail_rows, twin.n_tokens % block_);
        EXPECT_EQ(!hit.logits.empty(), twin.has_logits);
        return hits;
    }

    static std::vector<BlockId> ids_of(const PrefixHit& hit) {
        std::vector<BlockId> ids;
        for (const BlockRef& block : hit.groups[0].blocks) ids.push_back(block.id());
        return ids;
    }

    void expect_cold(std::span<const BlockId> ids, const NaiveTokens& tokens) const {
        EXPECT_EQ(model_.read_back(storage_.view(), ids, static_cast<uint32_t>(tokens.size())),
                  model_.cold_logits(tokens));
    }

    uint32_t block_;
    HashModel model_{kModel};
    ThreadPool threads_{1};
    std::unique_ptr<Scratch> scratch_;
    std::array<NamespaceKey, 2> namespaces_ = {namespace_key({"a"}), namespace_key({"b"})};
    BlockPool pool_;
    KvStorage storage_;
    PrefixTree tree_;
    NaivePool naive_pool_;
    NaiveTree naive_tree_;
    std::vector<Sequence> sequences_;
    std::vector<HeldHit> hits_;
    std::vector<HeldPin> pins_;
    std::vector<NaiveTokens> seen_;  // published once; prompts begin like these
    size_t last_seen_ = 0;
    uint64_t n_refused_ = 0, n_whole_hits_ = 0;
};

class RandomOperations : public testing::TestWithParam<RigParams> {};

TEST_P(RandomOperations, leave_cache_and_twin_with_the_same_answers_accounts_and_logits) {
    constexpr uint32_t kOps = 8000;
    Twins twins(GetParam());
    const std::vector<Op> trace = random_trace(GetParam().seed, kOps);
    for (size_t step = 0; step < trace.size(); ++step) {
        twins.play(trace[step]);
        twins.check_accounts();
        twins.check_contents(step);
        ASSERT_FALSE(HasFailure())
            << "seed " << GetParam().seed << ", step " << step << ": " << to_string(trace[step]);
    }
    // The trace went where it should: out of room, into hits, whole hits and evictions.
    EXPECT_GT(twins.n_refused(), 5u);
    EXPECT_GT(twins.n_whole_hits(), 5u);
    EXPECT_GT(twins.stats().n_hits, 100u);
    EXPECT_GT(twins.stats().replaced_blocks, 5u);
    EXPECT_GT(twins.stats().duplicate_blocks, 5u);
    EXPECT_GT(twins.stats().evicted_blocks, 100u);
}

INSTANTIATE_TEST_SUITE_P(
    Cache, RandomOperations,
    testing::Values(RigParams{16, 16, KvType::f16, 1}, RigParams{16, 12, KvType::f32, 2},
                    RigParams{16, 20, KvType::f16, 3}, RigParams{32, 20, KvType::f16, 4},
                    RigParams{32, 14, KvType::f32, 5}, RigParams{64, 16, KvType::f16, 6}));

}  // namespace kvik
