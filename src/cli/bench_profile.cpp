#include "cli/bench_profile.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/bench_report.h"
#include "cli/bench_rig.h"
#include "cli/json.h"
#include "cli/progress_line.h"

namespace kvik::cli {
namespace {

StepPart part(size_t i) {
    return static_cast<StepPart>(i);
}

std::string cells(std::span<const ProfiledStep> steps,
                  const std::function<std::string(const ProfiledStep&)>& cell) {
    std::string line;
    for (const ProfiledStep& step : steps) line += fmt::format("{:>20}", cell(step));
    return line + "\n";
}

// Of steps at one depth.
std::string table_of_depth(std::span<const ProfiledStep> steps) {
    const auto timed = [](double ms, double share) {
        return fmt::format("{:.1f} us {:5.1f} %", 1000 * ms, 100 * share);
    };
    std::string text = fmt::format("{:10}", fmt::format("depth {}", steps[0].depth));
    text += cells(steps, [](const ProfiledStep& s) {
        return fmt::format("{}, {} row{}", s.step, s.rows, s.rows == 1 ? "" : "s");
    });
    for (size_t i = 0; i < kStepParts; ++i)
        text += fmt::format("{:10}", name_of(part(i))) + cells(steps, [&](const ProfiledStep& s) {
                    return timed(s.part_ms[i], s.part_ms[i] / s.ms);
                });
    text += fmt::format("{:10}", "all") +
            cells(steps, [&](const ProfiledStep& s) { return timed(s.ms, 1); });
    text += fmt::format("{:10}", "between") +
            cells(steps, [&](const ProfiledStep& s) { return timed(s.between * s.ms, s.between); });
    text += fmt::format("{:10}", "barriers") + cells(steps, [](const ProfiledStep& s) {
                return fmt::format("{:.0f}        ", s.barriers);
            });
    return text + "\n";
}

}  // namespace

ProfiledStep profiled_step(const StepProfile& profile) {
    const auto n_steps = static_cast<double>(std::max<uint64_t>(1, profile.n_steps()));
    ProfiledStep step;
    step.n_steps = profile.n_steps();
    step.ms = static_cast<double>(profile.wall_ns()) / 1e6 / n_steps;
    for (size_t i = 0; i < kStepParts; ++i)
        step.part_ms[i] =
            static_cast<double>(profile.ns(part(i))) / 1e6 / n_steps / profile.n_workers();
    step.between = profile.share_between();
    step.barriers = static_cast<double>(profile.n_barriers()) / n_steps;
    return step;
}

Result<std::vector<ProfiledStep>> profile_steps(const BenchPlan& plan, const EngineOptions& engine,
                                                const Model& model, ThreadPool& pool,
                                                const KvSpec& kv) {
    StepProfile profile(pool.n_threads());
    KVIK_TRY(StepRig rig, StepRig::open(model, pool, kv,
                                        {.n_chunk_rows = engine.ubatch,
                                         .n_rows = plan.most_rows(),
                                         .context = engine.context,
                                         .profile = &profile}));
    ProgressLine progress;
    std::vector<ProfiledStep> steps;
    const auto measure = [&](std::string_view name, const StepRig::Rows& rows) -> Result<void> {
        progress.draw(fmt::format("{} of {} rows at depth {}", name, rows.n, rows.depth));
        KVIK_TRY_VOID(rig.step(rows));
        profile.clear();
        for (uint32_t run = 0; run < plan.n_runs; ++run) KVIK_TRY_VOID(rig.step_ms(rows));
        steps.push_back(profiled_step(profile));
        steps.back().step = name;
        steps.back().rows = rows.n;
        steps.back().depth = rows.depth;
        return {};
    };
    for (const uint32_t depth : plan.depths) {
        progress.draw(fmt::format("prefill to depth {}", depth));
        KVIK_TRY_VOID(rig.prefill_to(depth));
        for (const uint32_t m : plan.rows)
            KVIK_TRY_VOID(measure("decode", {.depth = depth, .n = m, .n_logits = m}));
        for (const uint32_t n : plan.prompts)
            KVIK_TRY_VOID(measure(
                "prefill", {.depth = depth, .n = std::min(n, engine.ubatch), .n_logits = 1}));
    }
    return steps;
}

std::string profile_table(std::span<const ProfiledStep> steps, double barrier_ns) {
    std::string text;
    for (size_t first = 0; first < steps.size();) {
        size_t last = first;
        while (last < steps.size() && steps[last].depth == steps[first].depth) ++last;
        text += table_of_depth(steps.subspan(first, last - first));
        first = last;
    }
    return text +
           fmt::format(
               "between: all but products with weights (qkv, output, gate_up, down, head) and "
               "attention\n"
               "a barrier at which all arrive at once: {:.2f} us\n",
               barrier_ns / 1000);
}

std::string profile_json(std::span<const ProfiledStep> steps, double barrier_ns) {
    Json list = Json::array();
    for (const ProfiledStep& s : steps) {
        Json parts = Json::object();
        for (size_t i = 0; i < kStepParts; ++i) parts[name_of(part(i))] = s.part_ms[i];
        list.push_back({{"step", s.step},
                        {"rows", s.rows},
                        {"depth", s.depth},
                        {"steps", s.n_steps},
                        {"ms", s.ms},
                        {"parts_ms", std::move(parts)},
                        {"between_percent", 100 * s.between},
                        {"barriers", s.barriers}});
    }
    return to_line(Json{{"barrier_us", barrier_ns / 1000}, {"steps", std::move(list)}});
}

}  // namespace kvik::cli
