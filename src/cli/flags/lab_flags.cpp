#include "cli/flags/lab_flags.h"

#include <fmt/format.h>

namespace kvik::cli {
namespace {

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

}  // namespace

Flags multiturn_flags(MultiturnFlags& options) {
    Flags flags(
        "lab multiturn",
        "What a chat-bot gains from a cache that finds its conversation again: time to the\n"
        "first token and of the whole turn, with reuse of KV and without, by turns.");
    add_model(flags, options.engine.model_path);
    flags.heading("Experiment");
    flags.add({.name = "--turns",
               .value = "N",
               .help = fmt::format("of the growing conversation, 2 to {} (default: {})",
                                   lab::most_turns(), options.experiment.n_turns),
               .set = into(options.experiment.n_turns, {2, lab::most_turns()})});
    flags.add({.name = "--reuse",
               .value = "on,off",
               .help = "ways of asking (default: both, and their answers are compared)",
               .set = into_ways(options.experiment)});
    flags.add(
        {.name = "--answer",
         .value = "N",
         .help = fmt::format("tokens of an answer (default: {})", options.experiment.n_answer),
         .set = into(options.experiment.n_answer, {1, 4096})});
    flags.add({.name = "--rounds",
               .value = "N",
               .help = fmt::format("the whole conversation N times, from the start (default: {})",
                                   options.experiment.n_rounds),
               .set = into(options.experiment.n_rounds, {1, 100})});
    add_engine_flags(flags, options.engine);
    add_output_flags(flags, options.output);
    flags.epilogue(
        "The conversation grows, then an earlier message is edited, then the topic changes and "
        "the\n"
        "history is reset, then the first topic goes on. Answers with reuse and without must be "
        "the\n"
        "same to the last bit, or the experiment fails.");
    return flags;
}

Flags eviction_flags(EvictionFlags& options) {
    Flags flags(
        "lab eviction",
        "Which cached blocks should go first: each policy on made-up traces of chats, agents\n"
        "and retrieval, with caches of several sizes and without a model.");
    flags.heading("Experiment");
    flags.add({.name = "--seed",
               .value = "N",
               .help = fmt::format("of the traces (default: {})", options.experiment.seed),
               .set = into(options.experiment.seed, {0, UINT64_MAX})});
    flags.add({.name = "--cache-tokens",
               .value = "N,...",
               .help = fmt::format("tokens that the caches hold (default: {})",
                                   fmt::join(options.experiment.cache_tokens, ",")),
               .set = into(options.experiment.cache_tokens, {1024, 1 << 24})});
    add_output_flags(flags, options.output);
    return flags;
}

}  // namespace kvik::cli
