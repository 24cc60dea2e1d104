// StepCostsKey and the files in which step costs are kept: one small text file for each machine, model
// and choice of settings.
//
// Shape   the file step-costs-PLACE has a line with the version, one with the whole key, one for each
//         row of the table, and one with the digest of all before.
// Owner   nothing.
// Threads any, and any number of processes: a file is written beside its place and renamed, so that a
//         reader sees the old one or the new one. Of two writers the later one stays.
// Cost    reads or writes less than 4 KiB; cpu_model reads the head of /proc/cpuinfo.
// Errors  none: a file that is missing, damaged, of another key or not a regular file gives nothing; a
//         file that cannot be written is left out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sched/step_costs.h"

namespace kvik {

// All that the time of a step depends on, beside what else the machine does. place() names the file,
// whole() is what the file must have been written for. Only whole() contains the program, so that a
// new build of kvik replaces the file of the one before.
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

}  // namespace kvik
