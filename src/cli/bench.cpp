#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/bench_plan.h"
#include "cli/bench_profile.h"
#include "cli/bench_report.h"
#include "cli/bench_rig.h"
#include "cli/bench_sweep.h"
#include "cli/load_bar.h"
#include "cli/progress_line.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "engine/engine_settings.h"
#include "kernels/select.h"
#include "model/check.h"
#include "model/load.h"
#include "model/tied_lm_head.h"

namespace kvik::cli {
namespace {

constexpr double kReadSeconds = 0.02;  // of measuring memory before a run

// Compute is as fast all the time, memory is not.
class CeilingMeter {
  public:
    static Result<CeilingMeter> open(const KernelTable& kernels, ThreadPool& pool) {
        KVIK_TRY(const Ceilings ceilings, measure_ceilings(kernels, pool));
        KVIK_TRY(ReadMeter reading, ReadMeter::open(pool));
        return CeilingMeter(ceilings, std::move(reading));
    }

    Ceilings now() {
        ceilings_.read_bytes_per_s.all = reading_.all(kReadSeconds);
        read_.push_back(ceilings_.read_bytes_per_s.all / 1e9);
        return ceilings_;
    }

    std::string line(uint32_t n_threads) const {
        const Spread read = spread_of(read_);
        return fmt::format(
            "limits of this machine on {} threads: memory {:.1f} GB/s ({:.1f} to {:.1f}), int8 "
            "{:.0f} "
            "GOP/s, "
            "f32 {:.0f} GFLOP/s\n",
            n_threads, read.p50, read.min, read.max, ceilings_.int8_ops_per_s.all / 1e9,
            ceilings_.f32_ops_per_s.all / 1e9);
    }

  private:
    CeilingMeter(const Ceilings& ceilings, ReadMeter reading)
        : ceilings_(ceilings), reading_(std::move(reading)) {}

    Ceilings ceilings_;
    ReadMeter reading_;
    std::vector<double> read_;  // GB/s, as often as it was measured
};

// What every sweep needs.
struct Bench {
    const BenchOptions& options;
    BenchPlan plan;
    BenchWork work;
    CeilingMeter& ceilings;
    std::vector<Measured> all = {};

