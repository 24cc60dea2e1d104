#include "lab/multiturn_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "lab/statistics.h"

namespace kvik::lab {
namespace {

constexpr double kMiB = 1 << 20;

// A number, or a dash where it was not measured.
std::string number(double value, int n_digits) {
    return value > 0 ? fmt::format("{:.{}f}", value, n_digits) : "-";
}
std::string cell(double value) {
    return value > 0 ? fmt::format("{:.3f}", value) : "";
}
double least(const std::vector<double>& values) {
    return values.empty() ? 0 : *std::min_element(values.begin(), values.end());
}
double most(const std::vector<double>& values) {
    return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

double speed_up(const Turn& turn) {
    return median_ratio(turn.off.first_ms, turn.on.first_ms);
}
double over_depth(const Turn& turn) {
    return median_ratio(turn.on.first_ms, turn.at_depth_ms);
}
bool has_on(const Turn& turn) {
    return !turn.on.first_ms.empty();
}
bool has_off(const Turn& turn) {
    return !turn.off.first_ms.empty();
}

std::vector<Turn> turns_of(const MultiturnResult& result, Part part) {
    std::vector<Turn> turns;
    for (const Turn& turn : result.turns)
        if (turn.part == part) turns.push_back(turn);
    return turns;
}

template <class Value>
Series series_of(std::string name, const std::vector<Turn>& turns, Value value,
                 Stroke stroke = Stroke::solid) {
    Series series{.name = std::move(name), .stroke = stroke};
    for (const Turn& turn : turns) {
        series.x.push_back(turn.number);
        series.y.push_back(value(turn));
    }
    return series;
}

Table csv_of(const MultiturnResult& result) {
    Table csv{.columns = {"part", "turn", "reuse", "prompt_tokens", "known_tokens", "reused_tokens",
                          "computed_tokens", "answer_tokens", "first_ms", "first_ms_min",
                          "first_ms_max", "total_ms", "total_ms_min", "total_ms_max", "at_depth_ms",
                          "first_over_depth", "speed_up", "kv_bytes", "logits_sha256"},
              .rows = {}};
    const auto add = [&](const Turn& turn, std::string_view reuse, const WayTimes& times) {
        const bool on = reuse == "on";
        const uint32_t n_reused = on ? turn.n_reused : 0;
        csv.rows.push_back(
            {std::string(part_name(turn.part)), std::to_string(turn.number), std::string(reuse),
             std::to_string(turn.n_prompt), on ? std::to_string(turn.n_known) : "",
             std::to_string(n_reused), std::to_string(turn.n_prompt - n_reused),
             std::to_string(turn.n_answer), cell(median(times.first_ms)),
             cell(least(times.first_ms)), cell(most(times.first_ms)), cell(median(times.total_ms)),
             cell(least(times.total_ms)), cell(most(times.total_ms)),
             on ? cell(median(turn.at_depth_ms)) : "", on ? cell(over_depth(turn)) : "",
             on ? cell(speed_up(turn)) : "", std::to_string(turn.kv_bytes), turn.logits_sha256});
    };
    for (const Turn& turn : result.turns) {
        if (has_on(turn)) add(turn, "on", turn.on);
        if (has_off(turn)) add(turn, "off", turn.off);
    }
    return csv;
}

std::string last_turn_finding(const Turn& last) {
    std::string text =
        fmt::format("Turn {} has a prompt of {} tokens.", last.number, last.n_prompt);
    if (has_on(last))
        text += fmt::format(
            " With reuse {} of them were found in the cache and the first token came after {:.1f} "
            "ms; computing {} tokens at depth {} takes {:.1f} ms, so reuse itself costs {:.2f} "
            "times that.",
            last.n_reused, median(last.on.first_ms), last.n_computed(), last.n_reused,
            median(last.at_depth_ms), over_depth(last));
    if (has_off(last))
        text += fmt::format(" Without reuse it came after {:.1f} ms.", median(last.off.first_ms));
    if (has_on(last) && has_off(last))
        text += fmt::format(" With reuse it came {:.1f} times sooner.", speed_up(last));
    return text;
}

std::string growth_finding(const std::vector<Turn>& turns) {
    uint64_t n_prompt = 0, n_computed = 0;
    double on_ms = 0, off_ms = 0;
    uint32_t n_hits = 0;
    for (const Turn& turn : turns) {
        n_prompt += turn.n_prompt;
        n_computed += turn.n_computed();
        n_hits += turn.n_reused > 0;
        on_ms += median(turn.on.total_ms);
        off_ms += median(turn.off.total_ms);
    }
    std::string text =
        fmt::format("The {} turns sent {} tokens of prompts.", turns.size(), n_prompt);
    if (has_on(turns.back()))
        text += fmt::format(
            " With reuse {} of these were computed ({} turns were hits) and all turns together, "
            "answers included, took {:.2f} s.",
            n_computed, n_hits, on_ms / 1000);
    if (has_off(turns.back()))
        text +=
            fmt::format(" Without reuse all of them were, and it took {:.2f} s.", off_ms / 1000);
    return text;
}

std::string edit_finding(const Turn& edit) {
    std::string text = fmt::format(
        "Message {} was edited near its end: the prompt of {} tokens differs from all that was "
        "computed at token {} for the first time, and was computed from token {} on",
        edit.number, edit.n_prompt, edit.n_known, edit.n_reused);
    if (edit.n_reused < edit.n_known)
        text += fmt::format(" ({} tokens lie between that and the resume point before it)",
                            edit.n_known - edit.n_reused);
    return text + ".";
}

std::string reset_finding(const Turn& reset, const Turn& back) {
    return fmt::format(
        "After the change of topic the history is gone: {} tokens, those of the system prompt, "
        "were "
        "found again. Going back to the first topic found {} of the {} tokens that had been "
        "computed.",
        reset.n_reused, back.n_reused, back.n_known);
}

std::vector<std::string> findings_of(const MultiturnResult& result) {
    const std::vector<Turn> grow = turns_of(result, Part::grow);
    std::vector<std::string> findings = {last_turn_finding(grow.back()), growth_finding(grow)};
    if (!has_on(grow.back())) return findings;
    findings.push_back(edit_finding(turns_of(result, Part::edit).front()));
    findings.push_back(
        reset_finding(turns_of(result, Part::reset).front(), turns_of(result, Part::back).front()));
    if (has_off(grow.back()))
        findings.push_back(
            "Every turn gave the same ids and the same bits of all logits both ways; the run would "
            "have ended with an error otherwise.");
    return findings;
}

Chart time_chart(const std::vector<Turn>& grow, std::string name, std::string title,
                 std::vector<double> WayTimes::*times) {
    Chart chart{.name = std::move(name),
                .title = std::move(title),
                .caption = {},
                .x_label = "turn",
                .y_label = "ms, median of the rounds",
                .x_scale = Scale::linear,
                .series = {}};
    if (has_off(grow.back()))
        chart.series.push_back(series_of(
            "without reuse", grow, [times](const Turn& turn) { return median(turn.off.*times); }));
    if (has_on(grow.back()))
        chart.series.push_back(series_of(
            "with reuse", grow, [times](const Turn& turn) { return median(turn.on.*times); }));
    return chart;
}

std::string from_to(std::string_view what, const std::vector<Turn>& grow,
                    double (*value)(const Turn&), std::string_view unit) {
    return fmt::format("{} goes from {:.1f} to {:.1f} {} between turn 1 and turn {}.", what,
                       value(grow.front()), value(grow.back()), unit, grow.size());
}

std::vector<Chart> charts_of(const std::vector<Turn>& grow) {
    std::vector<Chart> charts;
    charts.push_back(
        time_chart(grow, "multiturn-first-token", "Time to the first token", &WayTimes::first_ms));
    Chart& first = charts.back();
    if (has_off(grow.back()))
        first.caption += from_to(
            "Without reuse the whole history is computed each time: it", grow,
            [](const Turn& t) { return median(t.off.first_ms); }, "ms");
    if (has_on(grow.back())) {
        first.series.push_back(series_of(
            "as many new tokens at that depth", grow,
            [](const Turn& turn) { return median(turn.at_depth_ms); }, Stroke::dashed));
        first.caption += from_to(
            " With reuse only what is new is computed, at a growing depth: it", grow,
            [](const Turn& t) { return median(t.on.first_ms); }, "ms");
    }
    charts.push_back(
        time_chart(grow, "multiturn-total", "Time of the whole turn", &WayTimes::total_ms));
    charts.back().caption =
        "The time to the first token and that of the answer together. The answer takes as long "
        "either way.";
    Chart tokens{.name = "multiturn-tokens",
                 .title = "Tokens of the prompt that were computed",
                 .caption = fmt::format("A prompt of turn {} has {} tokens; what lies between both "
                                        "lines was not computed a second time.",
                                        grow.size(), grow.back().n_prompt),
                 .x_label = "turn",
                 .y_label = "tokens"};
    tokens.series.push_back(
        series_of("without reuse", grow, [](const Turn& turn) { return turn.n_prompt; }));
    if (has_on(grow.back()))
        tokens.series.push_back(
            series_of("with reuse", grow, [](const Turn& turn) { return turn.n_computed(); }));
    charts.push_back(std::move(tokens));
    charts.push_back(
        {.name = "multiturn-kv",
         .title = "KV of the conversation at the end of the turn",
         .caption = from_to(
             "It", grow, [](const Turn& t) { return static_cast<double>(t.kv_bytes) / kMiB; },
             "MiB"),
         .x_label = "turn",
         .y_label = "MiB",
         .x_scale = Scale::linear,
         .series = {series_of("KV", grow, [](const Turn& turn) {
             return static_cast<double>(turn.kv_bytes) / kMiB;
         })}});
    return charts;
}

std::string how_measured(const MultiturnResult& result, const MeasuredOn& on) {
    return fmt::format(
        "{} on {}: {}, {} threads, {} KV in blocks of {} tokens ({} bytes), {} activations. "
        "Medians "
        "of {} rounds; in a round each turn is asked in every way by turns, on one engine, "
        "greedily, "
        "with answers of {} tokens, end tokens ignored. A ratio is taken within a round. {}",
        on.model, on.machine, on.used.isa, on.used.n_threads, on.used.kv, on.block_tokens,
        on.block_bytes, on.used.act, on.n_rounds, result.turns.front().n_answer,
        result.raw ? "The model has no chat template: turns are raw text."
                   : "Turns are rendered by the chat template.");
}

}  // namespace

Table multiturn_table(const MultiturnResult& result) {
    Table table{
        .columns = {"part", "turn", "prompt", "known", "reused", "computed", "first ms", "no reuse",
                    "speed-up", "at depth", "ratio", "total ms", "no reuse", "KV MiB"},
        .rows = {},
        .caption =
            "known: the longest prefix of the prompt that was computed before; at "
            "depth: computing as many tokens after as many; ratio: first ms over that."};
    for (const Turn& turn : result.turns)
        table.rows.push_back({std::string(part_name(turn.part)), std::to_string(turn.number),
                              std::to_string(turn.n_prompt), std::to_string(turn.n_known),
                              std::to_string(turn.n_reused), std::to_string(turn.n_computed()),
                              number(median(turn.on.first_ms), 1),
                              number(median(turn.off.first_ms), 1), number(speed_up(turn), 2),
                              number(median(turn.at_depth_ms), 1), number(over_depth(turn), 2),
                              number(median(turn.on.total_ms), 1),
                              number(median(turn.off.total_ms), 1),
                              number(static_cast<double>(turn.kv_bytes) / kMiB, 1)});
    return table;
}

Report multiturn_report(const MultiturnResult& result, const MeasuredOn& on) {
    const std::vector<Turn> grow = turns_of(result, Part::grow);
    Report report{.name = "multiturn",
                  .title = fmt::format("A conversation of {} turns, with and without reuse of KV",
                                       grow.size()),
                  .findings = findings_of(result),
                  .sections = {},
                  .csv = csv_of(result)};
    report.sections.push_back({.heading = "The growing conversation",
                               .paragraphs = {},
                               .charts = charts_of(grow),
                               .tables = {}});
    report.sections.push_back(
        {.heading = "Every turn",
         .paragraphs = {"grow: the conversation grows. edit: an earlier message is changed, and "
                        "answered anew. reset: another topic, without the history. back: the first "
                        "conversation goes on."},
         .charts = {},
         .tables = {multiturn_table(result)}});
    report.sections.push_back({.heading = "How it was measured",
                               .paragraphs = {how_measured(result, on)},
                               .charts = {},
                               .tables = {}});
    return report;
}

}  // namespace kvik::lab
