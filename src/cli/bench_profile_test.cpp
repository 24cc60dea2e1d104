#include "cli/bench_profile.h"

#include <gtest/gtest.h>

#include <thread>

namespace kvik::cli {
namespace {

::testing::AssertionResult has(const std::string& text, const std::string& part) {
    if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "no '" << part << "' in:\n" << text;
}

ProfiledStep step(std::string_view name, uint32_t rows, uint32_t depth) {
    ProfiledStep s;
    s.step = name;
    s.rows = rows;
    s.depth = depth;
    s.n_steps = 4;
    s.ms = 2;
    s.part_ms[static_cast<size_t>(StepPart::head)] = 1.5;
    s.part_ms[static_cast<size_t>(StepPart::waiting)] = 0.5;
    s.between = 0.25;
    s.barriers = 151;
    return s;
}

TEST(BenchProfile, the_parts_of_all_workers_add_up_to_the_step) {
    ThreadPool pool(2);
    StepProfile profile(2);
    for (int i = 0; i < 3; ++i) {
        profile.begin_step();
        pool.run([&](Worker worker) {
            profile.begin(worker);
            std::this_thread::yield();
            profile.end(worker, StepPart::qkv);
            worker.barrier();
            profile.end(worker, StepPart::attention);
        });
        profile.end_step();
    }
    const ProfiledStep s = profiled_step(profile);
    double sum = 0;
    for (const double ms : s.part_ms) sum += ms;
    EXPECT_EQ(s.n_steps, 3u);
    EXPECT_GT(s.ms, 0);
    EXPECT_NEAR(sum, s.ms, 1e-5);
    EXPECT_EQ(s.barriers, 1);
}

TEST(BenchProfile, a_table_has_the_steps_of_one_depth_and_each_part_with_its_share) {
    const std::string text = profile_table(
        {{step("decode", 1, 0), step("prefill", 512, 0), step("decode", 1, 64)}}, 250);
    EXPECT_TRUE(has(text, "depth 0          decode, 1 row   prefill, 512 rows\n"));
    EXPECT_TRUE(has(text, "depth 64         decode, 1 row\n"));
    EXPECT_TRUE(has(text, "head         1500.0 us  75.0 %"));
    EXPECT_TRUE(has(text, "between       500.0 us  25.0 %"));
    EXPECT_TRUE(has(text, "at once: 0.25 us"));
}

TEST(BenchProfile, json_has_the_same_numbers) {
    const std::string text = profile_json({{step("decode", 5, 64)}}, 250);
    EXPECT_TRUE(has(text, R"("barrier_us":0.25)"));
    EXPECT_TRUE(has(text, R"("step":"decode","rows":5,"depth":64,"steps":4,"ms":2.0)"));
    EXPECT_TRUE(has(text, R"("head":1.5)"));
    EXPECT_TRUE(has(text, R"("between_percent":25.0)"));
}

}  // namespace
}  // namespace kvik::cli
