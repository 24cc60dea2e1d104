#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "cli/bench_report.h"
#include "cli/doctor_machine.h"
#include "cli/flags/lab_flags.h"
#include "cli/load_bar.h"
#include "cli/suggest.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "lab/eviction.h"
#include "lab/multiturn_report.h"
#include "lab/output.h"
#include "lab/text_table.h"

namespace kvik::cli {
namespace {

struct Experiment {
    std::string_view name;
    std::string_view summary;
    Result<int> (*act)(const Call&);
};

// ---- what experiments have in common ----

Result<void> give(const lab::Report& report, const lab::Table& table,
                  const lab::OutputOptions& output) {
    KVIK_TRY_VOID(put(lab::text_table(table)));
    KVIK_TRY_VOID(put("\n"));
    for (const std::string& finding : report.findings)
        KVIK_TRY_VOID(put(wrapped("- " + finding, 100, 2) + "\n"));
    if (output.folder.empty()) {
        note("kvik: --out DIR writes it as CSV, plots and a page\n");
        return {};
    }
    KVIK_TRY(const lab::PlotNote plots, lab::write_report(report, output));
    if (!plots.empty()) note(fmt::format("kvik: {}\n", printable(plots)));
    note(fmt::format("kvik: {}\n",
                     printable((std::filesystem::path(output.folder) / "report.html").string())));
    return {};
}

// ---- multiturn ----

Result<std::unique_ptr<Engine>> open_for(EngineOptions& engine) {
    // What lies between two turns is no pause to measure steps in.
    if (engine.calibrate == Calibrate::on) engine.calibrate = Calibrate::off;
    LoadBar bar;
    engine.progress = [&bar](uint64_t done_bytes, uint64_t total_bytes) {
        bar.update(done_bytes, total_bytes);
    };
    return Engine::open(engine);
}

Result<int> multiturn(const Call& call) {
    MultiturnFlags given;
    EngineOptions& options = given.engine;
    lab::MultiturnOptions& experiment = given.experiment;
    const Flags flags = multiturn_flags(given);
    KVIK_TRY(const auto shown, begin(flags, call));
    if (shown) return *shown;
    KVIK_TRY_VOID(lab::prepare(given.output));
    options.cache_folder.clear();  // what another run left there would be found
    KVIK_TRY(const auto engine, open_for(options));
    ProgressLine progress;
    experiment.progress = [&progress](const std::string& what) { progress.draw(what); };
    KVIK_TRY(const lab::MultiturnResult result, lab::run_multiturn(*engine, experiment));
    progress.clear();
    const lab::MeasuredOn on{.model = std::filesystem::path(options.model_path).filename().string(),
                             .machine = look_at_machine().cpu,
                             .used = engine->used(),
                             .block_bytes = engine->cache_stats().block_bytes,
                             .block_tokens = options.block_tokens,
                             .n_rounds = experiment.n_rounds};
    KVIK_TRY_VOID(
        give(lab::multiturn_report(result, on), lab::multiturn_table(result), given.output));
    return 0;
}

// ---- eviction ----

Result<int> eviction(const Call& call) {
    EvictionFlags given;
    lab::EvictionOptions& experiment = given.experiment;
    const Flags flags = eviction_flags(given);
    KVIK_TRY(const auto shown, begin(flags, call));
    if (shown) return *shown;
    KVIK_TRY_VOID(lab::prepare(given.output));
    std::sort(experiment.cache_tokens.begin(), experiment.cache_tokens.end());
    ProgressLine progress;
    experiment.progress = [&progress](const std::string& what) { progress.draw(what); };
    KVIK_TRY(const lab::EvictionResult result, lab::run_eviction(experiment));
    progress.clear();
    KVIK_TRY_VOID(give(lab::eviction_report(result), lab::eviction_table(result), given.output));
    return 0;
}

// ---- the table ----

constexpr Experiment kExperiments[] = {
    {"multiturn", "a conversation that grows, with and without reuse of KV", multiturn},
    {"eviction", "which cached blocks should go first: policies on made-up traces", eviction},
};

std::string overview() {
    std::string text = "kvik lab NAME ... : an experiment, as a table, a CSV file and a page\n\n";
    for (const Experiment& experiment : kExperiments)
        text += fmt::format("  {:<12}{}\n", experiment.name, experiment.summary);
    return text + "\nkvik lab NAME --help lists an experiment's flags.\n";
}

Result<int> lab_without_name(const Call& call) {
    if (!call.args.empty() && call.args.front() != "--help" && call.args.front() != "-h") {
        std::vector<std::string> names;
        for (const Experiment& experiment : kExperiments) names.emplace_back(experiment.name);
        const std::string& word = call.args.front();
        const auto meant = nearest(word, names);
        return fail(ErrorKind::usage,
                    fmt::format("'{}' is no experiment of kvik lab: {}", word,
                                meant ? fmt::format("did you mean {}?", *meant)
                                      : fmt::format("it has {}", fmt::join(names, ", "))));
    }
    KVIK_TRY_VOID(put(overview()));
    return 0;
}

}  // namespace

Result<int> lab(const Call& call) {
    if (call.inspect) {
        for (const Experiment& experiment : kExperiments) KVIK_TRY_VOID(experiment.act(call));
        return 0;
    }
    for (const Experiment& experiment : kExperiments) {
        if (call.args.empty() || call.args.front() != experiment.name) continue;
        Call rest = call;
        rest.args = call.args.subspan(1);
        return experiment.act(rest);
    }
    return lab_without_name(call);
}

}  // namespace kvik::cli
