#include "engine/costs/calibrate.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/check.h"

namespace kvik {

// ---- MeasuredSteps ----

namespace {

// Returns a rising curve over an axis with its missing points filled in; at least one is known.
template <size_t n>
std::array<double, n> filled(const std::array<std::optional<double>, n>& known,
                             const std::array<uint32_t, n>& axis) {
    std::array<double, n> out{};
    std::optional<size_t> last, before;
    for (size_t i = 0; i < n; ++i) {
        if (!known[i]) continue;
        before = last;
        last = i;
        out[i] = *known[i];
        const double from = before ? axis[*before] : 0, low = before ? *known[*before] : 0;
        const double slope = (out[i] - low) / (axis[i] - from);
        for (size_t j = before ? *before + 1 : 0; j < i; ++j)
            out[j] = low + slope * (axis[j] - from);
    }
    // With one known point alone, half of its time is assumed for 0 tokens.
    const double from = before ? axis[*before] : 0;
    const double low = before ? *known[*before] : out[*last] / 2;
    const double slope = (out[*last] - low) / (axis[*last] - from);
    for (size_t j = *last + 1; j < n; ++j) out[j] = out[*last] + slope * (axis[j] - axis[*last]);
    return out;
}

template <class Values>
void make_rising(Values& values) {
    double least = 0;
    for (double& value : values) least = value = std::max(value, least);
}

}  // namespace

void MeasuredSteps::cut_noise() {
    Cells most;  // the least of all that has as many rows or more, as deep or deeper
    for (size_t d = StepCosts::kDepths.size(); d-- > 0;) {
        std::optional<double> least;
        for (size_t r = StepCosts::kTokens.size(); r-- > 0;) {
            std::optional<double>& cell = step_ms_[d][r];
            if (most[r] && (!least || *most[r] < *least)) least = most[r];
            if (cell && least) cell = std::min(*cell, *least);
            if (cell) least = cell;
            most[r] = least;
        }
    }
    std::optional<double> least;
    for (size_t c = StepCosts::kChunks.size(); c-- > 1;) {
        std::optional<double>& cell = chunk_ms_[c];
        if (cell && least) cell = std::min(*cell, *least);
        if (cell) least = cell;
    }
}

StepCosts MeasuredSteps::complete() const {
    KVIK_CHECK(step_ms_[0][0].has_value(), "a step of one row has been measured");
    MeasuredSteps clean = *this;
    clean.cut_noise();
    StepCosts costs;
    costs.step_ms[0] = filled(clean.step_ms_[0], StepCosts::kTokens);
    make_rising(costs.step_ms[0]);

    StepCosts::Row added{}, before{};  // by a depth, over depth 0
    for (size_t d = 1; d < StepCosts::kDepths.size(); ++d) {
        Cells known;
        for (size_t r = 0; r < StepCosts::kTokens.size(); ++r)
            if (clean.step_ms_[d][r])
                known[r] = std::max(0.0, *clean.step_ms_[d][r] - costs.step_ms[0][r]);
        const bool any = std::any_of(known.begin(), known.end(), [](auto& k) { return !!k; });
        const double deeper = d > 1 ? 1.0 * StepCosts::kDepths[d] / StepCosts::kDepths[d - 1] : 0;
        if (any) added = filled(known, StepCosts::kTokens);
        for (size_t r = 0; r < StepCosts::kTokens.size(); ++r)
            added[r] = (any ? added[r] : before[r] * deeper) - before[r];
        make_rising(added);
        for (size_t r = 0; r < StepCosts::kTokens.size(); ++r) {
            costs.step_ms[d][r] = costs.step_ms[d - 1][r] + added[r];
            before[r] += added[r];
        }
    }

    // Tokens of which only the last has logits never cost more than tokens that all have them.
    // Where they were not measured the same cost is assumed.
    auto chunks = clean.chunk_ms_;
    for (size_t c = 0; c < StepCosts::kChunks.size(); ++c) {
        const double all_ms = costs.ms(StepCosts::kChunks[c], 0);
        chunks[c] = c == 0 ? all_ms : std::min(chunks[c].value_or(all_ms), all_ms);
    }
    costs.chunk_ms = filled(chunks, StepCosts::kChunks);
    make_rising(costs.chunk_ms);
    return costs;
}

// ---- which steps are timed ----
namespace {

constexpr double kPointMs = 6;  // a point that takes less is timed again: the best of kMostRuns
constexpr int kMostRuns = 3, kLeastRunsOfMust = 2;
constexpr uint32_t kLeastDepth = 256;  // too little of 2048 to say anything of it

enum class Kind : uint8_t { step, chunk };
enum class Must : uint8_t { always, in_budget };

// Indices into the axes of StepCosts.
struct Item {
    Kind kind;
    size_t rows, depth;
    Must must = Must::in_budget;
};

constexpr Item kOrder[] = {
    {Kind::step, 0, 0},                // 1 row again, now that all is warm
    {Kind::step, 2, 0, Must::always},  // 4 rows: the price of a row
    {Kind::step, 0, 1, Must::always},  // the price of depth
    {Kind::step, 2, 1},                // and that of a row in the depth
    {Kind::step, 5, 0},
    {Kind::chunk, 1, 0},  // 16 and 64 rows without logits
    {Kind::chunk, 2, 0},
    {Kind::step, 5, 1},
    {Kind::step, 3, 0},
    {Kind::step, 1, 0},
    {Kind::step, 4, 0},
    {Kind::step, 3, 1},
    {Kind::step, 0, 2},
    {Kind::step, 5, 2},
    {Kind::step, 1, 1},
    {Kind::step, 4, 1},
};

class Calibration {
  public:
    Calibration(const CalibrationLimits& limits, const TimeStep& time,
                const std::function<double()>& now_ms)
        : limits_(limits), time_(time), now_ms_(now_ms), start_ms_(now_ms()) {}