    Result<void> sweep(std::span<const BenchPoint> points) {
        if (points.empty()) return {};
        ProgressLine progress;
        KVIK_TRY(const std::vector<Measured> measured,
                 measure_by_turns(points, plan.n_runs,
                                  {.ceilings = [&] { return ceilings.now(); },
                                   .starts =
                                       [&](const BenchWhat& what, uint32_t round) {
                                           progress.draw(bench_progress(what, round, plan.n_runs));
                                       }}));
        progress.clear();
        if (!options.json && all.empty()) KVIK_TRY_VOID(put(bench_head()));
        for (const Measured& m : measured) {
            if (!options.json) KVIK_TRY_VOID(put(bench_line(m)));
            all.push_back(m);
            all.back().what.n_threads = options.engine.n_threads;
        }
        return {};
    }
};

Result<void> measure_rows(Bench& bench, const Model& model, ThreadPool& pool, const KvSpec& kv) {
    const BenchPlan& plan = bench.plan;
    if (plan.rows.empty()) return {};
    KVIK_TRY(StepRig rig, StepRig::open(model, pool, kv,
                                        {.n_chunk_rows = bench.options.engine.ubatch,
                                         .n_rows = plan.most_rows(),
                                         .context = bench.options.engine.context}));
    KVIK_TRY_VOID(rig.prefill_to(plan.deepest()));
    std::vector<BenchPoint> points;
    for (const uint32_t depth : plan.depths)
        for (const uint32_t m : plan.rows)
            points.push_back(
                {{.test = BenchTest::rows,
                  .n = m,
                  .rows = m,
                  .depth = depth,
                  .n_tokens = m,
                  .work = bench.work.of_step({.n_past = depth, .n_rows = m, .n_logits_rows = m})},
                 [&rig, depth, m] {
                     return rig.step_ms({.depth = depth, .n = m, .n_logits = m});
                 }});
    return bench.sweep(points);
}

BenchPoint prompt_point(const Bench& bench, EngineRig& rig, uint32_t n, uint32_t depth) {
    return {{.test = BenchTest::pp,
             .n = n,
             .depth = depth,
             .n_tokens = n,
             .work = bench.work.of_prompt(
                 {.n_tokens = n, .depth = depth, .n_chunk_rows = bench.options.engine.ubatch})},
            [&rig, n, depth] { return rig.prompt_ms(n, depth); }};
}

BenchPoint decode_point(const Bench& bench, EngineRig& rig, uint32_t n, uint32_t depth) {
    return {{.test = BenchTest::tg,
             .n = n,
             .depth = depth,
             .n_tokens = n,
             .work = bench.work.of_decode({.n_tokens = n, .depth = depth})},
            [&rig, n, depth] { return rig.decode_ms(n, depth, 1); }};
}

BenchPoint streams_point(const Bench& bench, EngineRig& rig, uint32_t depth, uint32_t m) {
    const uint32_t n = bench.plan.n_stream_tokens;
    return {{.test = BenchTest::streams,
             .n = n,
             .streams = m,
             .depth = depth,
             .n_tokens = n * m,
             .work = bench.work.of_decode({.n_tokens = n, .depth = depth, .n_streams = m})},
            [&rig, n, depth, m] { return rig.decode_ms(n, depth, m); }};
}

Result<void> measure_requests(Bench& bench, std::unique_ptr<Engine> engine) {
    const BenchPlan& plan = bench.plan;
    EngineRig rig(std::move(engine));
    KVIK_TRY_VOID(rig.prefill(plan.deepest()));
    if (!plan.prompts.empty()) KVIK_TRY_VOID(rig.prompt_ms(plan.prompts.back(), 0));  // warms up
    std::vector<BenchPoint> points;
    for (const uint32_t depth : plan.depths) {
        for (const uint32_t n : plan.prompts) points.push_back(prompt_point(bench, rig, n, depth));
        for (const uint32_t n : plan.decodes) points.push_back(decode_point(bench, rig, n, depth));
        for (const uint32_t m : plan.streams) points.push_back(streams_point(bench, rig, depth, m));
    }
    return bench.sweep(points);
}

Result<LoadedModel> load(const EngineOptions& engine, const KernelTable& kernels, Act act,
                         ThreadPool& pool) {
    LoadBar bar;
    return load_model({.path = engine.model_path,
                       .kernels = &kernels,
                       .act = act,
                       .pool = &pool,
                       .progress = [&](uint64_t done_bytes, uint64_t total_bytes) {
                           bar.update(done_bytes, total_bytes);
                       }});
}

std::string title(const EngineOptions& engine, const KernelTable& kernels, Act act) {
    return fmt::format("{}: {}, {} threads, {} KV, {} activations\n",
                       printable(std::filesystem::path(engine.model_path).filename().string()),
                       kernels.name, engine.n_threads, kv_type_name(engine.kv_type),
                       act == Act::f32 ? "f32" : "int8");
}

// All that is asked for, on as many threads as the options say. What was measured goes into `all`; a
// profile is printed.
Result<void> bench_once(BenchOptions options, const BenchPlan& plan, std::vector<Measured>& all) {
    EngineOptions& engine = options.engine;
    KVIK_TRY(const KernelTable* kernels, select_kernels(engine.isa));
    const Act act = engine.act == "f32" ? Act::f32 : Act::int8;
    // As Engine::open has it, so that a step beside other programs takes what it takes in `run`. A
    // profile wants every worker in every step.
    KVIK_TRY(
        const auto owned_pool,
        ThreadPool::create(engine.n_threads, options.profile ? Sharing::keep : Sharing::make_room));
    ThreadPool& pool = *owned_pool;
    KVIK_TRY(LoadedModel loaded, load(engine, *kernels, act, pool));
    KVIK_TRY(engine.context, context_for(plan, engine, loaded.model->spec()));
    // Before the first line is printed: what this refuses ends it all.
    KVIK_TRY(const kvik::EngineSettings settings, resolve_settings(engine, loaded.model->spec()));

    if (!options.json) KVIK_TRY_VOID(put(title(engine, *kernels, act)));
    if (options.profile) {
        KVIK_TRY(const auto steps, profile_steps(plan, engine, *loaded.model, pool, settings.kv));
        const double barrier_ns = barrier_latency_ns(pool);
        return put(options.json ? profile_json(steps, barrier_ns)
                                : profile_table(steps, barrier_ns));
    }
    KVIK_TRY(CeilingMeter ceilings, CeilingMeter::open(*kernels, pool));
    KVIK_TRY(ModelSource source, open_source(engine.model_path));
    KVIK_TRY_VOID(resolve_tied_head(source, engine.model_path));
    KVIK_TRY(const ModelNeeds needs, check_model(source, engine.model_path));
    Bench bench{options, plan, {needs, source.config, settings.kv, act}, ceilings};
    KVIK_TRY_VOID(measure_rows(bench, *loaded.model, pool, settings.kv));
    if (plan.has_requests()) {
        KVIK_TRY(auto opened, Engine::over(std::move(loaded.model), engine));
        KVIK_TRY_VOID(measure_requests(bench, std::move(opened)));
    }
    all.insert(all.end(), bench.all.begin(), bench.all.end());
    return options.json ? Result<void>() : put(ceilings.line(engine.n_threads));
}

}  // namespace

Result<int> bench(const Call& call) {
    BenchOptions options;
    const Flags flags = bench_flags(options);
    KVIK_TRY(const auto shown, begin(flags, call));
    if (shown) return *shown;
    KVIK_TRY(const BenchPlan plan, plan_bench(options));
    EngineOptions& engine = options.engine;
    engine.max_sequences = std::max(engine.max_sequences, plan.most_streams());
    // What lies between two runs is no pause to measure steps in.
    if (engine.calibrate == Calibrate::on) engine.calibrate = Calibrate::off;
    if (options.threads.empty()) options.threads = {usable_cores()};
    std::vector<Measured> all;
    for (const uint32_t n_threads : options.threads) {
        engine.n_threads = n_threads;
        KVIK_TRY_VOID(bench_once(options, plan, all));
    }
    if (options.json && !options.profile) KVIK_TRY_VOID(put(bench_json(all)));
    return 0;
}

}  // namespace kvik::cli
