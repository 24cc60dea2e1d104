// WorkerGovernor: how many workers a pool should use on a machine that others use too.
//
// Why     a worker whose core is taken holds up all others at the next barrier: beside seven busy
//         processes, two workers on two cores decode 30 times slower than one alone.
// Use     n_active() workers run; ran() tells what each lost. When wants_probe(), the idle workers
//         try for kProbeNs how much time they get, beside the runs, and probed() tells.
// Invariant pure: what it says follows from what it was told; clocks are arguments.
// Cost    none that counts: some additions a run.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kvik {

class WorkerGovernor {
  public:
    // Longer than a scheduler leaves a core to a process that others wait for.
    static constexpr uint64_t kProbeNs = 12'000'000;

    explicit WorkerGovernor(uint32_t n_workers);

    uint32_t n_active() const { return n_active_; }
    // After a run of n_active() workers: lost_ns[i] of wall_ns worker i was ready, but had no core.
    void ran(uint64_t now_ns, uint64_t wall_ns, std::span<const uint64_t> lost_ns);

    bool wants_probe(uint64_t now_ns) const {
        return n_active_ < n_workers_ && now_ns >= probe_at_ns_;
    }
    // After a probe by the idle workers, of whom n_free had their cores to themselves.
    void probed(uint64_t now_ns, uint32_t n_free);

    // Whether a worker that lost that much of its time is in the way of others.
    static bool is_crowded(uint64_t wall_ns, uint64_t lost_ns) { return 5 * lost_ns > wall_ns; }

  private:
    uint32_t best_n();
    void be_patient(uint64_t now_ns);

    uint32_t n_workers_, n_active_;
    uint64_t wall_ns_ = 0;           // of the runs since the last decision
    std::vector<uint64_t> lost_ns_;  // the same, [n_workers]
    uint64_t probe_at_ns_ = 0, patience_ns_, raised_at_ns_ = 0;
};

}  // namespace kvik
