#include "cli/bench_plan.h"

#include <gtest/gtest.h>

namespace kvik::cli {
namespace {

using Widths = std::vector<uint32_t>;

std::optional<std::string> unset(const std::string&) {
    return std::nullopt;
}

BenchPlan plan(std::vector<std::string> args) {
    args.insert(args.begin(), "model.gguf");
    BenchOptions options;
    const auto parsed = bench_flags(options).parse(args, unset);
    EXPECT_TRUE(parsed.has_value());
    auto plan = plan_bench(options);
    EXPECT_TRUE(plan.has_value());
    return plan.value_or(BenchPlan{});
}

ErrorKind refusal(std::vector<std::string> args) {
    args.insert(args.begin(), "model.gguf");
    BenchOptions options;
    const auto parsed = bench_flags(options).parse(args, unset);
    if (!parsed) return parsed.error().kind;
    const auto plan = plan_bench(options);
    EXPECT_FALSE(plan.has_value());
    return plan ? ErrorKind::failed : plan.error().kind;
}

TEST(BenchPlan, measures_everything_when_nothing_is_asked_for) {
    const BenchPlan all = plan({});
    EXPECT_EQ(all.prompts, Widths{512});
    EXPECT_EQ(all.decodes, Widths{128});
    EXPECT_EQ(all.rows, (Widths{1, 2, 4, 5, 8, 16}));
    EXPECT_EQ(all.streams, all.rows);
}

TEST(BenchPlan, measures_only_what_is_asked_for) {
    const BenchPlan prompt = plan({"-p", "64", "-n", "0"});
    EXPECT_EQ(prompt.prompts, Widths{64});
    EXPECT_TRUE(prompt.decodes.empty());
    EXPECT_TRUE(prompt.rows.empty());
    EXPECT_TRUE(prompt.streams.empty());
    const BenchPlan widths = plan({"-b", "4,1"});
    EXPECT_TRUE(widths.prompts.empty() && widths.decodes.empty());
    EXPECT_EQ(widths.rows, (Widths{1, 4}));
    EXPECT_EQ(widths.n_stream_tokens, 32u);
}

TEST(BenchPlan, takes_lists_as_llama_bench_does) {
    const BenchPlan both = plan({"-p", "32,16,0", "-n", "8,4", "-t", "2,1"});
    EXPECT_EQ(both.prompts, (Widths{16, 32}));
    EXPECT_EQ(both.decodes, (Widths{4, 8}));
    EXPECT_EQ(refusal({"--profile", "-p", "16,32"}), ErrorKind::usage);
    EXPECT_EQ(refusal({"--profile", "-t", "1,2"}), ErrorKind::usage);
    EXPECT_EQ(refusal({"-pg", "16,4"}), ErrorKind::usage);
    EXPECT_EQ(refusal({"-o", "sql"}), ErrorKind::usage);
}

TEST(BenchPlan, no_tokens_leave_rows_without_streams) {
    const BenchPlan rows = plan({"-p", "0", "-n", "0", "-b", "8"});
    EXPECT_EQ(rows.rows, Widths{8});
    EXPECT_FALSE(rows.has_requests());
}

TEST(BenchPlan, a_list_of_tests_has_the_last_word) {
    const BenchPlan streams = plan({"--test", "streams", "-n", "16", "-b", "1,2"});
    EXPECT_TRUE(streams.decodes.empty());
    EXPECT_TRUE(streams.rows.empty());
    EXPECT_EQ(streams.streams, (Widths{1, 2}));
    EXPECT_EQ(streams.n_stream_tokens, 16u);
}

TEST(BenchPlan, refuses_to_measure_nothing) {
    EXPECT_EQ(refusal({"-p", "0", "-n", "0", "-b", "none"}), ErrorKind::usage);
    EXPECT_EQ(refusal({"--test", "rows", "-b", "none"}), ErrorKind::usage);
    EXPECT_EQ(refusal({"--test", "speed"}), ErrorKind::usage);
}

TEST(BenchPlan, a_profile_is_of_one_row_and_a_prompt_unless_asked) {
    const BenchPlan usual = plan({"--profile"});
    EXPECT_EQ(usual.rows, Widths{1});
    EXPECT_EQ(usual.prompts, Widths{512});
    EXPECT_FALSE(plan({"--profile", "-b", "1,5", "-p", "0"}).has_requests());
    EXPECT_EQ(refusal({"--profile", "-n", "8"}), ErrorKind::usage);
    EXPECT_EQ(refusal({"--profile", "--test", "pp"}), ErrorKind::usage);
    EXPECT_EQ(refusal({"--profile", "-p", "0", "-b", "none"}), ErrorKind::usage);
}

TEST(BenchPlan, takes_the_context_that_its_tests_need) {
    ModelSpec model;
    model.context_length = 1000;
    EXPECT_EQ(context_for(plan({"-p", "64", "-d", "0,500"}), {}, model).value_or(0), 564u);
    EXPECT_EQ(context_for(plan({"-n", "8", "-d", "500"}), {}, model).value_or(0), 510u);
    EXPECT_FALSE(context_for(plan({"-p", "64", "-d", "990"}), {}, model).has_value());
    EngineOptions whole;
    whole.context = kModelContext;
    EXPECT_EQ(context_for(plan({"-n", "8"}), whole, model).value_or(0), 1000u);
}

}  // namespace
}  // namespace kvik::cli
