// Verbs: what `kvik VERB ...` can do, a function and a file each; main.cpp has the table.
//
// Errors  an Error's kind is the exit code; main prints it. A verb returns an exit code otherwise.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "cli/flags.h"

namespace kvik::cli {

struct Call {
    std::span<const std::string> args;  // after the verb
    Environment environment;
};

Result<int> run(const Call& call);
Result<int> chat(const Call& call);
Result<int> show(const Call& call);
Result<int> tokenize(const Call& call);
Result<int> render_template(const Call& call);
Result<int> score(const Call& call);
Result<int> bench(const Call& call);

// Parses the call. A value: it asked for help, which has been shown; exit with it.
Result<std::optional<int>> begin(const Flags& flags, const Call& call);

}  // namespace kvik::cli
