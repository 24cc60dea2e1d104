// StepTimer: runs steps of a model at a pretended depth and times them.
//
// Use     open() between steps of the engine, then time() one point after another.
// Shape   one sequence over a KV storage of its own, filled with zeros: the time of a step does not
//         depend on what the KV holds. Every position has its own memory; if blocks stood for several
//         positions, they would stay in the CPU's cache and depth would seem to cost nothing.
// Owner   that storage, at most kKvBytes or an eighth of the weights, and never more than the
//         budget of the cache; it borrows all else.
// Threads the thread that runs the engine's steps.
// Cost    time() runs one step; memory is touched, before the clock starts, when a depth first needs
//         it.
// Errors  open and time return nothing when memory is missing, a step fails, or must_stop() says so.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "cache/kv_storage.h"
#include "engine/costs/calibrate.h"
#include "model/model.h"

namespace kvik {

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
    void touch(uint32_t n_places);

    StepTimerParts parts_;
    KvStorage storage_;
    uint32_t n_depth_;
    uint32_t n_places_;
    uint32_t n_touched_ = 0;       // blocks
    std::vector<BlockId> blocks_;  // [n_groups, n_places]
    std::vector<TokenId> tokens_;
    std::vector<uint32_t> rows_;  // 0 .. n - 1
};

}  // namespace kvik
