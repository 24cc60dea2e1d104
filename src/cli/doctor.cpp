#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/doctor_report.h"
#include "cli/flags/inspect_flags.h"
#include "cli/model_choice.h"
#include "cli/suggest.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "engine/engine_settings.h"
#include "kernels/select.h"

namespace kvik::cli {
namespace {

// The variables that some verb reads.
std::vector<std::string> known_variables(const Call& call) {
    std::vector<std::string> names = {
        Flag{.name = "--config", .settable = Settable::anywhere}.variable()};
    for (const VerbKeys& verb : call.known_keys())
        for (const VerbKeys::Key& key : verb.keys) {
            const Flag flag{.name = "--" + key.name, .settable = key.settable};
            if (!flag.variable().empty()) names.push_back(flag.variable());
        }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

// Those of the process that look like ours: set, or ignored because nobody reads them.
void read_variables(const Call& call, ConfigFiles& files) {
    const std::vector<std::string> known = known_variables(call);
    for (char** entry = ::environ; *entry != nullptr; ++entry) {
        const std::string_view variable = *entry;
        const std::string_view name = variable.substr(0, variable.find('='));
        if (!name.starts_with("KVIK_") || name.size() + 1 >= variable.size()) continue;
        if (std::binary_search(known.begin(), known.end(), name)) {
            files.variables.emplace_back(variable);
        } else {
            const auto meant = nearest(name, known);
            files.ignored_variables.push_back(
                fmt::format("{} is read by nothing{}", name,
                            meant ? fmt::format(": did you mean {}?", *meant) : ""));
        }
    }
    std::sort(files.variables.begin(), files.variables.end());
}

// A configuration file in error is a finding here, where it ends any other verb.
Result<Parsed> parse(const Flags& flags, const Call& call, const ConfigChoice& choice,
                     ConfigFiles& files) {
    files.config = own_config_file(call.environment).value_or("");
    files.state = own_state_folder(call.environment).value_or("");
    std::optional<Error> broken;
    const auto read = [&]() -> Result<Settings> {
        if (choice.file) files.config = *choice.file;
        auto settings = read_settings(choice, call.environment);
        if (settings) files.config_found = !settings->file.empty();
        const auto checked =
            settings ? check_settings(*settings, call.known_keys()) : Result<void>();
        if (!settings) broken = settings.error();
        if (!checked) broken = checked.error();
        if (broken) return Settings();
        return settings;
    };
    auto parsed = flags.parse(call.args, call.environment, read);
    if (broken) files.config_error = broken->message;
    return parsed;
}

Result<Choices> make_choices(const EngineOptions& engine) {
    KVIK_TRY(const KernelTable* kernels, select_kernels(engine.isa));
    return Choices{.isa = kernels->name,
                   .act = engine.act.value_or(std::string(kDefaultAct)),
                   .kv = std::string(kv_type_name(engine.kv_type)),
                   .n_threads = engine.n_threads > 0 ? engine.n_threads : usable_cores(),
                   .cache_bytes = engine.cache_bytes,
                   .context = engine.context > 0
                                  ? fmt::format("{} tokens", engine.context)
                                  : fmt::format("the model's, at most {} tokens", kDefaultContext)};
}

// Measured now, like all else here, unless it is not to be; and kept for the other verbs.
Result<std::optional<StepReport>> measure_steps(EngineOptions engine, const Call& call) {
    if (engine.model_path.empty()) return std::nullopt;
    if (engine.calibrate == Calibrate::on) engine.calibrate = Calibrate::fresh;
    engine.costs_folder = own_cache_folder(call.environment).value_or("");
    KVIK_TRY(const auto opened, Engine::open(engine));
    return StepReport{.model = engine.model_path,
                      .context = opened->used().context,
                      .costs = opened->step_costs()};
}

}  // namespace

Result<int> doctor(const Call& call) {
    DoctorOptions options;
    EngineOptions& engine = options.engine;
    ConfigChoice choice;
    Flags flags = doctor_flags(options);
    if (call.inspect) {
        call.inspect(flags);
        return 0;
    }
    add_config_flags(flags, choice);
    Diagnosis diagnosis;
    KVIK_TRY(const Parsed parsed, parse(flags, call, choice, diagnosis.files));
    if (parsed == Parsed::help) {
        KVIK_TRY_VOID(flags.show_help());
        return 0;
    }
    if (!engine.model_path.empty()) {
        KVIK_TRY(const ChosenModel chosen, choose_model(engine.model_path, call.environment));
        engine.model_path = chosen.path;
    }
    KVIK_TRY(diagnosis.choices, make_choices(engine));
    read_variables(call, diagnosis.files);
    diagnosis.machine = look_at_machine();
    KVIK_TRY(const KernelTable* kernels, select_kernels(engine.isa));
    KVIK_TRY(const auto pool, ThreadPool::create(diagnosis.choices.n_threads));
    const uint64_t spare = std::max<uint64_t>(diagnosis.machine.available_bytes / 8, 1 << 20);
    KVIK_TRY(diagnosis.ceilings, measure_ceilings(*kernels, *pool, std::min(kReadBuffer, spare)));
    KVIK_TRY(diagnosis.steps, measure_steps(engine, call));
    KVIK_TRY_VOID(put(
        options.json ? diagnosis_as_json(diagnosis)
                     : diagnosis_as_text(diagnosis, std::min(columns_of(STDOUT_FILENO), 100u))));
    return 0;
}

}  // namespace kvik::cli
