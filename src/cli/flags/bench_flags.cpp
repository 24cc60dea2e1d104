#include "cli/flags/bench_flags.h"

#include "cli/flags/habits.h"
#include "engine/engine_settings.h"

namespace kvik::cli {
namespace {

Setter into_tests(std::optional<std::vector<BenchTest>>& target) {
    return [&target](std::string_view text) -> Result<void> {
        std::vector<BenchTest> tests;
        for (const std::string_view word : split(text, ',')) {
            BenchTest test{};
            KVIK_TRY_VOID(choose(test, {{"pp", BenchTest::pp},
                                        {"tg", BenchTest::tg},
                                        {"rows", BenchTest::rows},
                                        {"streams", BenchTest::streams}})(word));
            tests.push_back(test);
        }
        target = std::move(tests);
        return {};
    };
}

void add_test_flags(Flags& flags, BenchOptions& options) {
    flags.heading("Tests");
    flags.add({.name = "--test",
               .value = "NAME,...",
               .help = "some of: pp, tg, rows, streams (default: those of the flags -p, -n and -b\n"
                       "that are given; with none of them given, all)",
               .set = into_tests(options.tests),
               .settable = Settable::per_verb});
    flags.add({.name = "-p",
               .value = "N,...",
               .help = "pp: prefill of a prompt of N tokens (default: 512; 0: none)",
               .set = into_given(options.prompts, {0, 1 << 20}),
               .settable = Settable::per_verb});
    flags.add({.name = "-n",
               .value = "N,...",
               .help = "tg: decoding of N tokens, one after the other (default: 128; 0: none);\n"
                       "streams: of N tokens, the most of them, in each (default: 32)",
               .set = into_given(options.decodes, {0, 1 << 20}),
               .settable = Settable::per_verb});
    flags.add({.name = "-b",
               .value = "M,...",
               .help = "rows: one step with M tokens of one sequence and all their logits, as\n"
                       "speculative decoding takes it;\n"
                       "streams: M sequences decoding together (default: 1,2,4,5,8,16; none)",
               .set = [&options](std::string_view text) -> Result<void> {
                   if (text != "none") return into_given(options.widths, {1, kMostSequences})(text);
                   options.widths.emplace();
                   return {};
               },
               .settable = Settable::per_verb});
    flags.add({.name = "-d",
               .value = "D,...",
               .help = "depth: each test after D tokens of context (default: 0)",
               .set = into(options.depths, {0, 1 << 24}),
               .settable = Settable::per_verb});
    flags.add({.name = "-r",
               .value = "N",
               .help = "rounds: each runs every test once, and the ratio is taken within one\n"
                       "(default: 5)",
               .set = into(options.n_runs, {1, 1000}),
               .settable = Settable::per_verb});
}

}  // namespace

std::string_view name_of(BenchTest test) {
    constexpr std::string_view kNames[] = {"pp", "tg", "rows", "streams"};
    return kNames[static_cast<size_t>(test)];
}

Flags bench_flags(BenchOptions& options) {
    Flags flags("bench",
                "How fast a model runs here, and what share of the machine's limits that is:\n"
                "medians of rounds, all tests by turns.");
    add_model(flags, options.engine.model_path);
    add_test_flags(flags, options);
    add_engine_flags(flags, options.engine, &options.threads);
    flags.heading("Output");
    flags.add({.name = "--profile",
               .help = "instead of tests: where the time of a decode step (with M rows of -b,\n"
                       "default: 1) and of a prefill step (-p) goes, at each depth",
               .set = turn_on(options.profile)});
    flags.add({.name = "--json",
               .help = "one JSON list at the end instead of a table",
               .set = turn_on(options.json)});
    flags.add({.name = "-o",
               .value = "json|md",
               .help = "json is --json, md the table",
               .set = choose(options.json, {{"json", true}, {"md", false}}),
               .aliases = {"--output"}});
    add_bench_habits(flags);
    flags.epilogue(
        "ratio: of rows the time over that of one row, of streams the tokens/s over those of one\n"
        "stream, of pp and tg at several depths the time over that at the least depth.\n"
        "% of limit: the least time that this machine needs to read weights and KV (memory) or to\n"
        "multiply (int8, f32), whichever is longer, over the time that was measured.\n"
        "--calibrate on is off here; fresh calibrates before the tests.");
    return flags;
}

}  // namespace kvik::cli
