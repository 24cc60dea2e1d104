#include "cli/doctor_report.h"

#include <gtest/gtest.h>

#include "cli/json.h"
#include "cli/values.h"

namespace kvik::cli {
namespace {

// A machine with which nothing is wrong.
Diagnosis healthy() {
    Diagnosis d;
    d.machine.cpu = "a processor";
    for (const char* flag : {"avx2", "fma", "f16c", "avx512f"})
        d.machine.flags.push_back({flag, true});
    d.machine.n_cores = d.machine.n_allowed = 4;
    d.machine.load = 0.5;
    d.machine.memory_bytes = 16ull << 30;
    d.machine.available_bytes = 8ull << 30;
    d.machine.huge_pages = "madvise";
    d.choices = {.isa = "avx2",
                 .act = "int8",
                 .kv = "f16",
                 .n_threads = 4,
                 .cache_bytes = 1ull << 30,
                 .context = "the model's, at most 8192 tokens"};
    d.files.config = "/home/somebody/.config/kvik/config.toml";
    d.files.state = "/home/somebody/.local/state/kvik";
    return d;
}

std::string findings(const Diagnosis& d) {
    std::string text;
    for (const Advice& advice : advise(d)) {
        EXPECT_FALSE(advice.remedy.empty()) << advice.finding;
        text += advice.finding + "\n";
    }
    return text;
}

TEST(Doctor, has_nothing_to_say_of_a_healthy_machine) {
    EXPECT_EQ(findings(healthy()), "");
}

TEST(Doctor, names_each_thing_that_costs_speed_or_memory) {
    const auto changed = [](void (*change)(Diagnosis&)) {
        Diagnosis d = healthy();
        change(d);
        return findings(d);
    };
    EXPECT_EQ(changed([](Diagnosis& d) { d.machine.flags[0].present = false; }),
              "this CPU lacks AVX2, FMA or F16C: kvik runs without vector instructions\n");
    EXPECT_EQ(changed([](Diagnosis& d) { d.choices.isa = "scalar"; }),
              "the CPU has AVX2, but plain C++ was asked for\n");
    EXPECT_EQ(changed([](Diagnosis& d) { d.machine.quota_cores = 1.5; }),
              "the quota of 1.5 cores is below the 4 that are visible\n");
    EXPECT_EQ(changed([](Diagnosis& d) { d.choices.n_threads = 8; }),
              "8 threads on 4 cores wait for each other\n");
    EXPECT_EQ(changed([](Diagnosis& d) { d.machine.load = 9; }),
              "9.0 tasks want 4 cores: other programs slow kvik down\n");
    EXPECT_EQ(changed([](Diagnosis& d) { d.machine.available_bytes = 1ull << 30; }),
              "1.0 GiB of memory are available: a model beside a cache of 1.0 GiB may not fit\n");
    EXPECT_EQ(changed([](Diagnosis& d) { d.machine.huge_pages = "never"; }),
              "huge pages are off: reading weights is slower\n");
    EXPECT_EQ(changed([](Diagnosis& d) { d.files.config_error = "c.toml:1: wrong"; }),
              "c.toml:1: wrong\n");
}

TEST(Doctor, another_processor_than_x86_lacks_no_flags) {
    Diagnosis d = healthy();
    d.machine.flags.clear();
    EXPECT_EQ(findings(d), "");
}

// 1 ms a row, 4 more for each deeper line.
StepReport steps(uint32_t context) {
    StepReport report{.model = "m.gguf", .context = context, .costs = StepCosts()};
    for (size_t d = 0; d < StepCosts::kDepths.size(); ++d)
        for (size_t r = 0; r < StepCosts::kTokens.size(); ++r)
            report.costs->step_ms[d][r] = 4.0 * static_cast<double>(d) + StepCosts::kTokens[r];
    report.costs->chunk_ms = {1, 10, 30};
    return report;
}

TEST(Doctor, shows_what_a_step_costs_at_the_depths_there_are) {
    Diagnosis d = healthy();
    EXPECT_EQ(diagnosis_as_text(d, 80).find("depth"), std::string::npos);
    d.steps = steps(4096);
    const std::string text = diagnosis_as_text(d, 80);
    EXPECT_NE(text.find("  rows              1      2      4      8     12     16\n"
                        "  depth 0        1.00   2.00   4.00   8.00  12.00  16.00\n"
                        "  depth 2048     5.00   6.00   8.00  12.00  16.00  20.00\n"
                        "  prompt rows       1     16     64\n"
                        "                 1.00  10.00  30.00\n"),
              std::string::npos)
        << text;
    const Json json = Json::parse(diagnosis_as_json(d))["steps"];
    EXPECT_EQ(json["depths"], Json({0, 2048}));
    EXPECT_EQ(json["ms"][1][5], 20.0);
    EXPECT_EQ(json["prompt_ms"], Json({1.0, 10.0, 30.0}));
    d.steps = steps(8193);
    EXPECT_NE(diagnosis_as_text(d, 80).find("depth 8192"), std::string::npos);
}

TEST(Doctor, says_when_a_step_was_not_measured) {
    Diagnosis d = healthy();
    EXPECT_TRUE(Json::parse(diagnosis_as_json(d))["steps"].is_null());
    d.steps = StepReport{.model = "m.gguf", .context = 100, .costs = {}};
    EXPECT_NE(diagnosis_as_text(d, 80).find("not measured"), std::string::npos);
    EXPECT_TRUE(Json::parse(diagnosis_as_json(d))["steps"]["prompt_ms"].is_null());
}

TEST(Doctor, keeps_its_words_within_the_columns_there_are) {
    Diagnosis d = healthy();
    d.machine.load = 9;
    for (const uint32_t columns : {40u, 60u, 80u}) {
        const std::string text = diagnosis_as_text(d, columns);
        for (const std::string_view line : split(text, '\n')) {
            const bool is_one_word = line.find(' ', 14) == std::string_view::npos;
            EXPECT_TRUE(line.size() <= columns || is_one_word) << columns << ": " << line;
        }
    }
}

TEST(Doctor, says_the_same_whatever_the_columns) {
    const auto words = [](std::string text) {
        std::string joined;
        for (const std::string_view line : split(text, '\n'))
            for (const std::string_view word : split(line, ' '))
                if (!word.empty()) joined += std::string(word) + " ";
        return joined;
    };
    EXPECT_EQ(words(diagnosis_as_text(healthy(), 40)), words(diagnosis_as_text(healthy(), 200)));
}

}  // namespace
}  // namespace kvik::cli
