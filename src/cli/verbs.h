// Verbs: what `kvik VERB ...` can do, a function and a file each; main.cpp has the table.
//
// Errors  an Error's kind is the exit code; main prints it. A verb returns an exit code otherwise.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/flags/flags.h"

namespace kvik::cli {

struct Call {
    std::span<const std::string> args;  // after the verb
    Environment environment;
    // What a configuration file may set: the keys of every verb.
    std::function<std::vector<VerbKeys>()> known_keys = {};
    // Set: the verb is only asked for its flags. begin() gives them and ends it.
    std::function<void(const Flags&)> inspect = {};
    bool is_handed_on = false;  // by another verb, which has said what is said of the flags
};

Result<int> run(const Call& call);
Result<int> chat(const Call& call);
Result<int> show(const Call& call);
Result<int> tokenize(const Call& call);
Result<int> render_template(const Call& call);
Result<int> score(const Call& call);
Result<int> bench(const Call& call);
Result<int> doctor(const Call& call);
Result<int> fsck(const Call& call);
Result<int> lab(const Call& call);
Result<int> list(const Call& call);
Result<int> pull(const Call& call);

// Parses the call, reads the configuration file and sets what it says. Comes first in every verb.
// A value: the call asked for help, which has been shown; exit with it.
Result<std::optional<int>> begin(const Flags& flags, const Call& call);

}  // namespace kvik::cli
