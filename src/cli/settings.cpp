#include "cli/settings.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/ids.h"
#include "cli/suggest.h"

namespace kvik::cli {
namespace {

constexpr size_t kMostBytes = 1 << 20;

// The XDG base directory specification: a path that is not absolute is ignored.
std::optional<std::string> base_folder(const Environment& environment, const char* variable,
                                       const char* below_home) {
    const auto named = environment(variable);
    if (named && named->starts_with('/')) return named;
    const auto home = environment("HOME");
    if (!home || !home->starts_with('/')) return std::nullopt;
    return *home + below_home;
}

std::string hint(std::string_view word, const std::vector<std::string>& known) {
    const auto meant = nearest(word, known);
    return meant ? fmt::format("did you mean {}?", *meant)
                 : "kvik VERB --help lists the flags that a file may set";
}

// Among these verbs: the widest that the key may be set.
std::optional<Settable> find_key(std::span<const VerbKeys> verbs, std::string_view name) {
    std::optional<Settable> found;
    for (const VerbKeys& verb : verbs)
        for (const VerbKeys::Key& key : verb.keys)
            if (key.name == name && (!found || key.settable > *found)) found = key.settable;
    return found;
}

Result<void> check_key(const TomlEntry& entry, std::string_view place,
                       std::span<const VerbKeys> verbs, Settable least) {
    const auto refuse = [&](std::string_view what) {
        return fail(ErrorKind::usage, fmt::format("{}: '{}' {}", place, entry.key, what));
    };
    const auto found = find_key(verbs, entry.key);
    if (found && *found >= least) return {};
    if (found && *found == Settable::per_verb)
        return refuse("is a key of a verb's table, not of the file's top");
    if (found)
        return refuse(fmt::format("is no setting: it is given as an argument, {}{}",
                                  entry.key.size() == 1 ? "-" : "--", entry.key));
    std::vector<std::string> known;
    for (const VerbKeys& verb : verbs)
        for (const VerbKeys::Key& key : verb.keys)
            if (key.settable >= least) known.push_back(key.name);
    return refuse(fmt::format(
        "is no key {}: {}",
        entry.table.empty() ? "of a configuration file" : fmt::format("of [{}]", entry.table),
        hint(entry.key, known)));
}

}  // namespace

std::optional<std::string> own_config_file(const Environment& environment) {
    const auto folder = base_folder(environment, "XDG_CONFIG_HOME", "/.config");
    return folder ? std::optional(*folder + "/kvik/config.toml") : std::nullopt;
}

std::optional<std::string> own_state_folder(const Environment& environment) {
    const auto folder = base_folder(environment, "XDG_STATE_HOME", "/.local/state");
    return folder ? std::optional(*folder + "/kvik") : std::nullopt;
}

std::optional<std::string> own_cache_folder(const Environment& environment) {
    const auto folder = base_folder(environment, "XDG_CACHE_HOME", "/.cache");
    return folder ? std::optional(*folder + "/kvik") : std::nullopt;
}

Result<Settings> read_settings(const ConfigChoice& choice, const Environment& environment) {
    if (choice.none) {
        if (choice.file && choice.file != environment("KVIK_CONFIG"))
            return fail(ErrorKind::usage, "give --config or --no-config, not both");
        return Settings();
    }
    std::optional<std::string> path = choice.file;
    if (!path) {
        path = own_config_file(environment);
        if (!path || ::access(path->c_str(), F_OK) != 0) return Settings();
    }
    const auto text = read_file(*path);
    if (!text)
        return fail(text.error().kind, fmt::format("{} (configuration file; --no-config goes "
                                                   "without)",
                                                   text.error().message));
    if (text->size() > kMostBytes)
        return fail(ErrorKind::file, fmt::format("{}: {} bytes are no configuration file, {} are "
                                                 "the most",
                                                 *path, text->size(), kMostBytes));
    Settings settings{.file = *path, .entries = {}};
    KVIK_TRY(settings.entries, read_toml(*text, *path));
    return settings;
}

Result<void> check_settings(const Settings& settings, std::span<const VerbKeys> verbs) {
    for (const TomlEntry& entry : settings.entries) {
        const std::string place = fmt::format("{}:{}", settings.file, entry.line);
        if (entry.table.empty()) {
            KVIK_TRY_VOID(check_key(entry, place, verbs, Settable::anywhere));
            continue;
        }
        const auto verb = std::find_if(verbs.begin(), verbs.end(),
                                       [&](const auto& v) { return v.verb == entry.table; });
        if (verb != verbs.end()) {
            if (!entry.key.empty())
                KVIK_TRY_VOID(check_key(entry, place, {&*verb, 1}, Settable::per_verb));
            continue;
        }
        std::vector<std::string> names;
        for (const VerbKeys& known : verbs) names.push_back(known.verb);
        return fail(ErrorKind::usage, fmt::format("{}: [{}] is no verb of kvik: {}", place,
                                                  entry.table, hint(entry.table, names)));
    }
    return {};
}

}  // namespace kvik::cli
