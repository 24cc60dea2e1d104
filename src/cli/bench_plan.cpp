#include "cli/bench_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/engine_settings.h"

namespace kvik::cli {
namespace {

constexpr uint32_t kPromptTokens = 512, kDecodeTokens = 128, kStreamTokens = 32;
const std::vector<uint32_t> kWidths = {1, 2, 4, 5, 8, 16};

uint32_t greatest(const std::vector<uint32_t>& values) {
    return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

std::vector<uint32_t> ascending(std::vector<uint32_t> values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
}

// Those of a flag, or the usual one; 0 tokens are none.
std::vector<uint32_t> lengths(const std::optional<std::vector<uint32_t>>& given, uint32_t usual) {
    std::vector<uint32_t> values = ascending(given.value_or(std::vector<uint32_t>{usual}));
    std::erase(values, 0u);
    return values;
}

Result<BenchPlan> plan_profile(const BenchOptions& options) {
    if (options.tests || options.decodes)
        return fail(ErrorKind::usage, "--profile runs no tests: leave out --test and -n");
    BenchPlan plan;
    plan.prompts = lengths(options.prompts, kPromptTokens);
    if (plan.prompts.size() > 1 || options.threads.size() > 1)
        return fail(ErrorKind::usage,
                    "--profile takes one length of a prompt (-p) and one number "
                    "of threads");
    plan.rows = ascending(options.widths.value_or(std::vector<uint32_t>{1}));
    plan.depths = ascending(options.depths);
    plan.n_runs = options.n_runs;
    if (plan.prompts.empty() && plan.rows.empty())
        return fail(ErrorKind::usage, "nothing to profile: give -p or -b");
    return plan;
}

}  // namespace

uint32_t BenchPlan::most_rows() const {
    return greatest(rows);
}

uint32_t BenchPlan::most_streams() const {
    return greatest(streams);
}

Result<BenchPlan> plan_bench(const BenchOptions& options) {
    if (options.profile) return plan_profile(options);
    const bool has_given = options.prompts || options.decodes || options.widths;
    const auto wants = [&](BenchTest test, bool is_given) {
        if (!options.tests) return is_given || !has_given;
        return std::find(options.tests->begin(), options.tests->end(), test) !=
               options.tests->end();
    };
    const std::vector<uint32_t> widths = ascending(options.widths.value_or(kWidths));
    BenchPlan plan;
    plan.depths = ascending(options.depths);
    plan.n_runs = options.n_runs;
    if (wants(BenchTest::pp, options.prompts.has_value()))
        plan.prompts = lengths(options.prompts, kPromptTokens);
    if (wants(BenchTest::tg, options.decodes.has_value()))
        plan.decodes = lengths(options.decodes, kDecodeTokens);
    if (wants(BenchTest::rows, options.widths.has_value())) plan.rows = widths;
    plan.n_stream_tokens = greatest(lengths(options.decodes, kStreamTokens));
    if (wants(BenchTest::streams, options.widths.has_value()) && plan.n_stream_tokens > 0)
        plan.streams = widths;
    if (plan.streams.empty()) plan.n_stream_tokens = 0;

    if (plan.rows.empty() && !plan.has_requests())
        return fail(ErrorKind::usage, "nothing to measure: give -p, -n or -b");
    return plan;
}

Result<uint32_t> context_for(const BenchPlan& plan, const EngineOptions& engine,
                             const ModelSpec& model) {
    const uint32_t needed =
        plan.deepest() + std::max({greatest(plan.prompts), greatest(plan.decodes) + 2,
                                   plan.n_stream_tokens + 2, plan.most_rows()});
    const bool is_given = engine.context > 0 && engine.context != kModelContext;
    const uint32_t most = is_given ? engine.context : model.context_length;
    if (needed > most)
        return fail(ErrorKind::usage,
                    fmt::format("-d {} with these -p, -n and -b needs a context of {}, there is {}",
                                plan.deepest(), needed, most));
    return is_given ? engine.context : engine.context == kModelContext ? most : needed;
}

}  // namespace kvik::cli
