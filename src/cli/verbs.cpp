#include "cli/verbs.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/flags/options.h"
#include "cli/model_choice.h"
#include "cli/pull_model.h"
#include "cli/terminal.h"
#include "hub/repo_request.h"

namespace kvik::cli {

// The model of -hf NAME: what is here, else what Hugging Face has.
static Result<ChosenModel> fetch_model(const std::string& name, bool is_offline,
                                       const Environment& environment) {
    KVIK_TRY_VOID(hub::parse_repo_request(name));
    KVIK_TRY(const std::optional<ChosenModel> here, find_model(name, environment));
    if (here) return *here;
    if (const std::string who = offline_by(is_offline, environment); !who.empty())
        return fail(ErrorKind::file,
                    fmt::format("no model {} is here, and {} forbids to fetch it: without that, "
                                "-hf or kvik pull {} fetches it; kvik list shows what is here",
                                name, who, name));
    Interrupts interrupts;
    KVIK_TRY(const hub::PulledModel pulled, pull_model({.name = name}, environment, interrupts));
    return ChosenModel{.path = pulled.path};
}

// A name that stands for a model becomes its path. What such a model comes with a default.
static Result<Settings> place_model(const ModelTarget& target, const Call& call) {
    if (target.path == nullptr) return Settings();
    KVIK_TRY(ChosenModel chosen,
             target.fetch->is_asked
                 ? fetch_model(*target.path, target.fetch->is_offline, call.environment)
                 : choose_model(*target.path, call.environment));
    *target.path = chosen.path;
    if (target.system == nullptr)
        chosen.notes.resize(std::min(chosen.notes.size(), chosen.n_path_notes));
    else if (!chosen.system.empty())
        *target.system = chosen.system;
    if (target.chosen != nullptr) *target.chosen = chosen;
    const bool has_json =
        std::find(call.args.begin(), call.args.end(), "--json") != call.args.end();
    // The verb that was called first has told them.
    if (!has_json && !call.is_handed_on)
        for (const std::string& line : chosen.notes) note_line("kvik: " + printable(line));
    return target.system != nullptr ? defaults_of(chosen) : Settings();
}

Result<std::optional<int>> begin(const Flags& flags, const Call& call) {
    if (call.inspect) {
        call.inspect(flags);
        return 0;
    }
    ConfigChoice choice;
    Flags all = flags;
    add_config_flags(all, choice);
    if (call.is_handed_on) all.leave_idle_untold();
    const auto read_file = [&]() -> Result<Settings> {
        KVIK_TRY(Settings settings, read_settings(choice, call.environment));
        if (!settings.entries.empty()) KVIK_TRY_VOID(check_settings(settings, call.known_keys()));
        return settings;
    };
    const auto read_defaults = [&] { return place_model(flags.model(), call); };
    KVIK_TRY(const Parsed parsed, all.parse(call.args, call.environment, read_file, read_defaults));
    if (parsed == Parsed::ready) return std::nullopt;
    KVIK_TRY_VOID(all.show_help());
    return 0;
}

}  // namespace kvik::cli
