// Machine: what this computer has, as far as kvik's speed and memory depend on it.
//
// Cost    reads a handful of files below /proc and /sys, measures nothing.
// Errors  none: what cannot be read is empty, zero or nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kvik::cli {

struct CpuFlag {
    std::string name;
    bool present = false;
};

struct Machine {
    std::string cpu;
    std::vector<CpuFlag> flags;  // those that kvik asks for; none: not an x86-64
    uint32_t n_cores = 0;        // online
    uint32_t n_allowed = 0;      // of the affinity mask
    std::optional<double> quota_cores;
    double load = 0;  // runnable tasks, averaged over a minute
    uint64_t memory_bytes = 0;
    uint64_t available_bytes = 0;  // within the limit, if there is one
    std::optional<uint64_t> memory_limit_bytes;
    std::string huge_pages;  // "always", "madvise", "never"; empty: unknown

    bool has(const std::string& flag) const;
};

// `root` is where /proc and /sys lie: another folder in tests.
Machine look_at_machine(const std::string& root = "");

}  // namespace kvik::cli
