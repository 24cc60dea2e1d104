#include "base/cgroup.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <vector>

namespace kvik {
namespace {

constexpr uint64_t kNoLimit = 1ull << 62;  // version 1 writes a number near 2^63 for none

std::optional<double> number_at(const std::string& path) {
    std::ifstream file(path);
    double number = 0;
    if (file >> number) return number;
    return std::nullopt;
}

// "KEY VALUE" lines.
uint64_t field_of(const std::string& path, const std::string& key) {
    std::ifstream file(path);
    std::string word;
    uint64_t value = 0;
    while (file >> word >> value)
        if (word == key) return value;
    return 0;
}

// A group's folder and those above it, up to the mount.
std::vector<std::string> folders(const std::string& mount, std::string group) {
    std::vector<std::string> found;
    while (!group.empty() && group != "/") {
        found.push_back(mount + group);
        group.erase(group.rfind('/'));
    }
    found.push_back(mount);
    return found;
}

struct Groups {
    std::optional<std::string> unified, cpu, memory;  // paths below their mounts
};

// Lines "ID:CONTROLLER,CONTROLLER:PATH"; version 2 has ID 0 and no controllers.
Groups groups_of(const std::string& path) {
    Groups groups;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        const size_t first = line.find(':'), second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
        const std::string group = line.substr(second + 1);
        if (!group.starts_with('/')) continue;
        if (names == ",,") groups.unified = group;
        if (names.find(",cpu,") != std::string::npos) groups.cpu = group;
        if (names.find(",memory,") != std::string::npos) groups.memory = group;
    }
    return groups;
}

void limit_cores(CgroupLimits& limits, double quota, double period) {
    if (quota <= 0 || period <= 0) return;
    limits.cores = std::min(limits.cores.value_or(quota / period), quota / period);
}

void limit_memory(CgroupLimits& limits, double limit_bytes, double used, uint64_t droppable) {
    if (!(limit_bytes > 0 && limit_bytes < static_cast<double>(kNoLimit))) return;
    const auto bytes = static_cast<uint64_t>(limit_bytes);
    if (limits.memory_bytes && *limits.memory_bytes <= bytes) return;
    limits.memory_bytes = bytes;
    const auto used_bytes = static_cast<uint64_t>(std::max(used, 0.0));
    limits.memory_used_bytes = used_bytes - std::min(used_bytes, droppable);
}

void read_version_2(CgroupLimits& limits, const std::string& folder) {
    std::ifstream file(folder + "/cpu.max");  // "QUOTA PERIOD" or "max PERIOD"
    std::string quota;
    double period = 0;
    if (file >> quota >> period) limit_cores(limits, std::strtod(quota.c_str(), nullptr), period);
    if (const auto most = number_at(folder + "/memory.max"))
        limit_memory(limits, *most, number_at(folder + "/memory.current").value_or(0),
                     field_of(folder + "/memory.stat", "inactive_file"));
}

}  // namespace

CgroupLimits cgroup_limits(const std::string& root) {
    const std::string mount = root + "/sys/fs/cgroup";
    const Groups groups = groups_of(root + "/proc/self/cgroup");
    CgroupLimits limits;
    for (const std::string& folder : folders(mount, groups.unified.value_or("/")))
        read_version_2(limits, folder);
    for (const std::string& folder : folders(mount + "/cpu", groups.cpu.value_or("/")))
        limit_cores(limits, number_at(folder + "/cpu.cfs_quota_us").value_or(-1),
                    number_at(folder + "/cpu.cfs_period_us").value_or(0));
    for (const std::string& folder : folders(mount + "/memory", groups.memory.value_or("/")))
        limit_memory(limits, number_at(folder + "/memory.limit_in_bytes").value_or(0),
                     number_at(folder + "/memory.usage_in_bytes").value_or(0),
                     field_of(folder + "/memory.stat", "total_inactive_file"));
    return limits;
}

}  // namespace kvik
