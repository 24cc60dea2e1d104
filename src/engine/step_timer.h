// StepTimer: runs steps of a model at a pretended depth and says how long each took.
//
// Shape   one sequence over a KV storage of its own; its KV is zeros, since what it holds does not
//         matter for the time. Every position has its own memory: blocks that stood for several
//         would stay in a cache, and depth would seem to cost nothing.
// Owner   that storage, at most kKvBytes or an eighth of the weights, and never more than the
//         budget of the cache; borrows all else. It is gone with the timer.
// Cost    pages are touched before they are timed, when a depth first needs them.
// Errors  no memory, a step that fails, somebody who asks to stop: nothing, instead of a time.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "cache/kv_storage.h"
#include "engine/calibrate.h"
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
