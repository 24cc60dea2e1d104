#include "cli/doctor_machine.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace kvik::cli {
namespace {

// Files below a folder of their own, gone at the end.
class Root {
  public:
    ~Root() { std::filesystem::remove_all(path_); }
    void put(const std::string& file, const std::string& text) const {
        const std::filesystem::path at = path_.string() + file;
        std::filesystem::create_directories(at.parent_path());
        std::ofstream(at) << text;
    }
    std::string path() const { return path_; }

  private:
    std::filesystem::path path_ =
        std::filesystem::temp_directory_path() / ("kvik_machine_" + std::to_string(::getpid()));
};

TEST(Machine, is_read_from_the_kernel_s_files) {
    const Root root;
    root.put("/proc/cpuinfo",
             "processor : 0\nmodel name\t: A B\nflags\t\t: fpu avx2 fma\n\nmodel name : other\n");
    root.put("/proc/meminfo", "MemTotal:  2048 kB\nMemFree: 1 kB\nMemAvailable:  1024 kB\n");
    root.put("/proc/loadavg", "1.25 0.1 0.2 1/100 7\n");
    root.put("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    root.put("/sys/fs/cgroup/memory.max", "1000000\n");
    root.put("/sys/fs/cgroup/memory.current", "400000\n");
    const Machine machine = look_at_machine(root.path());
    EXPECT_EQ(machine.cpu, "A B");
    EXPECT_TRUE(machine.has("avx2"));
    EXPECT_TRUE(machine.has("fma"));
    EXPECT_FALSE(machine.has("avx512f"));
    EXPECT_EQ(machine.memory_bytes, 2048u << 10);
    EXPECT_EQ(machine.memory_limit_bytes, 1000000u);
    EXPECT_EQ(machine.available_bytes, 600000u);
    EXPECT_EQ(machine.load, 1.25);
    EXPECT_EQ(machine.huge_pages, "madvise");
}

TEST(Machine, without_these_files_is_not_known_but_has_a_core) {
    const Machine machine = look_at_machine("/nowhere");
    EXPECT_EQ(machine.cpu, "");
    EXPECT_TRUE(machine.flags.empty());
    EXPECT_GE(machine.n_allowed, 1u);
    EXPECT_EQ(machine.huge_pages, "");
}

}  // namespace
}  // namespace kvik::cli
