// StepCostsKey: all that the time of a step depends on, apart from what else the machine does.
//
// Shape   place() names the file in which costs are kept, whole() is what it must have been written
//         for. They differ by the program: another build of kvik replaces the file of the one
//         before, so that there is one for each machine, model and choice of settings.
// Cost    a handful of small strings; cpu_model reads the head of /proc/cpuinfo.
#pragma once

#include <cstdint>
#include <string>

namespace kvik {

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

// "" where it cannot be read. `root` is where /proc lies: another folder in tests.
std::string cpu_model(const std::string& root = "");
// Size and time of the running program's file: another build has others.
std::string program_id(const std::string& path = "/proc/self/exe");

}  // namespace kvik
