#include "base/cgroup.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace kvik {
namespace {

// A made-up /proc and /sys.
class Root {
  public:
    Root() { std::filesystem::create_directories(path_); }
    ~Root() { std::filesystem::remove_all(path_); }
    Root& with(const std::string& file, const std::string& text) {
        const std::filesystem::path at = path_.string() + file;
        std::filesystem::create_directories(at.parent_path());
        std::ofstream(at) << text;
        return *this;
    }
    CgroupLimits limits() const { return cgroup_limits(path_); }

  private:
    std::filesystem::path path_ =
        std::filesystem::temp_directory_path() / ("kvik_cgroup_" + std::to_string(::getpid()));
};

TEST(Cgroup, what_cannot_be_read_limits_nothing) {
    const CgroupLimits limits = Root().limits();
    EXPECT_FALSE(limits.cores);
    EXPECT_FALSE(limits.memory_bytes);
}

TEST(Cgroup, version_2_takes_the_tightest_of_a_group_and_those_above) {
    const CgroupLimits limits =
        Root()
            .with("/proc/self/cgroup", "0::/a/b\n")
            .with("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n")
            .with("/sys/fs/cgroup/a/cpu.max", "150000 100000\n")
            .with("/sys/fs/cgroup/a/b/memory.max", "4000\n")
            .with("/sys/fs/cgroup/a/memory.max", "3000\n")
            .with("/sys/fs/cgroup/a/memory.current", "1000\n")
            .with("/sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 300\n")
            .with("/sys/fs/cgroup/memory.max", "max\n")
            .limits();
    EXPECT_EQ(limits.cores, 1.5);
    EXPECT_EQ(limits.memory_bytes, 3000u);
    EXPECT_EQ(limits.memory_used_bytes, 700u);
}

TEST(Cgroup, version_2_in_a_container_shows_its_own_group_as_the_root) {
    const CgroupLimits limits = Root()
                                    .with("/proc/self/cgroup", "0::/\n")
                                    .with("/sys/fs/cgroup/cpu.max", "50000 100000\n")
                                    .limits();
    EXPECT_EQ(limits.cores, 0.5);
}

TEST(Cgroup, version_1_has_a_folder_for_each_controller) {
    const CgroupLimits limits =
        Root()
            .with("/proc/self/cgroup", "4:memory:/m\n1:cpu,cpuacct:/c\n0::/\n")
            .with("/sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "200000\n")
            .with("/sys/fs/cgroup/cpu/c/cpu.cfs_period_us", "100000\n")
            .with("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n")
            .with("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n")
            .with("/sys/fs/cgroup/memory/m/memory.limit_in_bytes", "5000\n")
            .with("/sys/fs/cgroup/memory/m/memory.usage_in_bytes", "600\n")
            .with("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
            .limits();
    EXPECT_EQ(limits.cores, 2.0);
    EXPECT_EQ(limits.memory_bytes, 5000u);
    EXPECT_EQ(limits.memory_used_bytes, 600u);
}

}  // namespace
}  // namespace kvik
