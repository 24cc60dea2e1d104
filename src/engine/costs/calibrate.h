// calibrate, MeasuredSteps and StepTimer: which steps are timed, in which order and for how long,
// the table of costs that their times make, and what runs the steps.
//
// Use     `time` runs one step and returns its time in ms, or nothing if measuring must not go on
//         (a request waits, a step failed); calibrate then returns nothing.
// Owner   a StepTimer owns its KV storage and borrows all else.
// Threads the thread that runs the engine's steps; `time` is called on it.
// Cost    kBudgetMs, or kBudgetSteps steps of one token where that is more, and at most one step
//         more. Of a model so slow that the budget is soon spent, three points at least. The points
//         that tell most come first; the others are filled in.
// Errors  none beside the missing result.
// Invariant it reads no clock but now_ms. A depth beyond n_depth is measured at n_depth and scaled
//         if n_depth is the greater part of it; otherwise it is left out.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "cache/kv_storage.h"
#include "model/model.h"
#include "sched/step_costs.h"

namespace kvik {

inline constexpr double kBudgetMs = 100;
inline constexpr double kBudgetSteps = 16;

// A step of n tokens of one sequence after `depth` positions, with the logits of the last
// n_logits_rows tokens.
struct StepPoint {
    uint32_t n_tokens = 1;
    uint32_t depth = 0;
    uint32_t n_logits_rows = 1;
};

struct CalibrationLimits {
    uint32_t n_tokens = 0;       // most in a step
    uint32_t n_logits_rows = 0;  // most of them with logits
    uint32_t n_depth = 0;        // most positions before the tokens of a step
};

using TimeStep = std::function<std::optional<double>(const StepPoint&)>;

std::optional<StepCosts> calibrate(const CalibrationLimits& limits, const TimeStep& time,
                                   const std::function<double()>& now_ms);

// What was measured of a table of step costs so far, and the table it makes: a cell for each point
// of StepCosts, empty where nothing was measured. complete() satisfies the invariant of
// sched/step_costs.h whatever was measured. Other programs only ever add to a time, so of two times
// that fall with more tokens or depth the larger is the wrong one, and is cut. Missing cells are
// filled in: between two points linearly, beyond the last as between the last two, with one alone
// half in proportion (rather dear), and for an unknown depth in proportion to the one before.
class MeasuredSteps {
  public:
    // Indices into StepCosts::kTokens, kDepths, kChunks; kChunks[0] is a step of one token.
    void set_step(size_t row, size_t depth, double ms) { step_ms_[depth][row] = ms; }
    void set_chunk(size_t chunk, double ms) { chunk_ms_[chunk] = ms; }
    std::optional<double> step(size_t row, size_t depth) const { return step_ms_[depth][row]; }

    // Returns the whole table. One token at depth 0 must have been measured.
    StepCosts complete() const;

  private:
    using Cells = std::array<std::optional<double>, StepCosts::kTokens.size()>;
    void cut_noise();

    std::array<Cells, StepCosts::kDepths.size()> step_ms_;
    std::array<std::optional<double>, StepCosts::kChunks.size()> chunk_ms_;
};

// Runs steps of a model at a pretended depth and times them, over a KV storage of its own: at most
// kKvBytes or an eighth of the weights, and never more than the budget of the cache. The KV is
// zeros, because the time of a step does not depend on what it holds. Every position has its own
// memory; if blocks stood for several positions, they would stay in the CPU's cache and depth would
// seem to cost nothing. Memory is touched, before the clock starts, when a depth first needs it.
// open() and time() return nothing when memory is missing, a step fails, or must_stop() says so.
inline constexpr uint64_t kKvBytes = 64ull << 20;

struct StepTimerParts {
    const Model& model;
    ThreadPool& pool;
    Scratch& scratch;
    ScratchLimits limits;     // the scratch's
    std::span<float> logits;  // [limits.n_logits_rows, vocab_size]
    KvSpec kv;
    uint64_t cache_bytes = 0;
    std::function<double()> now_ms;
    std::function<bool()> must_stop;
};

class StepTimer {
  public:
    static std::optional<StepTimer> open(StepTimerParts parts);

    CalibrationLimits limits() const;
    std::optional<double> time(const StepPoint& point);

  private:
    StepTimer(StepTimerParts parts, KvStorage storage, uint32_t n_depth);
    void touch(uint32_t n_logical_blocks);

    StepTimerParts parts_;
    KvStorage storage_;
    uint32_t n_depth_;
    uint32_t n_logical_blocks_;
    uint32_t n_touched_ = 0;       // blocks
    std::vector<BlockId> blocks_;  // [n_groups, n_logical_blocks]
    std::vector<TokenId> tokens_;
    std::vector<uint32_t> rows_;  // 0 .. n - 1
};

}  // namespace kvik
