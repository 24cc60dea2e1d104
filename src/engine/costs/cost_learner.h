// CostLearner: finds out what a step costs here: reads it from a file that an earlier run wrote, or
// has it measured in a pause and writes the file (docs/decisions/0007). Beside it the key and the
// functions of these files: one small text file for each machine, model and choice of settings.
//
// Use     find() once while the engine opens; then, whenever the engine is idle and is_wanted(),
//         learn().
// Shape   the file step-costs-PLACE has a line with the version, one with the whole key, one for
//         each row of the table, and one with the digest of all before.
// Owner   a learner owns what is known; the callers run the steps.
// Threads find and learn: the thread that opens the engine, then the engine thread. costs() may be
//         called from any thread. Any number of processes may use one folder: a file is written
//         beside its place and renamed, so that a reader sees the old one or the new one.
// Cost    reads or writes less than 4 KiB; cpu_model reads the head of /proc/cpuinfo. find under
//         Calibrate::fresh, and learn, measure (calibrate.h says how long).
// Errors  none: a file that is missing, damaged, of another key or not a regular file gives
//         nothing; a file that cannot be written is left out; what cannot be measured stays
//         unknown.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "kvik/kvik.h"
#include "sched/step_costs.h"

namespace kvik {

// All that the time of a step depends on, beside what else the machine does. place() names the
// file, whole() is what the file must have been written for. Only whole() contains the program, so
// that a new build of kvik replaces the file of the one before.
struct StepCostsKey {
    std::string cpu;  // its model
    std::string isa;
    std::string act;
    std::string kv;
    std::string model;  // its fingerprint
    uint32_t n_threads = 0;
    uint32_t block_tokens = 0;
    std::string program;  // this build
    int numerics = 0;     // revision

    std::string place() const;  // 32 hex digits
    std::string whole() const;  // 32 hex digits
};

// Returns "" where it cannot be read. `root`: the folder of /proc; tests pass another one.
std::string cpu_model(const std::string& root = "");
// Returns size and time of the running program's file, which differ between builds.
std::string program_id(const std::string& path = "/proc/self/exe");

// `folder`: made if it is missing; empty: nothing is read or written.
std::optional<StepCosts> read_step_costs(const std::string& folder, const StepCostsKey& key);
enum class Kept : uint8_t { yes, no };
Kept keep_step_costs(const std::string& folder, const StepCostsKey& key, const StepCosts& costs);

std::string step_costs_path(const std::string& folder, const StepCostsKey& key);

class CostLearner {
  public:
    // Runs steps and times them. Gives up and returns nothing when must_stop() says so, or when
    // steps cannot be timed.
    using Measure = std::function<std::optional<StepCosts>(const std::function<bool()>& must_stop)>;

    // mode off: nothing is found or learnt. `folder`: empty: nothing is read or written.
    CostLearner(Calibrate mode, std::string folder, StepCostsKey key);

    std::optional<StepCosts> find(const Measure& measure);
    std::optional<StepCosts> learn(const Measure& measure, const std::function<bool()>& must_stop);
    // True: the costs are not known, and learn() may find them.
    bool is_wanted() const { return is_wanted_; }
    std::optional<StepCosts> costs() const;  // nothing: not known (yet)

  private:
    void note(const StepCosts& costs);

    Calibrate mode_;
    std::string folder_;
    StepCostsKey key_;
    bool is_wanted_;
    mutable std::mutex mutex_;
    std::optional<StepCosts> costs_;
};

}  // namespace kvik
