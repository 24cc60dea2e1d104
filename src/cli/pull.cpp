#include <fmt/format.h>

#include "cli/flags/inspect_flags.h"
#include "cli/json.h"
#include "cli/terminal.h"
#include "cli/verbs.h"

namespace kvik::cli {

Result<int> pull(const Call& call) {
    PullOptions options;
    const Flags flags = pull_flags(options);
    KVIK_TRY(const auto shown, begin(flags, call));
    if (shown) return *shown;
    Interrupts interrupts;
    KVIK_TRY(const hub::PulledModel pulled, pull_model(options.wish, call.environment, interrupts));
    if (options.json) {
        KVIK_TRY_VOID(put(to_line({{"name", pulled.name},
                                   {"path", pulled.path},
                                   {"commit", pulled.commit},
                                   {"files", pulled.n_files},
                                   {"bytes", pulled.bytes},
                                   {"fetched_bytes", pulled.fetched_bytes}})));
        return 0;
    }
    KVIK_TRY_VOID(put(pulled.path + "\n"));
    note(fmt::format("kvik: {} ({}), now: kvik chat {}\n",
                     pulled.fetched_bytes > 0 ? "fetched" : "it was here already",
                     human_bytes(pulled.bytes), printable(pulled.name)));
    return 0;
}

}  // namespace kvik::cli
