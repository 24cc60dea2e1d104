#include "base/worker_governor.h"

#include <algorithm>

#include "base/check.h"

namespace kvik {
namespace {

constexpr uint64_t kMillisecond = 1'000'000;
constexpr uint64_t kWindowNs = 60 * kMillisecond;  // a short burst of other work is none
constexpr uint64_t kFirstPatienceNs = 500 * kMillisecond;
constexpr uint64_t kMostPatienceNs = 16'000 * kMillisecond;
constexpr uint64_t kSettledNs = 4'000 * kMillisecond;  // a raise that lasted was right

}  // namespace

WorkerGovernor::WorkerGovernor(uint32_t n_workers)
    : n_workers_(n_workers),
      n_active_(n_workers),
      lost_ns_(n_workers),
      patience_ns_(kFirstPatienceNs) {
    KVIK_CHECK(n_workers >= 1, "somebody works");
}

void WorkerGovernor::ran(uint64_t now_ns, uint64_t wall_ns, std::span<const uint64_t> lost_ns) {
    KVIK_CHECK(lost_ns.size() == n_active_, "every worker of the run says what it lost");
    wall_ns_ += wall_ns;
    for (uint32_t i = 0; i < n_active_; ++i) lost_ns_[i] += lost_ns[i];
    if (wall_ns_ < kWindowNs) return;
    uint32_t n_crowded = 0;
    for (uint32_t i = 0; i < n_active_; ++i) n_crowded += is_crowded(wall_ns_, lost_ns_[i]);
    wall_ns_ = 0;
    std::fill(lost_ns_.begin(), lost_ns_.end(), 0);
    if (n_crowded == 0 || n_active_ == 1) return;
    if (n_active_ == n_workers_ && now_ns - raised_at_ns_ >= kSettledNs)
        patience_ns_ = kFirstPatienceNs;
    n_active_ -= std::min(n_crowded, n_active_ - 1);
    be_patient(now_ns);
}

void WorkerGovernor::probed(uint64_t now_ns, uint32_t n_free) {
    n_active_ = std::min(n_workers_, n_active_ + n_free);
    if (n_free > 0) raised_at_ns_ = now_ns;
    be_patient(now_ns);
}

// Each wait is twice as long as the last.
void WorkerGovernor::be_patient(uint64_t now_ns) {
    probe_at_ns_ = now_ns + patience_ns_;
    patience_ns_ = std::min(2 * patience_ns_, kMostPatienceNs);
}

}  // namespace kvik