    std::optional<StepCosts> run() {
        const std::optional<double> cold = time_({});
        if (!cold) return std::nullopt;
        measured_.set_step(0, 0, *cold);
        for (const Item& item : kOrder) {
            const std::optional<StepPoint> point = point_of(item);
            if (!point) continue;
            if (item.must == Must::in_budget && !has_time_for(expected_ms(item))) continue;
            const std::optional<double> ms = best_ms(*point, item.must);
            if (!ms) return std::nullopt;
            note(item, *point, *ms);
        }
        return measured_.complete();
    }

  private:
    std::optional<StepPoint> point_of(const Item& item) const {
        const bool is_step = item.kind == Kind::step;
        const uint32_t n = is_step ? StepCosts::kTokens[item.rows] : StepCosts::kChunks[item.rows];
        const uint32_t wanted = StepCosts::kDepths[item.depth];
        const StepPoint point = {.n_tokens = n,
                                 .depth = std::min(wanted, limits_.n_depth),
                                 .n_logits_rows = is_step ? n : 1};
        if (point.n_tokens > limits_.n_tokens || point.n_logits_rows > limits_.n_logits_rows)
            return {};
        // A depth that would be measured at the depth before is left out.
        const uint32_t before = item.depth > 0 ? StepCosts::kDepths[item.depth - 1] : 0;
        if (wanted > 0 && point.depth < std::max(2 * before, kLeastDepth)) return {};
        return point;
    }

    bool has_time_for(double ms) const {
        const StepCosts costs = measured_.complete();
        const double budget_ms = std::max(kBudgetMs, kBudgetSteps * costs.ms(1, 0));
        return now_ms_() - start_ms_ + ms <= budget_ms;
    }

    double expected_ms(const Item& item) const {
        const StepCosts costs = measured_.complete();
        return item.kind == Kind::step
                   ? costs.ms(StepCosts::kTokens[item.rows], StepCosts::kDepths[item.depth])
                   : costs.prompt_ms(StepCosts::kChunks[item.rows]);
    }

    std::optional<double> best_ms(const StepPoint& point, Must must) const {
        const int n_least = must == Must::always ? kLeastRunsOfMust : 1;
        std::optional<double> best = time_(point);
        for (int n = 1; n < kMostRuns && best; ++n) {
            if (n >= n_least && *best * (n + 1) > kPointMs) break;
            if (!has_time_for(*best)) break;
            const std::optional<double> again = time_(point);
            if (!again) return std::nullopt;
            best = std::min(*best, *again);
        }
        return best;
    }

    void note(const Item& item, const StepPoint& point, double ms) {
        if (item.kind == Kind::chunk) return measured_.set_chunk(item.rows, ms);
        const uint32_t wanted = StepCosts::kDepths[item.depth];
        if (point.depth < wanted) {
            const double flat_ms = measured_.complete().ms(point.n_tokens, 0);
            ms = flat_ms + std::max(0.0, ms - flat_ms) * wanted / point.depth;
        }
        const double before_ms = measured_.step(item.rows, item.depth).value_or(ms);
        measured_.set_step(item.rows, item.depth, std::min(ms, before_ms));
    }

