#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "cli/bench_report.h"
#include "cli/doctor_machine.h"
#include "cli/load_bar.h"
#include "cli/options.h"
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

void add_output_flags(Flags& flags, lab::OutputOptions& output) {
    flags.heading("Output");
    flags.add({.name = "--out",
               .value = "DIR",
               .help = "writes a CSV file, PNG plots and report.html there (default: a table on\n"
                       "standard output alone)",
               .set = into(output.folder)});
    flags.add({.name = "--python",
               .value = "FILE",
               .help = "an interpreter that has matplotlib, for the plots (default:\n"
                       ".venv/bin/python3 if it is there, else python3)",
               .set = into(output.python)});
}

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

Setter into_ways(lab::MultiturnOptions& experiment) {
    return [&experiment](std::string_view text) -> Result<void> {
        experiment.reuse_on = experiment.reuse_off = false;
        for (const std::string_view word : split(text, ',')) {
            CachePolicy way{};
            KVIK_TRY_VOID(
                choose(way, {{"on", CachePolicy::reuse}, {"off", CachePolicy::off}})(word));
            (way == CachePolicy::reuse ? experiment.reuse_on : experiment.reuse_off) = true;
        }
        return {};
    };
}

Flags multiturn_flags(EngineOptions& engine, lab::MultiturnOptions& experiment,
                      lab::OutputOptions& output) {
    Flags flags(
        "lab multiturn",
        "What a chat-bot gains from a cache that finds its conversation again: time to the\n"
        "first token and of the whole turn, with reuse of KV and without, by turns.");
    add_model(flags, engine.model_path);
    flags.heading("Experiment");
    flags.add({.name = "--turns",
               .value = "N",
               .help = fmt::format("of the growing conversation, 2 to {} (default: {})",
                                   lab::most_turns(), experiment.n_turns),
               .set = into(experiment.n_turns, {2, lab::most_turns()})});
    flags.add({.name = "--reuse",
               .value = "on,off",
               .help = "ways of asking (default: both, and their answers are compared)",
               .set = into_ways(experiment)});
    flags.add({.name = "--answer",
               .value = "N",
               .help = fmt::format("tokens of an answer (default: {})", experiment.n_answer),
               .set = into(experiment.n_answer, {1, 4096})});
    flags.add({.name = "--rounds",
               .value = "N",
               .help = fmt::format("the whole conversation N times, from the start (default: {})",
                                   experiment.n_rounds),
               .set = into(experiment.n_rounds, {1, 100})});
    add_engine_flags(flags, engine);
    add_output_flags(flags, output);
    flags.epilogue(
        "The conversation grows, then an earlier message is edited, then the topic changes and "
        "the\n"
        "history is reset, then the first topic goes on. Answers with reuse and without must be "
        "the\n"
        "same to the last bit, or the experiment fails.");
    return flags;
}

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
    EngineOptions options;
    lab::MultiturnOptions experiment;
    lab::OutputOptions output;
    const Flags flags = multiturn_flags(options, experiment, output);
    KVIK_TRY(const auto shown, begin(flags, call));
    if (shown) return *shown;
    KVIK_TRY_VOID(lab::prepare(output));
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
    KVIK_TRY_VOID(give(lab::multiturn_report(result, on), lab::multiturn_table(result), output));
    return 0;
}

// ---- eviction ----

Flags eviction_flags(lab::EvictionOptions& experiment, lab::OutputOptions& output) {
    Flags flags(
        "lab eviction",
        "Which cached blocks should go first: each policy on made-up traces of chats, agents\n"
        "and retrieval, with caches of several sizes and without a model.");
    flags.heading("Experiment");
    flags.add({.name = "--seed",
               .value = "N",
               .help = fmt::format("of the traces (default: {})", experiment.seed),
               .set = into(experiment.seed, {0, UINT64_MAX})});
    flags.add({.name = "--cache-tokens",
               .value = "N,...",
               .help = fmt::format("tokens that the caches hold (default: {})",
                                   fmt::join(experiment.cache_tokens, ",")),
               .set = into(experiment.cache_tokens, {1024, 1 << 24})});
    add_output_flags(flags, output);
    return flags;
}

Result<int> eviction(const Call& call) {
    lab::EvictionOptions experiment;
    lab::OutputOptions output;
    const Flags flags = eviction_flags(experiment, output);
    KVIK_TRY(const auto shown, begin(flags, call));
    if (shown) return *shown;
    KVIK_TRY_VOID(lab::prepare(output));
    std::sort(experiment.cache_tokens.begin(), experiment.cache_tokens.end());
    ProgressLine progress;
    experiment.progress = [&progress](const std::string& what) { progress.draw(what); };
    KVIK_TRY(const lab::EvictionResult result, lab::run_eviction(experiment));
    progress.clear();
    KVIK_TRY_VOID(give(lab::eviction_report(result), lab::eviction_table(result), output));
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
