// StepProfile: where the time of forwards went, part by part and worker by worker.
//
// Use     StepProfile profile(pool.n_threads());
//         make_scratch({..., .profile = &profile}, pool), some forwards, profile.ns(StepPart::qkv);
//         profile.clear() before the next test. ScratchLimits::profile null: nothing is measured.
// Owner   the caller; it outlives the Scratch.
// Threads each worker writes its own lane; everything else between forwards only.
// Cost    off: a branch a part. On: a reading of the clock a part. Neither allocates.
// Invariant all parts of all workers add up to wall_ns() times the workers.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/thread_pool.h"

namespace kvik {

// `start` is what one thread does before the others begin, and waking them; `waiting` is the time
// in barriers, taken off the part in which it fell.
enum class StepPart : uint8_t {
    start,
    embed,
    norm,  // settle, norm and quantise, of every matrix product
    qkv,
    rope,  // norm of heads, RoPE and KV write
    attention,
    output,  // O
    gate_up,
    down,
    head,
    waiting,
};
inline constexpr uint32_t kStepParts = 11;
std::string_view name_of(StepPart part);

class StepProfile {
  public:
    explicit StepProfile(uint32_t n_workers);
    void clear();

    uint32_t n_workers() const { return static_cast<uint32_t>(lanes_.size()); }
    uint64_t n_steps() const { return n_steps_; }
    uint64_t wall_ns() const { return wall_ns_; }
    uint64_t ns(StepPart part) const;  // all workers together
    uint64_t ns(StepPart part, uint32_t worker) const;
    uint64_t n_barriers() const { return lanes_[0].n_barriers; }  // in all steps
    // Of the workers' time, what was neither a matrix product nor attention: 0 .. 1.
    double share_between() const;

    // For the model: the step begins; its worker begins, ends a part, ends; the step ends.
    void begin_step();
    void begin(Worker worker);
    void end(Worker worker, StepPart part);
    void end_step();

  private:
    struct alignas(64) Lane {
        std::array<uint64_t, kStepParts> ns{};
        uint64_t n_barriers = 0;
        uint64_t last_ns = 0;          // the clock at the end of the last part
        uint64_t seen_waiting_ns = 0;  // the worker's waiting until then
        uint64_t seen_barriers = 0;
    };
    std::vector<Lane> lanes_;
    uint64_t n_steps_ = 0, wall_ns_ = 0, began_ns_ = 0;
};

// Nanoseconds that a barrier costs when all workers arrive at once: the median of many.
double barrier_latency_ns(ThreadPool& pool);

}  // namespace kvik
