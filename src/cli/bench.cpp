#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/bench_limits.h"
#include "cli/bench_rig.h"
#include "cli/json.h"
#include "cli/load_bar.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "engine/settings.h"
#include "kernels/select.h"
#include "model/check.h"
#include "model/load.h"

namespace kvik::cli {
namespace {

struct BenchOptions {
    EngineOptions engine;
    uint32_t n_prompt = 512, n_decode = 128, n_runs = 3;
    std::vector<uint32_t> widths = {1, 2, 4, 5, 8, 16};
    std::vector<uint32_t> depths = {0};
    bool json = false;
};

Flags bench_flags(BenchOptions& options) {
    Flags flags("bench", "How fast a model runs here: medians of repeated runs.");
    add_model(flags, options.engine.model_path);
    flags.heading("Tests");
    flags.add({.name = "-p",
               .value = "N",
               .help = "pp: a prompt of N tokens (default: 512; 0: none)",
               .set = into(options.n_prompt, {0, 1 << 20}),
               .settable = Settable::per_verb});
    flags.add({.name = "-n",
               .value = "N",
               .help = "tg: N tokens one after the other (default: 128; 0: none)",
               .set = into(options.n_decode, {0, 1 << 20}),
               .settable = Settable::per_verb});
    flags.add({.name = "-b",
               .value = "M,...",
               .help = "rows: M tokens of one sequence in one step, with all their logits;\n"
                       "streams: M sequences decoding together (default: 1,2,4,5,8,16; none)",
               .set = [&options](std::string_view text) -> Result<void> {
                   if (text != "none") return into(options.widths, {1, kMostSequences})(text);
                   options.widths.clear();
                   return {};
               },
               .settable = Settable::per_verb});
    flags.add({.name = "-d",
               .value = "D,...",
               .help = "each test after D tokens of context (default: 0)",
               .set = into(options.depths, {0, 1 << 24}),
               .settable = Settable::per_verb});
    flags.add({.name = "-r",
               .value = "N",
               .help = "runs of each test (default: 3)",
               .set = into(options.n_runs, {1, 1000}),
               .settable = Settable::per_verb});
    add_engine_flags(flags, options.engine);
    flags.heading("Output");
    flags.add({.name = "--json",
               .help = "one JSON list at the end instead of a table",
               .set = turn_on(options.json)});
    return flags;
}

struct Row {
    std::string_view test;
    uint32_t n = 0, rows = 1, streams = 1, depth = 0;
    uint32_t n_tokens = 0;  // that one run computes
    Limit limit = {};       // what bounds one run
    double ms = 0;          // of one run, the median
    uint32_t n_runs = 0;

    double tokens_per_s() const { return n_tokens * 1000.0 / ms; }
    double percent() const { return 100 * limit.ms / ms; }
};

class Report {
  public:
    explicit Report(const BenchOptions& options) : options_(options) {}

    // Measures `run_ms` as often as asked and keeps the median.
    template <class Run>
    Result<void> measure(Row row, Run&& run_ms) {
        std::vector<double> times;
        for (uint32_t i = 0; i < options_.n_runs; ++i) {
            KVIK_TRY(const double ms, run_ms());
            times.push_back(ms);
        }
        std::sort(times.begin(), times.end());
        const size_t half = times.size() / 2;
        row.ms = times.size() % 2 == 1 ? times[half] : (times[half - 1] + times[half]) / 2;
        row.n_runs = options_.n_runs;
        if (!options_.json) {
            if (rows_.empty())
                KVIK_TRY_VOID(put(fmt::format("{:8}{:>7}{:>6}{:>9}{:>7}{:>11}{:>12}{:>6}{:>6} of\n",
                                              "test", "n", "rows", "streams", "depth", "tokens/s",
                                              "ms", "runs", "%")));
            KVIK_TRY_VOID(
                put(fmt::format("{:8}{:7}{:6}{:9}{:7}{:11.1f}{:12.3f}{:6}{:6.0f} {}\n", row.test,
                                row.n, row.rows, row.streams, row.depth, row.tokens_per_s(), row.ms,
                                row.n_runs, row.percent(), row.limit.name)));
        }
        rows_.push_back(row);
        return {};
    }

    Result<void> finish(const Ceilings& ceilings) const {
        if (!options_.json)
            return put(
                fmt::format("ceilings on {} threads: read {:.1f} GB/s, int8 {:.0f} GOP/s, "
                            "f32 {:.0f} GFLOP/s\n",
                            options_.engine.n_threads, ceilings.read_bytes_per_s.all / 1e9,
                            ceilings.int8_ops_per_s.all / 1e9, ceilings.f32_ops_per_s.all / 1e9));
        Json list = Json::array();
        for (const Row& row : rows_)
            list.push_back({{"test", row.test},
                            {"n", row.n},
                            {"rows", row.rows},
                            {"streams", row.streams},
                            {"depth", row.depth},
                            {"tokens_per_s", row.tokens_per_s()},
                            {"ms", row.ms},
                            {"runs", row.n_runs},
                            {"percent", row.percent()},
                            {"of", row.limit.name}});
        return put(to_line(list));
    }

