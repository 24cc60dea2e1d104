#include "cli/verbs.h"

#include "cli/terminal.h"

namespace kvik::cli {

Result<std::optional<int>> begin(const Flags& flags, const Call& call) {
    KVIK_TRY(const Parsed parsed, flags.parse(call.args, call.environment));
    if (parsed == Parsed::ready) return std::nullopt;
    KVIK_TRY_VOID(put(flags.help()));
    return 0;
}

}  // namespace kvik::cli
