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
    const uint32_t n_best = best_n();
    wall_ns_ = 0;
    std::fill(lost_ns_.begin(), lost_ns_.end(), 0);
    if (n_best == n_active_) return;
    if (n_active_ == n_workers_ && now_ns - raised_at_ns_ >= kSettledNs)
        patience_ns_ = kFirstPatienceNs;
    n_active_ = n_best;
    be_patient(now_ns);
}

// While one worker has lost its core all wait, so n workers are as fast as n times the time in which
// none has: the sum of what they lost is missing. Those that lost most would be left out.
uint32_t WorkerGovernor::best_n() {
    const auto end = lost_ns_.begin() + n_active_;
    std::sort(lost_ns_.begin(), end);
    uint32_t best = 1;
    double best_speed = 0, left = static_cast<double>(wall_ns_);
    for (uint32_t n = 1; n <= n_active_; ++n) {
        left -= static_cast<double>(lost_ns_[n - 1]);
        if (n * left < best_speed) continue;
        best_speed = n * left;
        best = n;
    }
    return best;
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