    const CalibrationLimits& limits_;
    const TimeStep& time_;
    const std::function<double()>& now_ms_;
    const double start_ms_;
    MeasuredSteps measured_;
};

}  // namespace

std::optional<StepCosts> calibrate(const CalibrationLimits& limits, const TimeStep& time,
                                   const std::function<double()>& now_ms) {
    return Calibration(limits, time, now_ms).run();
}

// ---- StepTimer ----

namespace {

constexpr uint32_t kMostPointRows = std::max(StepCosts::kTokens.back(), StepCosts::kChunks.back());

uint32_t blocks_for(uint32_t n_tokens, uint32_t block_tokens) {
    return (n_tokens + block_tokens - 1) / block_tokens;
}

// Returns the most positions before a step that context and memory allow.
uint32_t deepest(const StepTimerParts& parts) {
    const uint64_t most_bytes =
        std::min(parts.cache_bytes, std::max(kKvBytes, parts.model.spec().weight_bytes / 8));
    const uint64_t n_tokens = std::min<uint64_t>(
        parts.limits.context_length,
        most_bytes / (parts.kv.block_bytes() * parts.kv.n_groups()) * parts.kv.block_tokens);
    const uint64_t n_depth = n_tokens - std::min<uint64_t>(n_tokens, kMostPointRows);
    return static_cast<uint32_t>(std::min<uint64_t>(n_depth, StepCosts::kDepths.back()));
}

}  // namespace

std::optional<StepTimer> StepTimer::open(StepTimerParts parts) {
    const uint32_t n_depth = deepest(parts);
    const uint32_t n_logical_blocks = blocks_for(n_depth + kMostPointRows, parts.kv.block_tokens);
    auto storage = KvStorage::open(parts.kv, n_logical_blocks * parts.kv.n_groups());
    if (!storage) return std::nullopt;
    return StepTimer(std::move(parts), std::move(*storage), n_depth);
}

StepTimer::StepTimer(StepTimerParts parts, KvStorage storage, uint32_t n_depth)
    : parts_(std::move(parts)),
      storage_(std::move(storage)),
      n_depth_(n_depth),
      n_logical_blocks_(storage_.n_blocks() / storage_.spec().n_groups()),
      blocks_(storage_.n_blocks()),
      tokens_(kMostPointRows),
      rows_(kMostPointRows) {
    const uint32_t n_groups = storage_.spec().n_groups();
    for (uint32_t g = 0; g < n_groups; ++g)
        for (uint32_t i = 0; i < n_logical_blocks_; ++i)
            blocks_[uint64_t{g} * n_logical_blocks_ + i] = BlockId{i * n_groups + g};
    const uint32_t vocab_size = parts_.model.spec().vocab_size;
    for (uint32_t i = 0; i < kMostPointRows; ++i)
        tokens_[i] = static_cast<TokenId>((uint64_t{i} * 7919 + 1) % vocab_size);
    std::iota(rows_.begin(), rows_.end(), 0u);
}

CalibrationLimits StepTimer::limits() const {
    return {.n_tokens = std::min(parts_.limits.n_rows, parts_.limits.context_length),
            .n_logits_rows = parts_.limits.n_logits_rows,
            .n_depth = n_depth_};
}

// Writes to the blocks that are new. The kernel maps all pages that were never written to one page
// of zeros, which would stay in the CPU's cache.
void StepTimer::touch(uint32_t n_logical_blocks) {
    const uint32_t n_blocks = n_logical_blocks * storage_.spec().n_groups();
    if (n_blocks <= n_touched_) return;
    const uint64_t block_bytes = storage_.spec().block_bytes();
    std::byte* begin = storage_.view().base + n_touched_ * block_bytes;
    const uint64_t n_bytes = (n_blocks - n_touched_) * block_bytes;
    parts_.pool.run([&](Worker w) {
        const uint64_t from = n_bytes * w.index() / w.count();
        std::memset(begin + from, 0, n_bytes * (w.index() + 1) / w.count() - from);
    });
    n_touched_ = n_blocks;
}

std::optional<double> StepTimer::time(const StepPoint& point) {
    if (parts_.must_stop()) return std::nullopt;
    const uint32_t n_logical_blocks =
        blocks_for(point.depth + point.n_tokens, storage_.spec().block_tokens);
    touch(n_logical_blocks);
    const SequenceRows sequence = {.blocks = std::span(blocks_).first(n_logical_blocks),
                                   .n_past = point.depth,
                                   .first_row = 0,
                                   .n_rows = point.n_tokens,
                                   .group_stride = n_logical_blocks_};
    const Batch batch = {.tokens = std::span(tokens_).first(point.n_tokens),
                         .sequences = {&sequence, 1},
                         .logits_rows = std::span(rows_).subspan(
                             point.n_tokens - point.n_logits_rows, point.n_logits_rows)};
    const uint64_t n_logits = uint64_t{point.n_logits_rows} * parts_.model.spec().vocab_size;
    const double start_ms = parts_.now_ms();
    const Result<void> done =
        parts_.model.forward(batch, storage_.view(), parts_.scratch, parts_.logits.first(n_logits));
    if (!done) return std::nullopt;
    return parts_.now_ms() - start_ms;
}

}  // namespace kvik
