#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "lab/html_page.h"
#include "lab/output.h"
#include "lab/python.h"
#include "lab/statistics.h"
#include "lab/svg_chart.h"
#include "lab/text_table.h"

namespace kvik::lab {
namespace {

Report small_report() {
    Report report;
    report.name = "small";
    report.title = "Two & two";
    report.findings = {"It is <four>."};
    Section section;
    section.heading = "Numbers";
    section.charts = {{.name = "small-lines",
                       .title = "Lines",
                       .caption = "A line that rises.",
                       .x_label = "x",
                       .y_label = "y",
                       .x_scale = Scale::logarithmic,
                       .series = {{"a", {1, 2, 4}, {0, 1, 3}, Stroke::dashed}}}};
    section.tables = {{{"a", "b"}, {{"1", "2"}}, "what it is"}};
    report.sections = {section};
    report.csv = {{"name", "value"}, {{"plain", "1"}, {"with, comma", "say \"x\""}}, {}};
    return report;
}

std::string read(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

struct Folder : ::testing::Test {
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("kvik_lab_" + std::to_string(::getpid()));
    ~Folder() override { std::filesystem::remove_all(path); }
};
using Output = Folder;

TEST(Statistics, the_median_ratio_is_one_of_ratios_and_not_a_ratio_of_medians) {
    EXPECT_EQ(median({3, 1, 2}), 2);
    EXPECT_EQ(median({4, 1}), 2.5);
    EXPECT_EQ(median({}), 0);
    const std::vector<double> above = {10, 30, 9}, below = {5, 10, 1};
    EXPECT_EQ(median_ratio(above, below), 3);
}

TEST(TextTable, csv_quotes_what_would_break_a_line_or_a_cell) {
    EXPECT_EQ(csv_text(small_report().csv),
              "name,value\nplain,1\n\"with, comma\",\"say \"\"x\"\"\"\n");
}

TEST(TextTable, columns_are_as_wide_as_their_widest_cell) {
    EXPECT_EQ(text_table({{"a", "bb"}, {{"long", "1"}}, {}}), "a     bb\nlong   1\n");
}

TEST(SvgChart, ticks_start_at_zero_and_reach_the_greatest_value) {
    for (const double greatest : {0.03, 1.0, 7.0, 65.4, 100.0, 6811.7, 1e6}) {
        const auto ticks = axis_ticks(greatest);
        EXPECT_EQ(ticks.front(), 0) << greatest;
        EXPECT_GE(ticks.back(), greatest * (1 - 1e-9)) << greatest;
        EXPECT_LT(ticks[ticks.size() - 2], greatest) << greatest;
        EXPECT_LE(ticks.size(), 8u) << greatest;
    }
}

TEST(SvgChart, has_a_dot_for_every_value_and_no_number_that_is_none) {
    const std::string svg = svg_chart(small_report().sections[0].charts[0]);
    size_t n_dots = 0;
    for (size_t at = svg.find("<circle"); at != std::string::npos; at = svg.find("<circle", at + 1))
        ++n_dots;
    EXPECT_EQ(n_dots, 3u);
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    EXPECT_EQ(svg.find("inf"), std::string::npos);
    EXPECT_NE(svg.find("dashed"), std::string::npos);
}

TEST(HtmlPage, no_text_of_a_report_becomes_markup) {
    const std::string page = html_page(small_report());
    EXPECT_NE(page.find("Two &amp; two"), std::string::npos);
    EXPECT_NE(page.find("It is &lt;four&gt;."), std::string::npos);
    EXPECT_EQ(page.find("<four>"), std::string::npos);
    EXPECT_NE(page.find("prefers-color-scheme: dark"), std::string::npos);
    EXPECT_EQ(page.find("http"), std::string::npos) << "the page needs nothing else";
}

TEST_F(Output, without_matplotlib_there_are_still_a_table_and_a_page_with_drawings) {
    const auto note =
        write_report(small_report(), {.folder = path.string(), .python = "/nowhere/python3"});
    ASSERT_TRUE(note) << note.error().message;
    EXPECT_NE(note->find("/nowhere/python3"), std::string::npos) << *note;
    EXPECT_EQ(read(path / "small.csv"), csv_text(small_report().csv));
    EXPECT_NE(read(path / "report.html").find("<svg"), std::string::npos);
}

TEST_F(Output, an_interpreter_without_matplotlib_is_named_with_the_remedy) {
    std::filesystem::create_directories(path);
    const auto python = path / "python3";
    std::ofstream(python) << "#!/bin/sh\nexit 3\n";
    std::filesystem::permissions(python, std::filesystem::perms::owner_all);
    const auto note =
        write_report(small_report(), {.folder = path.string(), .python = python.string()});
    ASSERT_TRUE(note) << note.error().message;
    EXPECT_NE(note->find("scripts/venv"), std::string::npos) << *note;
}

TEST_F(Output, a_folder_that_cannot_be_made_is_an_error_that_names_it) {
    std::ofstream(path) << "a file";
    const auto note = write_report(small_report(), {.folder = (path / "below").string()});
    ASSERT_FALSE(note);
    EXPECT_EQ(note.error().kind, ErrorKind::file);
    EXPECT_NE(note.error().message.find(path.string()), std::string::npos);
}

TEST(ChartsJson, holds_every_value_of_every_chart) {
    const auto charts = nlohmann::json::parse(charts_json(small_report()));
    ASSERT_EQ(charts.size(), 1u);
    EXPECT_EQ(charts[0]["series"][0]["y"], (std::vector<double>{0, 1, 3}));
    EXPECT_TRUE(charts[0]["series"][0]["dashed"]);
    EXPECT_TRUE(charts[0]["x_log"]);
}

TEST(Python, gives_the_status_and_the_input_to_the_program) {
    const auto status = run_python({.program = "import sys; sys.exit(int(sys.stdin.read()) + "
                                               "len(sys.argv[1]))",
                                    .argument = "ab",
                                    .input = "40"});
    ASSERT_TRUE(status) << status.error().message;
    EXPECT_EQ(*status, 42);
}

TEST(Python, a_program_that_does_not_end_is_an_error) {
    const auto status = run_python({.program = "import time; time.sleep(60)",
                                    .argument = "",
                                    .input = "",
                                    .deadline = std::chrono::milliseconds(100)});
    ASSERT_FALSE(status);
}

}  // namespace
}  // namespace kvik::lab
