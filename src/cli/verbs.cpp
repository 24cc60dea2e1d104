#include "cli/verbs.h"

namespace kvik::cli {

void add_config_flags(Flags& flags, ConfigChoice& choice) {
    flags.heading("Configuration: arguments beat KVIK_* variables beat the file");
    flags.add({.name = "--config",
               .value = "FILE",
               .help = "instead of ~/.config/kvik/config.toml",
               .set = into(choice.file),
               .settable = Settable::anywhere});
    flags.add({.name = "--no-config", .help = "no file at all", .set = turn_on(choice.none)});
}

Result<std::optional<int>> begin(const Flags& flags, const Call& call) {
    if (call.inspect) {
        call.inspect(flags);
        return 0;
    }
    ConfigChoice choice;
    Flags all = flags;
    add_config_flags(all, choice);
    const auto read = [&]() -> Result<Settings> {
        KVIK_TRY(Settings settings, read_settings(choice, call.environment));
        if (!settings.entries.empty()) KVIK_TRY_VOID(check_settings(settings, call.known_keys()));
        return settings;
    };
    KVIK_TRY(const Parsed parsed, all.parse(call.args, call.environment, read));
    if (parsed == Parsed::ready) return std::nullopt;
    KVIK_TRY_VOID(all.show_help());
    return 0;
}

}  // namespace kvik::cli
