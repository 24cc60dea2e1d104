#include "model/step_profile.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "base/check.h"

namespace kvik {
namespace {

uint64_t now_ns() {
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                     std::chrono::steady_clock::now().time_since_epoch())
                                     .count());
}

constexpr std::array<std::string_view, kStepParts> kNames = {
    "start",  "embed",   "norm", "qkv",  "rope",   "attention",
    "output", "gate_up", "down", "head", "waiting"};

}  // namespace

std::string_view name_of(StepPart part) {
    return kNames[static_cast<size_t>(part)];
}

StepProfile::StepProfile(uint32_t n_workers) : lanes_(n_workers) {
    KVIK_CHECK(n_workers >= 1, "a step has a worker");
}

void StepProfile::clear() {
    std::fill(lanes_.begin(), lanes_.end(), Lane{});
    n_steps_ = wall_ns_ = 0;
}

uint64_t StepProfile::ns(StepPart part, uint32_t worker) const {
    return lanes_[worker].ns[static_cast<size_t>(part)];
}

uint64_t StepProfile::ns(StepPart part) const {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n_workers(); ++i) sum += ns(part, i);
    return sum;
}

double StepProfile::share_between() const {
    uint64_t inside = 0;
    for (const StepPart part : {StepPart::qkv, StepPart::attention, StepPart::output,
                                StepPart::gate_up, StepPart::down, StepPart::head})
        inside += ns(part);
    const double all = static_cast<double>(wall_ns_) * n_workers();
    return all > 0 ? 1.0 - static_cast<double>(inside) / all : 0.0;
}

void StepProfile::begin_step() {
    began_ns_ = now_ns();
    for (Lane& lane : lanes_) lane.last_ns = began_ns_;
}

void StepProfile::begin(Worker worker) {
    Lane& lane = lanes_[worker.index()];
    lane.seen_waiting_ns = worker.waited().ns;
    lane.seen_barriers = worker.waited().n;
    end(worker, StepPart::start);
}

void StepProfile::end(Worker worker, StepPart part) {
    Lane& lane = lanes_[worker.index()];
    const uint64_t now = now_ns();
    const Waited waited = worker.waited();
    const uint64_t waiting = waited.ns - lane.seen_waiting_ns;
    const uint64_t passed = now - lane.last_ns;
    const uint64_t counted = std::min(waiting, passed);
    lane.ns[static_cast<size_t>(StepPart::waiting)] += counted;
    lane.ns[static_cast<size_t>(part)] += passed - counted;
    lane.n_barriers += waited.n - lane.seen_barriers;
    lane.seen_waiting_ns = waited.ns;
    lane.seen_barriers = waited.n;
    lane.last_ns = now;
}

// What is left of a worker's time is its wait for the last one, or for the next step.
void StepProfile::end_step() {
    const uint64_t now = now_ns();
    for (Lane& lane : lanes_) lane.ns[static_cast<size_t>(StepPart::waiting)] += now - lane.last_ns;
    wall_ns_ += now - began_ns_;
    ++n_steps_;
}

double barrier_latency_ns(ThreadPool& pool) {
    constexpr int kRounds = 32, kBarriers = 256;
    std::vector<double> rounds;
    for (int round = 0; round < kRounds; ++round) {
        uint64_t passed = 0;
        pool.run([&](Worker worker) {
            worker.barrier();  // all are awake
            const uint64_t start = now_ns();
            for (int i = 0; i < kBarriers; ++i) worker.barrier();
            if (worker.index() == 0) passed = now_ns() - start;
        });
        rounds.push_back(static_cast<double>(passed) / kBarriers);
    }
    std::nth_element(rounds.begin(), rounds.begin() + kRounds / 2, rounds.end());
    return rounds[kRounds / 2];
}

}  // namespace kvik
