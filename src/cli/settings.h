// Settings: what the user's configuration file says, checked against the flags there are.
//
// Shape   TOML. A key is a flag's name without dashes; keys at the top are for every verb that has
//         the flag, those of a table [run] for that verb, and the table's beat the top's.
// Owner   plain values.
// Errors  ErrorKind::file: a file that was asked for is missing, or one cannot be read. ErrorKind::
//         usage: an unknown key or table, naming file, line and the nearest known one.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/toml.h"

namespace kvik::cli {

using Environment = std::function<std::optional<std::string>(const std::string& name)>;

// Where a flag may be set besides the command line.
enum class Settable : uint8_t {
    as_argument,  // nowhere
    per_verb,     // in the verb's table of the configuration file
    anywhere,     // there, at the file's top, and by the variable KVIK_NAME
};

struct VerbKeys {
    struct Key {
        std::string name;
        Settable settable;
    };
    std::string verb;
    std::vector<Key> keys;
};

struct Settings {
    std::string file;  // empty: there is none
    std::vector<TomlEntry> entries;
    std::string defaults_of;  // what the entries of line 0 come from: a model (model_choice.h)
};

// Which file is read: the named one, else the user's own if there is one.
struct ConfigChoice {
    std::optional<std::string> file;
    bool none = false;
};

// $XDG_CONFIG_HOME/kvik/config.toml, else ~/.config/kvik/config.toml; nothing without a home.
std::optional<std::string> own_config_file(const Environment& environment);
// Where what the program remembers goes: $XDG_STATE_HOME/kvik, else ~/.local/state/kvik.
std::optional<std::string> own_state_folder(const Environment& environment);
// Where what can be found out again goes: $XDG_CACHE_HOME/kvik, else ~/.cache/kvik.
std::optional<std::string> own_cache_folder(const Environment& environment);

Result<Settings> read_settings(const ConfigChoice& choice, const Environment& environment);
Result<void> check_settings(const Settings& settings, std::span<const VerbKeys> verbs);

}  // namespace kvik::cli
