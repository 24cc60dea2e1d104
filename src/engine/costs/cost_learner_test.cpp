#include "engine/costs/cost_learner.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <random>
#include <sstream>
#include <thread>
#include <vector>

#include "support/random_costs.h"
#include "testing/scratch_folder.h"

namespace kvik {
namespace {

StepCostsKey key() {
    return {.cpu = "a cpu",
            .isa = "avx2",
            .act = "int8",
            .kv = "f16",
            .model = "0123",
            .n_threads = 2,
            .block_tokens = 32,
            .program = "1-2",
            .numerics = 1};
}

std::string contents(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

class StepCostsFile : public ::testing::Test {
  protected:
    ScratchFolder home_;
    const std::string folder_ = home_.path("cache/kvik");
    std::mt19937 random_{7};
};

TEST_F(StepCostsFile, gives_back_every_bit_of_what_was_kept) {
    for (int round = 0; round < 100; ++round) {
        StepCosts costs = random_costs(random_);
        for (auto& row : costs.step_ms)
            for (double& ms : row) ms /= 3;
        ASSERT_EQ(keep_step_costs(folder_, key(), costs), Kept::yes);
        ASSERT_EQ(read_step_costs(folder_, key()), costs);
    }
}

TEST_F(StepCostsFile, is_in_a_folder_for_its_owner_alone) {
    ASSERT_EQ(keep_step_costs(folder_, key(), random_costs(random_)), Kept::yes);
    struct stat status {};
    for (const std::string& path : {home_.path("cache"), folder_}) {
        ASSERT_EQ(::stat(path.c_str(), &status), 0);
        EXPECT_EQ(status.st_mode & 0777, 0700u) << path;
    }
}

TEST_F(StepCostsFile, that_is_cut_or_changed_anywhere_is_as_if_there_were_none) {
    ASSERT_EQ(keep_step_costs(folder_, key(), random_costs(random_)), Kept::yes);
    const std::string path = step_costs_path(folder_, key()), whole = contents(path);
    for (size_t i = 0; i < whole.size(); i += 5) {
        std::ofstream(path) << whole.substr(0, i);
        ASSERT_FALSE(read_step_costs(folder_, key())) << "cut at " << i;
        std::string changed = whole;
        changed[i] ^= 1;
        std::ofstream(path) << changed;
        ASSERT_FALSE(read_step_costs(folder_, key())) << "changed at " << i;
    }
    std::ofstream(path) << whole << whole;
    EXPECT_FALSE(read_step_costs(folder_, key()));
    std::ofstream(path) << whole;
    EXPECT_TRUE(read_step_costs(folder_, key()));
}

TEST_F(StepCostsFile, with_numbers_that_break_the_law_is_as_if_there_were_none) {
    StepCosts costs = random_costs(random_);
    costs.step_ms[0][1] = -5;
    ASSERT_EQ(keep_step_costs(folder_, key(), costs), Kept::yes);
    EXPECT_FALSE(read_step_costs(folder_, key()));
}

TEST_F(StepCostsFile, is_another_for_whatever_a_step_s_time_depends_on) {
    ASSERT_EQ(keep_step_costs(folder_, key(), random_costs(random_)), Kept::yes);
    for (auto change : std::initializer_list<void (*)(StepCostsKey&)>{
             [](StepCostsKey& k) { k.cpu = "another"; }, [](StepCostsKey& k) { k.isa = "scalar"; },
             [](StepCostsKey& k) { k.act = "f32"; }, [](StepCostsKey& k) { k.kv = "f32"; },
             [](StepCostsKey& k) { k.model = "4567"; }, [](StepCostsKey& k) { k.n_threads = 3; },
             [](StepCostsKey& k) { k.block_tokens = 16; },
             [](StepCostsKey& k) { k.program = "1-3"; }, [](StepCostsKey& k) { k.numerics = 2; },
             [](StepCostsKey& k) { std::swap(k.act, k.kv); }}) {
        StepCostsKey other = key();
        change(other);
        EXPECT_FALSE(read_step_costs(folder_, other));
        EXPECT_NE(other.whole(), key().whole());
    }
}

TEST_F(StepCostsFile, of_one_build_takes_the_place_of_another_s) {
    StepCostsKey newer = key();
    newer.program = "2-2";
    ASSERT_EQ(keep_step_costs(folder_, key(), random_costs(random_)), Kept::yes);
    const StepCosts costs = random_costs(random_);
    ASSERT_EQ(keep_step_costs(folder_, newer, costs), Kept::yes);
    EXPECT_FALSE(read_step_costs(folder_, key()));
    EXPECT_EQ(read_step_costs(folder_, newer), costs);
    const std::filesystem::directory_iterator files(folder_);
    EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST_F(StepCostsFile, that_is_a_folder_or_cannot_be_written_is_no_error) {
    std::filesystem::create_directories(step_costs_path(folder_, key()));
    EXPECT_FALSE(read_step_costs(folder_, key()));
    EXPECT_EQ(keep_step_costs(folder_, key(), random_costs(random_)), Kept::no);
    EXPECT_EQ(keep_step_costs("/proc/self/kvik", key(), random_costs(random_)), Kept::no);
    EXPECT_EQ(keep_step_costs("", key(), random_costs(random_)), Kept::no);
    EXPECT_FALSE(read_step_costs("", key()));
    const std::filesystem::directory_iterator files(folder_);
    EXPECT_EQ(std::distance(begin(files), end(files)), 1);  // nothing half done is left
}

TEST_F(StepCostsFile, is_always_whole_while_several_write_it) {
    const StepCosts kept[] = {random_costs(random_), random_costs(random_)};
    ASSERT_EQ(keep_step_costs(folder_, key(), kept[0]), Kept::yes);
    std::vector<std::thread> writers;
    for (const StepCosts& costs : kept)
        writers.emplace_back([&] {
            for (int i = 0; i < 40; ++i) keep_step_costs(folder_, key(), costs);
        });
    for (int i = 0; i < 200; ++i) {
        const auto read = read_step_costs(folder_, key());
        EXPECT_TRUE(read == kept[0] || read == kept[1]);
    }
    for (std::thread& writer : writers) writer.join();
}

TEST(StepCostsKey, knows_the_processor_and_the_program) {
    const ScratchFolder root;
    std::filesystem::create_directories(root.path("proc"));
    std::ofstream(root.path("proc/cpuinfo"))
        << "processor : 0\nmodel name\t: A B\n\nmodel name : C";
    EXPECT_EQ(cpu_model(root.path()), " A B");
    EXPECT_EQ(cpu_model("/nowhere"), "");
    EXPECT_NE(program_id(), "");
    EXPECT_NE(program_id(), program_id("/proc/cpuinfo"));
    EXPECT_EQ(program_id("/nowhere"), "");
}

}  // namespace
}  // namespace kvik
