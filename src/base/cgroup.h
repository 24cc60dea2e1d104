// What the control groups of this process allow it: CPU time and memory, versions 1 and 2.
//
// Cost    reads a handful of small files; nothing is kept.
// Errors  none: what cannot be read limits nothing.
// Source  the Linux kernel's admin-guide, cgroup-v2.rst and cgroup-v1/memory.rst.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace kvik {

struct CgroupLimits {
    std::optional<double> cores;           // CPU seconds a second
    std::optional<uint64_t> memory_bytes;  // the tightest limit from the group up to the root
    uint64_t memory_used_bytes = 0;        // against that limit, without what can be dropped
};

// `root` is where /proc and /sys lie: another folder in tests.
CgroupLimits cgroup_limits(const std::string& root = "");

}  // namespace kvik
