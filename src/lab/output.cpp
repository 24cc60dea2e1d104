#include "lab/output.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "lab/html_page.h"
#include "lab/plots_source.h"
#include "lab/python.h"
#include "lab/text_table.h"

namespace kvik::lab {
namespace {

constexpr int kNoMatplotlib = 3;  // plots.py

Result<void> write_file(const std::filesystem::path& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << text;
    file.close();
    if (file) return {};
    return fail(ErrorKind::file, fmt::format("writing {}: {}: choose another place with --out",
                                             path.string(), std::strerror(errno)));
}

std::string choose_python(const std::string& asked) {
    if (!asked.empty()) return asked;
    const std::string own = ".venv/bin/python3";
    std::error_code error;
    return std::filesystem::exists(own, error) ? own : "python3";
}

PlotNote draw(const Report& report, const OutputOptions& options) {
    const std::string python = choose_python(options.python);
    const auto status = run_python({.python = python,
                                    .program = std::string(kPlotsSource),
                                    .argument = options.folder,
                                    .input = charts_json(report)});
    const std::string instead = "the page has drawings of its own instead of PNG files";
    if (!status) return fmt::format("{}; {}", status.error().message, instead);
    if (*status == 0) return {};
    if (*status == kNoMatplotlib)
        return fmt::format(
            "{} has no matplotlib; {}: scripts/venv installs it, or name another with --python",
            python, instead);
    return fmt::format("{} failed to draw with status {}; {}", python, *status, instead);
}

}  // namespace

std::string charts_json(const Report& report) {
    nlohmann::ordered_json charts = nlohmann::ordered_json::array();
    for (const Section& section : report.sections)
        for (const Chart& chart : section.charts) {
            nlohmann::ordered_json all = nlohmann::ordered_json::array();
            for (const Series& series : chart.series)
                all.push_back({{"name", series.name},
                               {"x", series.x},
                               {"y", series.y},
                               {"dashed", series.stroke == Stroke::dashed}});
            charts.push_back({{"name", chart.name},
                              {"title", chart.title},
                              {"x_label", chart.x_label},
                              {"y_label", chart.y_label},
                              {"x_log", chart.x_scale == Scale::logarithmic},
                              {"series", std::move(all)}});
        }
    return charts.dump();
}

Result<void> prepare(const OutputOptions& options) {
    if (options.folder.empty()) return {};
    std::error_code error;
    std::filesystem::create_directories(options.folder, error);
    if (error)
        return fail(ErrorKind::file, fmt::format("making {}: {}: choose another place with --out",
                                                 options.folder, error.message()));
    return {};
}

Result<PlotNote> write_report(const Report& report, const OutputOptions& options) {
    KVIK_TRY_VOID(prepare(options));
    const std::filesystem::path folder(options.folder);
    KVIK_TRY_VOID(write_file(folder / (report.name + ".csv"), csv_text(report.csv)));
    KVIK_TRY_VOID(write_file(folder / "report.html", html_page(report)));
    return draw(report, options);
}

}  // namespace kvik::lab
