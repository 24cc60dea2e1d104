#include "cli/doctor_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/json.h"
#include "cli/terminal.h"

namespace kvik::cli {
namespace {

constexpr uint32_t kLabel = 14;  // columns before what is known

double giga(double value) {
    return value / 1e9;
}

std::string rate_words(const Rate& rate, std::string_view unit, uint32_t n_threads) {
    return fmt::format("{:.1f} {} on 1 thread, {:.1f} on {}", giga(rate.one), unit, giga(rate.all),
                       n_threads);
}

// Labels at the left, and words that are broken where they would leave the line.
class Page {
  public:
    explicit Page(uint32_t columns) : columns_(std::max(columns, 40u)) {}

    void heading(std::string_view title) {
        text_ += fmt::format("{}{}\n", text_.empty() ? "" : "\n", title);
    }
    void line(std::string_view label, std::string_view words) {
        const std::string line = fmt::format("  {:<{}}{}", label, kLabel - 2, printable(words));
        text_ += wrapped(line, columns_, kLabel) + "\n";
    }
    // Columns of numbers, as they are.
    void row(std::string_view label, std::string_view numbers) {
        text_ += fmt::format("  {:<{}}{}\n", label, kLabel - 2, numbers);
    }
    const std::string& text() const { return text_; }

  private:
    uint32_t columns_;
    std::string text_;
};

std::string flag_words(const Machine& machine, bool present) {
    std::string words;
    for (const CpuFlag& flag : machine.flags)
        if (flag.present == present) words += (words.empty() ? "" : " ") + flag.name;
    return words.empty() ? "none" : words;
}

std::string core_words(const Machine& machine) {
    std::string words = fmt::format("{}", machine.n_cores);
    if (machine.n_allowed < machine.n_cores)
        words += fmt::format(", {} allowed", machine.n_allowed);
    if (machine.quota_cores) words += fmt::format(", quota {:.1f}", *machine.quota_cores);
    return words + fmt::format(", load {:.1f}", machine.load);
}

// Depths that the context allows.
size_t n_depths(const StepReport& steps) {
    const auto& all = StepCosts::kDepths;
    return std::max<size_t>(1,
                            std::lower_bound(all.begin(), all.end(), steps.context) - all.begin());
}

template <class Numbers>
std::string columns_of_numbers(const Numbers& numbers, int digits) {
    std::string words;
    for (const auto number : numbers)
        words += fmt::format("{:>7.{}f}", static_cast<double>(number), digits);
    return words;
}

void describe_steps(const StepReport& steps, Page& page) {
    page.heading("Milliseconds of a step");
    page.line("model", steps.model);
    if (!steps.costs) return page.line("", "not measured");
    const StepCosts& costs = *steps.costs;
    page.row("rows", columns_of_numbers(StepCosts::kTokens, 0));
    for (size_t d = 0; d < n_depths(steps); ++d)
        page.row(fmt::format("depth {}", StepCosts::kDepths[d]),
                 columns_of_numbers(costs.step_ms[d], 2));
    page.row("prompt rows", columns_of_numbers(StepCosts::kChunks, 0));
    page.row("", columns_of_numbers(costs.chunk_ms, 2));
    page.line("nearly free", fmt::format("{} rows take at most a quarter longer than one",
                                         costs.tokens_within(1.25, 0)));
}

Json steps_as_json(const std::optional<StepReport>& steps) {
    if (!steps) return {};
    Json json = {
        {"model", steps->model}, {"rows", StepCosts::kTokens},        {"depths", Json::array()},
        {"ms", Json::array()},   {"prompt_rows", StepCosts::kChunks}, {"prompt_ms", Json()}};
    if (!steps->costs) return json;
    for (size_t d = 0; d < n_depths(*steps); ++d) {
        json["depths"].push_back(StepCosts::kDepths[d]);
        json["ms"].push_back(steps->costs->step_ms[d]);
    }
    json["prompt_ms"] = steps->costs->chunk_ms;
    return json;
}

void describe_files(const ConfigFiles& files, Page& page) {
    page.heading("Files");
    if (files.config.empty()) {
        page.line("config", "none: no home folder");
    } else {
        page.line("config", fmt::format("{} ({})", files.config,
                                        files.config_error   ? "in error"
                                        : files.config_found ? "read"
                                                             : "not there"));
    }
    page.line("state", files.state.empty() ? "none: no home folder" : files.state);
    for (const std::string& variable : files.variables) page.line("variable", variable);
}

}  // namespace

std::vector<Advice> advise(const Diagnosis& diagnosis) {
    const Machine& machine = diagnosis.machine;
    std::vector<Advice> advice;
    const auto say = [&](std::string finding, std::string remedy) {
        advice.push_back({std::move(finding), std::move(remedy)});
    };
    if (diagnosis.files.config_error)
        say(*diagnosis.files.config_error, "mend the file; --no-config goes without it");
    for (const std::string& ignored : diagnosis.files.ignored_variables)
        say(ignored, "unset it, or give it its right name (kvik VERB --help)");
    const bool is_x86 = !machine.flags.empty();
    const bool has_avx2 = machine.has("avx2") && machine.has("fma") && machine.has("f16c");
    if (is_x86 && !has_avx2)
        say("this CPU lacks AVX2, FMA or F16C: kvik runs without vector instructions",
            "take a machine with AVX2; in a virtual machine, let it see the host's CPU");
    if (has_avx2 && diagnosis.choices.isa == "scalar")
        say("the CPU has AVX2, but plain C++ was asked for", "leave --isa and KVIK_ISA out");
    if (machine.quota_cores && *machine.quota_cores < machine.n_allowed)
        say(fmt::format("the quota of {:.1f} cores is below the {} that are visible",
                        *machine.quota_cores, machine.n_allowed),
            fmt::format("raise the container's CPU limit, or stay at --threads {:.0f}",
                        std::max(1.0, std::ceil(*machine.quota_cores))));
    if (diagnosis.choices.n_threads > machine.n_allowed)
        say(fmt::format("{} threads on {} cores wait for each other", diagnosis.choices.n_threads,
                        machine.n_allowed),
            fmt::format("lower --threads to {}", machine.n_allowed));
    if (machine.load > 1.5 * machine.n_allowed)
        say(fmt::format("{:.1f} tasks want {} cores: other programs slow kvik down", machine.load,
                        machine.n_allowed),
            "stop them, or measure when they are gone");
    const uint64_t needed = diagnosis.choices.cache_bytes + (1ull << 30);
    if (machine.available_bytes > 0 && machine.available_bytes < needed)
        say(fmt::format("{:.1f} GiB of memory are available: a model beside a cache of {:.1f} GiB "
                        "may not fit",
                        static_cast<double>(machine.available_bytes) / (1u << 30),
                        static_cast<double>(diagnosis.choices.cache_bytes) / (1u << 30)),
            "lower --cache-ram, or free some memory");
    if (machine.huge_pages == "never")
        say("huge pages are off: reading weights is slower",
            "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
    return advice;
}

std::string diagnosis_as_json(const Diagnosis& diagnosis) {
    const Machine& machine = diagnosis.machine;
    Json flags = Json::object();
    for (const CpuFlag& flag : machine.flags) flags[flag.name] = flag.present;
    const auto number = [](const auto& value) { return value ? Json(*value) : Json(); };
    const auto word = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
    const auto rate = [](const Rate& r) { return Json{{"one", r.one}, {"all", r.all}}; };
    Json warnings = Json::array();
    for (const Advice& advice : advise(diagnosis))
        warnings.push_back({{"finding", advice.finding}, {"remedy", advice.remedy}});
    const Choices& choices = diagnosis.choices;
    const ConfigFiles& files = diagnosis.files;
    return to_line({{"cpu",
                     {{"model", word(machine.cpu)},
                      {"flags", flags},
                      {"cores", machine.n_cores},
                      {"allowed_cores", machine.n_allowed},
                      {"quota_cores", number(machine.quota_cores)},
                      {"load", machine.load}}},
                    {"memory",
                     {{"bytes", machine.memory_bytes},
                      {"available_bytes", machine.available_bytes},
                      {"limit_bytes", number(machine.memory_limit_bytes)},
                      {"huge_pages", word(machine.huge_pages)}}},
                    {"measured",
                     {{"read_bytes_per_s", rate(diagnosis.ceilings.read_bytes_per_s)},
                      {"int8_ops_per_s", rate(diagnosis.ceilings.int8_ops_per_s)},
                      {"f32_ops_per_s", rate(diagnosis.ceilings.f32_ops_per_s)}}},
                    {"chosen",
                     {{"isa", choices.isa},
                      {"act", choices.act},
                      {"kv", choices.kv},
                      {"threads", choices.n_threads},
                      {"cache_bytes", choices.cache_bytes},
                      {"context", choices.context}}},
                    {"steps", steps_as_json(diagnosis.steps)},
                    {"files",
                     {{"config", word(files.config)},
                      {"config_found", files.config_found},
                      {"state", word(files.state)},
                      {"variables", files.variables}}},
                    {"warnings", warnings}});
}

std::string diagnosis_as_text(const Diagnosis& diagnosis, uint32_t columns) {
    const Machine& machine = diagnosis.machine;
    const auto gib = [](uint64_t bytes) {
        return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1u << 30));
    };
    Page page(columns);
    page.heading("Processor");
    page.line("model", machine.cpu.empty() ? "unknown" : machine.cpu);
    if (!machine.flags.empty()) {
        page.line("has", flag_words(machine, true));
        page.line("lacks", flag_words(machine, false));
    }
    page.line("cores", core_words(machine));

