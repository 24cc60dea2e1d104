#include "lab/eviction.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "lab/hit_bound.h"

namespace kvik::lab {
namespace {

constexpr EvictionPolicy kPolicies[] = {EvictionPolicy::lru, EvictionPolicy::fifo,
                                        EvictionPolicy::lfu, EvictionPolicy::cost};

constexpr double kAlike = 1.01;  // times that are this near are told as equal

Result<TraceResult> run_trace(Trace trace, const EvictionOptions& options) {
    TraceResult out{
        .trace = std::move(trace), .facts = {}, .unlimited = {}, .runs = {}, .most_percent = {}};
    out.facts = facts_of(out.trace);
    const uint32_t block_tokens = options.block_tokens;
    KVIK_TRY(out.unlimited, replay(out.trace, {.n_blocks = blocks_for_all(out.trace, block_tokens),
                                               .block_tokens = block_tokens}));
    for (const EvictionPolicy policy : kPolicies)
        for (const uint32_t n_tokens : options.cache_tokens) {
            if (options.progress)
                options.progress(fmt::format("{}: {} with {} tokens", out.trace.name,
                                             eviction_name(policy), n_tokens));
            KVIK_TRY(const ReplayResult result,
                     replay(out.trace, {.policy = policy,
                                        .n_blocks = n_tokens / block_tokens,
                                        .block_tokens = block_tokens}));
            out.runs.push_back({policy, n_tokens, result});
        }
    for (const uint32_t n_tokens : options.cache_tokens) {
        KVIK_TRY(const uint64_t most,
                 most_hit_tokens(out.trace, n_tokens / block_tokens, block_tokens));
        out.most_percent.push_back(100.0 * static_cast<double>(most) /
                                   static_cast<double>(out.facts.n_prompt_tokens));
    }
    return out;
}

// ---- in words and pictures ----

using Value = double (*)(const ReplayResult&);

std::vector<Series> series_of(const TraceResult& trace, Value value) {
    std::vector<Series> all;
    for (const EvictionRun& run : trace.runs) {
        const std::string name(eviction_name(run.policy));
        if (all.empty() || all.back().name != name) all.push_back({.name = name});
        all.back().x.push_back(run.cache_tokens);
        all.back().y.push_back(value(run.result));
    }
    return all;
}

const ReplayResult& result_of(const TraceResult& trace, EvictionPolicy policy, uint32_t n_tokens) {
    return std::find_if(trace.runs.begin(), trace.runs.end(),
                        [&](const EvictionRun& run) {
                            return run.policy == policy && run.cache_tokens == n_tokens;
                        })
        ->result;
}

// Where room is short but not hopeless.
uint32_t telling_size(const EvictionOptions& options) {
    return options.cache_tokens[options.cache_tokens.size() / 3];
}

std::string finding_of(const TraceResult& trace, uint32_t n_tokens) {
    std::string text =
        fmt::format("{}: a cache of {} tokens finds, and computing the rest of the prompts takes,",
                    trace.trace.name, n_tokens);
    double least_ms = std::numeric_limits<double>::infinity();
    for (const EvictionPolicy policy : kPolicies) {
        const ReplayResult& result = result_of(trace, policy, n_tokens);
        text +=
            fmt::format("{} {:.1f} % and {:.1f} s with {}", policy == kPolicies[0] ? "" : ",",
                        result.hit_percent(), result.recompute_ms / 1000, eviction_name(policy));
        least_ms = std::min(least_ms, result.recompute_ms);
    }
    std::vector<std::string_view> best;
    for (const EvictionPolicy policy : kPolicies)
        if (result_of(trace, policy, n_tokens).recompute_ms <= kAlike * least_ms)
            best.push_back(eviction_name(policy));
    return text + fmt::format(
                      ". {} {} within 1 % of the least. Without eviction it is {:.1f} % and "
                      "{:.1f} s.",
                      fmt::join(best, ", "), best.size() == 1 ? "is" : "are",
                      trace.unlimited.hit_percent(), trace.unlimited.recompute_ms / 1000);
}

Section section_of(const TraceResult& trace, const EvictionOptions& options) {
    const std::string& name = trace.trace.name;
    Chart hits{.name = "eviction-" + name + "-hits",
               .title = fmt::format("{}: tokens of prompts that were found", name),
               .caption = fmt::format("Without any eviction {:.1f} % are found. No policy can be "
                                      "above the dashed line, not even one that knows the future.",
                                      trace.unlimited.hit_percent()),
               .x_label = "tokens that the cache holds",
               .y_label = "percent",
               .x_scale = Scale::logarithmic,
               .series = series_of(trace, [](const ReplayResult& r) { return r.hit_percent(); })};
    Series most{.name = "bound", .stroke = Stroke::dashed};
    for (size_t i = 0; i < options.cache_tokens.size(); ++i) {
        most.x.push_back(options.cache_tokens[i]);
        most.y.push_back(trace.most_percent[i]);
    }
    hits.series.push_back(std::move(most));
    Chart times{
        .name = "eviction-" + name + "-recompute",
        .title = fmt::format("{}: time to compute what was not found", name),
        .caption = fmt::format("Without any eviction it is {:.1f} s.",
                               trace.unlimited.recompute_ms / 1000),
        .x_label = "tokens that the cache holds",
        .y_label = "s",
        .x_scale = Scale::logarithmic,
        .series = series_of(trace, [](const ReplayResult& r) { return r.recompute_ms / 1000; })};
    return {.heading = name,
            .paragraphs = {fmt::format("{} {} requests with {} tokens of prompts; the longest "
                                       "sequence has {}.",
                                       trace.trace.description, trace.facts.n_requests,
                                       trace.facts.n_prompt_tokens, trace.facts.longest)},
            .charts = {std::move(hits), std::move(times)},
            .tables = {}};
}

Table csv_of(const EvictionResult& result) {
    Table csv{.columns = {"trace", "cache_tokens", "policy", "prompt_tokens", "hit_tokens",
                          "hit_percent", "most_percent", "recompute_ms", "evicted_blocks"},
              .rows = {}};
    for (const TraceResult& trace : result.traces)
        for (const EvictionRun& run : trace.runs) {
            const auto& sizes = result.options.cache_tokens;
            const auto size = std::find(sizes.begin(), sizes.end(), run.cache_tokens);
            csv.rows.push_back(
                {trace.trace.name, std::to_string(run.cache_tokens),
                 std::string(eviction_name(run.policy)), std::to_string(run.result.n_prompt_tokens),
                 std::to_string(run.result.n_hit_tokens),
                 fmt::format("{:.2f}", run.result.hit_percent()),
                 fmt::format("{:.2f}",
                             trace.most_percent[static_cast<size_t>(size - sizes.begin())]),
                 fmt::format("{:.1f}", run.result.recompute_ms),
                 std::to_string(run.result.n_evicted_blocks)});
        }
    return csv;
}

}  // namespace

Result<EvictionResult> run_eviction(const EvictionOptions& options) {
    EvictionResult result{.options = options, .traces = {}};
    for (Trace& trace : all_traces(options.seed)) {
        KVIK_TRY(TraceResult one, run_trace(std::move(trace), options));
        result.traces.push_back(std::move(one));
    }
    return result;
}

Table eviction_table(const EvictionResult& result) {
    Table table{.columns = {"trace", "cache tokens"},
                .rows = {},
                .caption =
                    "hit: percent of the prompts' tokens that were found; bound: no policy "
                    "can find more; s: seconds to compute the rest; evicted: blocks."};
    for (const EvictionPolicy policy : kPolicies)
        for (const char* what : {"hit %", "s", "evicted"})
            table.columns.push_back(fmt::format("{} {}", eviction_name(policy), what));
    table.columns.emplace_back("bound %");
    for (const TraceResult& trace : result.traces)
        for (size_t i = 0; i < result.options.cache_tokens.size(); ++i) {
            const uint32_t n_tokens = result.options.cache_tokens[i];
            std::vector<std::string> row = {trace.trace.name, std::to_string(n_tokens)};
            for (const EvictionPolicy policy : kPolicies) {
                const ReplayResult& one = result_of(trace, policy, n_tokens);
                row.push_back(fmt::format("{:.1f}", one.hit_percent()));
                row.push_back(fmt::format("{:.1f}", one.recompute_ms / 1000));
                row.push_back(std::to_string(one.n_evicted_blocks));
            }
            row.push_back(fmt::format("{:.1f}", trace.most_percent[i]));
            table.rows.push_back(std::move(row));
        }
    return table;
}

Report eviction_report(const EvictionResult& result) {
    const EvictionOptions& options = result.options;
    Report report{.name = "eviction",
                  .title = "Which cached blocks should go first",
                  .findings = {},
                  .sections = {},
                  .csv = csv_of(result)};
    for (const TraceResult& trace : result.traces) {
        report.findings.push_back(finding_of(trace, telling_size(options)));
        report.sections.push_back(section_of(trace, options));
    }
    report.sections.push_back({.heading = "Every run",
                               .paragraphs = {},
                               .charts = {},
                               .tables = {eviction_table(result)}});
    report.sections.push_back(
        {.heading = "How it was done",
         .paragraphs = {fmt::format(
             "The traces are made from seed {}; they are replayed over a pool of blocks of {} "
             "tokens and a prefix tree, one request after the other, without a model. A token that "
             "is not found takes a made-up time: a quarter of a millisecond, and as much again for "
             "every 4000 tokens before it. lru evicts what was used least recently, fifo what was "
             "published first, lfu what was used least often, cost what is worth least: uses times "
             "time to compute again, over blocks, with a clock that lets old merits age.",
             options.seed, options.block_tokens)},
         .charts = {},
         .tables = {}});
    return report;
}

}  // namespace kvik::lab