  private:
    const BenchOptions& options_;
    std::vector<Row> rows_;
};

uint32_t widest(const BenchOptions& options) {
    return options.widths.empty() ? 1
                                  : *std::max_element(options.widths.begin(), options.widths.end());
}

// What the tests need; more only if it is asked for.
Result<uint32_t> context_for(const BenchOptions& options, const ModelSpec& model) {
    const uint32_t deepest = *std::max_element(options.depths.begin(), options.depths.end());
    const uint32_t needed =
        deepest + std::max({options.n_prompt, options.n_decode + 2, widest(options)});
    const uint32_t most =
        options.engine.context > 0 ? options.engine.context : model.context_length;
    if (needed > most)
        return fail(ErrorKind::usage,
                    fmt::format("-d {} with these -p, -n and -b needs a context of {}, there is {}",
                                deepest, needed, most));
    return options.engine.context > 0 ? options.engine.context : needed;
}

Result<void> measure_rows(const BenchOptions& options, const Model& model, ThreadPool& pool,
                          const BenchLimits& limits, Report& report) {
    if (options.widths.empty()) return {};
    KvSpec kv = model.spec().kv;
    kv.type = options.engine.kv_type;
    kv.block_tokens = options.engine.block_tokens;
    KVIK_TRY(StepRig rig, StepRig::open(model, pool, kv,
                                        {.n_chunk_rows = options.engine.ubatch,
                                         .n_rows = widest(options),
                                         .context = options.engine.context}));
    for (const uint32_t depth : options.depths) {
        KVIK_TRY_VOID(rig.prefill_to(depth));
        KVIK_TRY_VOID(rig.step_ms(widest(options)));  // warms the caches
        for (const uint32_t m : options.widths)
            KVIK_TRY_VOID(report.measure({.test = "rows",
                                          .n = m,
                                          .rows = m,
                                          .depth = depth,
                                          .n_tokens = m,
                                          .limit = limits.of_steps(1)},
                                         [&] { return rig.step_ms(m); }));
    }
    return {};
}

Result<void> measure_requests(const BenchOptions& options, std::unique_ptr<Engine> engine,
                              const BenchLimits& limits, Report& report) {
    EngineRig rig(std::move(engine));
    if (options.n_prompt > 0) KVIK_TRY_VOID(rig.prompt_ms(options.n_prompt, 0));  // warms up
    for (const uint32_t depth : options.depths) {
        KVIK_TRY_VOID(rig.prefill(depth));
        const uint32_t p = options.n_prompt, n = options.n_decode;
        if (p > 0)
            KVIK_TRY_VOID(report.measure(
                {.test = "pp", .n = p, .depth = depth, .n_tokens = p, .limit = limits.of_prompt(p)},
                [&] { return rig.prompt_ms(p, depth); }));
        if (n == 0) continue;
        KVIK_TRY_VOID(report.measure(
            {.test = "tg", .n = n, .depth = depth, .n_tokens = n, .limit = limits.of_steps(n)},
            [&] { return rig.decode_ms(n, depth, 1); }));
        for (const uint32_t m : options.widths)
            KVIK_TRY_VOID(report.measure({.test = "streams",
                                          .n = n,
                                          .streams = m,
                                          .depth = depth,
                                          .n_tokens = n * m,
                                          .limit = limits.of_steps(n)},
                                         [&] { return rig.decode_ms(n, depth, m); }));
    }
    return {};
}

}  // namespace

Result<int> bench(const Call& call) {
    BenchOptions options;
    const Flags flags = bench_flags(options);
    KVIK_TRY(const auto shown, begin(flags, call));
    if (shown) return *shown;
    if (options.n_prompt == 0 && options.n_decode == 0 && options.widths.empty())
        return fail(ErrorKind::usage, "nothing to measure: give -p, -n or -b");
    std::sort(options.depths.begin(), options.depths.end());
    EngineOptions& engine = options.engine;
    if (engine.n_threads == 0) engine.n_threads = usable_cores();
    engine.max_sequences = std::max(engine.max_sequences, widest(options));

    KVIK_TRY(const KernelTable* kernels, select_kernels(engine.isa));
    ThreadPool pool(engine.n_threads);
    LoadOptions load{.path = engine.model_path,
                     .kernels = kernels,
                     .act = engine.act == "f32" ? Act::f32 : Act::int8,
                     .pool = &pool,
                     .progress = {}};
    Result<LoadedModel> loaded;
    {
        LoadBar bar;
        load.progress = [&](uint64_t done_bytes, uint64_t total_bytes) {
            bar.update(done_bytes, total_bytes);
        };
        loaded = load_model(load);
    }
    if (!loaded) return tl::unexpected(std::move(loaded).error());
    KVIK_TRY(engine.context, context_for(options, loaded->model->spec()));

    KVIK_TRY_VOID(settle(engine, loaded->model->spec()));  // before the first line is printed

    KVIK_TRY(const Ceilings ceilings, measure_ceilings(*kernels, pool));
    KVIK_TRY(const ModelSource source, open_source(engine.model_path));
    KVIK_TRY(const ModelNeeds needs, check_model(source, engine.model_path));
    const BenchLimits limits{needs, ceilings, load.act};
    Report report(options);
    KVIK_TRY_VOID(measure_rows(options, *loaded->model, pool, limits, report));
    KVIK_TRY(auto opened, Engine::over(std::move(loaded->model), engine));
    KVIK_TRY_VOID(measure_requests(options, std::move(opened), limits, report));
    KVIK_TRY_VOID(report.finish(ceilings));
    return 0;
}

}  // namespace kvik::cli