    page.heading("Memory");
    page.line("total", gib(machine.memory_bytes));
    page.line("available", gib(machine.available_bytes));
    if (machine.memory_limit_bytes) page.line("limit", gib(*machine.memory_limit_bytes));
    page.line("huge pages", machine.huge_pages.empty() ? "unknown" : machine.huge_pages);

    const Choices& choices = diagnosis.choices;
    page.heading("Measured");
    page.line("memory", rate_words(diagnosis.ceilings.read_bytes_per_s, "GB/s", choices.n_threads));
    page.line("int8", rate_words(diagnosis.ceilings.int8_ops_per_s, "GOP/s", choices.n_threads));
    page.line("f32", rate_words(diagnosis.ceilings.f32_ops_per_s, "GFLOP/s", choices.n_threads));

    page.heading("What kvik chooses");
    page.line("SIMD", choices.isa);
    page.line("threads", fmt::format("{}", choices.n_threads));
    page.line("activations", choices.act);
    page.line("KV cache", fmt::format("{}, {}", gib(choices.cache_bytes), choices.kv));
    page.line("context", choices.context);

    if (diagnosis.steps) describe_steps(*diagnosis.steps, page);
    describe_files(diagnosis.files, page);
    const auto advice = advise(diagnosis);
    page.heading(advice.empty() ? "Nothing to warn of" : "Warnings");
    for (const Advice& one : advice) {
        page.line("!", one.finding);
        page.line("  remedy", one.remedy);
    }
    return page.text();
}

}  // namespace kvik::cli
