#include "cli/doctor_machine.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

#include "base/cgroup.h"

namespace kvik::cli {
namespace {

constexpr const char* kFlags[] = {"avx2",     "fma",      "f16c",        "avx512f", "avx512bw",
                                  "avx512vl", "avx512dq", "avx512_vnni", "avx_vnni"};

std::string trimmed(const std::string& text) {
    const size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

// Of the first processor: all of a machine are taken to be alike.
void read_cpu(const std::string& path, Machine& machine) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        const size_t colon = line.find(':');
        if (colon == std::string::npos) {
            if (!machine.cpu.empty()) return;
            continue;
        }
        const std::string key = trimmed(line.substr(0, colon));
        const std::string value = trimmed(line.substr(colon + 1));
        if (key == "model name") machine.cpu = value;
        if (key != "flags") continue;
        std::istringstream words(value);
        const std::vector<std::string> names{std::istream_iterator<std::string>(words), {}};
        for (const char* flag : kFlags)
            machine.flags.push_back(
                {flag, std::find(names.begin(), names.end(), flag) != names.end()});
    }
}

uint64_t meminfo_bytes(const std::string& path, const std::string& key) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with(key)) continue;
        uint64_t kib = 0;
        std::istringstream(line.substr(key.size())) >> kib;
        return kib << 10;
    }
    return 0;
}

// The word in brackets: "always [madvise] never".
std::string chosen_word(const std::string& path) {
    std::ifstream file(path);
    for (std::string word; file >> word;)
        if (word.size() > 2 && word.front() == '[' && word.back() == ']')
            return word.substr(1, word.size() - 2);
    return {};
}

}  // namespace

bool Machine::has(const std::string& flag) const {
    return std::any_of(flags.begin(), flags.end(),
                       [&](const CpuFlag& f) { return f.name == flag && f.present; });
}

Machine look_at_machine(const std::string& root) {
    Machine machine;
    read_cpu(root + "/proc/cpuinfo", machine);
    machine.n_cores = std::max(1u, std::thread::hardware_concurrency());
    cpu_set_t set;
    CPU_ZERO(&set);
    machine.n_allowed = ::sched_getaffinity(0, sizeof set, &set) == 0
                            ? static_cast<uint32_t>(std::max(1, CPU_COUNT(&set)))
                            : machine.n_cores;
    machine.n_cores = std::max(machine.n_cores, machine.n_allowed);
    const CgroupLimits limits = cgroup_limits(root);
    machine.quota_cores = limits.cores;
    std::ifstream(root + "/proc/loadavg") >> machine.load;
    machine.memory_bytes = meminfo_bytes(root + "/proc/meminfo", "MemTotal:");
    machine.available_bytes = meminfo_bytes(root + "/proc/meminfo", "MemAvailable:");
    machine.memory_limit_bytes = limits.memory_bytes;
    if (limits.memory_bytes) {
        const uint64_t used = std::min(limits.memory_used_bytes, *limits.memory_bytes);
        machine.available_bytes = std::min(machine.available_bytes, *limits.memory_bytes - used);
    }
    machine.huge_pages = chosen_word(root + "/sys/kernel/mm/transparent_hugepage/enabled");
    return machine;
}

}  // namespace kvik::cli
