#include "cli/verbs.h"

#include <algorithm>

#include "cli/flags/options.h"
#include "cli/model_choice.h"
#include "cli/terminal.h"

namespace kvik::cli {

// A name that stands for a model becomes its path, and what such a model comes with a default.
static Result<void> place_model(const ModelTarget& target, const Call& call, Settings& settings) {
    if (target.path == nullptr || target.path->empty()) return {};
    KVIK_TRY(ChosenModel chosen, choose_model(*target.path, call.environment));
    *target.path = chosen.path;
    if (target.system != nullptr) {
        add_defaults(chosen, settings);
        if (!chosen.system.empty()) *target.system = chosen.system;
    } else {
        chosen.notes.resize(std::min(chosen.notes.size(), chosen.n_path_notes));
    }
    if (call.is_handed_on) return {};  // the verb that was called first has told them
    if (std::find(call.args.begin(), call.args.end(), "--json") != call.args.end()) return {};
    for (const std::string& line : chosen.notes) note_line("kvik: " + printable(line));
    return {};
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
    const auto read = [&]() -> Result<Settings> {
        KVIK_TRY(Settings settings, read_settings(choice, call.environment));
        if (!settings.entries.empty()) KVIK_TRY_VOID(check_settings(settings, call.known_keys()));
        KVIK_TRY_VOID(place_model(flags.model(), call, settings));
        return settings;
    };
    KVIK_TRY(const Parsed parsed, all.parse(call.args, call.environment, read));
    if (parsed == Parsed::ready) return std::nullopt;
    KVIK_TRY_VOID(all.show_help());
    return 0;
}

}  // namespace kvik::cli
