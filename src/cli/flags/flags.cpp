#include "cli/flags/flags.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "cli/suggest.h"
#include "cli/terminal.h"

namespace kvik::cli {
namespace {

// Named in the documentation for later: an answer better than "did you mean".
constexpr std::array<std::string_view, 2> kLater = {"--k", "--verify"};

constexpr uint32_t kLeastHelpColumns = 24;  // beside the names of flags

tl::unexpected<Error> at(std::string_view where, Error error) {
    error.message = fmt::format("{}: {}", where, error.message);
    return tl::unexpected(std::move(error));
}

// "-c, --ctx N": of its other names the short ones.
std::string left_column(const Flag& flag) {
    std::string text;
    for (const std::string& alias : flag.aliases)
        if (alias.size() == 2) text += alias + ", ";
    text += flag.name;
    return flag.is_switch() ? text : text + " " + flag.value;
}

// llama.cpp takes --n_predict for --n-predict.
std::string with_dashes(std::string_view name) {
    std::string text(name);
    if (name.starts_with("--")) std::replace(text.begin(), text.end(), '_', '-');
    return text;
}

Result<bool> parse_truth(std::string_view text) {
    bool truth = false;
    KVIK_TRY_VOID(
        choose(truth, {{"true", true}, {"false", false}, {"1", true}, {"0", false}})(text));
    return truth;
}

Result<void> set_switch(const Flag& flag, bool on) {
    return on ? flag.set({}) : Result<void>();
}

// The text of a variable.
Result<void> set_from_text(const Flag& flag, std::string_view text) {
    if (!flag.is_switch()) return flag.set(text);
    KVIK_TRY(const bool on, parse_truth(text));
    return set_switch(flag, on);
}

// The value of a configuration file.
Result<void> set_from_entry(const Flag& flag, const TomlEntry& entry) {
    const auto refuse = [](std::string_view what) {
        return fail(ErrorKind::usage, std::string(what));
    };
    if (const bool* on = std::get_if<bool>(&entry.value)) {
        if (flag.is_switch()) return set_switch(flag, *on);
        return refuse(fmt::format("true and false are for switches, this needs {}", flag.value));
    }
    if (flag.is_switch()) return refuse("a switch is true or false");
    if (const auto* text = std::get_if<std::string>(&entry.value)) return flag.set(*text);
    const auto& list = std::get<std::vector<std::string>>(entry.value);
    if (flag.times == Times::once) return flag.set(fmt::format("{}", fmt::join(list, ",")));
    for (const std::string& part : list) KVIK_TRY_VOID(flag.set(part));
    return {};
}

}  // namespace

bool Flag::has_name(std::string_view other) const {
    return name == other || std::find(aliases.begin(), aliases.end(), other) != aliases.end();
}

std::string Flag::key() const {
    return name.substr(std::min(name.find_first_not_of('-'), name.size()));
}

std::string Flag::variable() const {
    if (settable != Settable::anywhere) return {};
    std::string text = "KVIK_" + key();
    for (char& c : text) c = c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
    return text;
}

Flags::Flags(std::string verb, std::string summary)
    : verb_(std::move(verb)), summary_(std::move(summary)) {}

void Flags::heading(std::string title) {
    heading_ = std::move(title);
}
void Flags::add(Flag flag) {
    entries_.push_back({std::move(flag), heading_});
}
void Flags::argument(Positional positional) {
    positionals_.push_back(std::move(positional));
}
void Flags::set_model(ModelTarget target) {
    model_ = target;
}
void Flags::epilogue(std::string text) {
    epilogue_ = std::move(text);
}
void Flags::check(std::function<Result<void>()> check) {
    checks_.push_back(std::move(check));
}

bool Flags::is_given(const Given& given, std::string_view name) {
    return std::any_of(given.begin(), given.end(),
                       [&](const GivenFlag& one) { return one.flag->name == name; });
}

const Flag* Flags::find(std::string_view name) const {
    const std::string spelled = with_dashes(name);
    const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
        return entry.flag.has_name(spelled);
    });
    return found == entries_.end() ? nullptr : &found->flag;
}

Error Flags::unknown(std::string_view name) const {
    if (std::find(kLater.begin(), kLater.end(), name) != kLater.end())
        return {ErrorKind::unsupported, fmt::format("{} is not available in this version", name)};
    std::vector<std::string> names;
    for (const Entry& entry : entries_)
        if (entry.flag.standing == Standing::shown) names.push_back(entry.flag.name);
    const auto meant = nearest(name, names);
    const std::string hint =
        meant ? fmt::format("did you mean {}?", *meant) : fmt::format("see kvik {} --help", verb_);
    return {ErrorKind::usage, fmt::format("{} has no flag {}: {}", verb_, name, hint)};
}

// Where a surplus argument may belong.
std::string Flags::misplaced() const {
    if (positionals_.size() > 1) return "(quote a text of several words)";
    if (find("--text") != nullptr) return "(a text goes after --text)";
    if (find("--file") != nullptr) return "(a text goes in a file, --file F, or to --file -)";
    return fmt::format("(see kvik {} --help)", verb_);
}

// The words that are no flags, one after the other; a positional that a flag gave is passed over.
Result<void> Flags::place(std::span<const std::string_view> words, const Given& given) const {
    size_t n_placed = 0;
    for (const Positional& positional : positionals_) {
        const bool has_flag =
            std::any_of(positional.flags.begin(), positional.flags.end(),
                        [&](const std::string& flag) { return is_given(given, flag); });
        if (has_flag) continue;
        if (n_placed == words.size()) {
            if (positional.presence == Presence::optional) continue;
            return fail(ErrorKind::usage,
                        fmt::format("{} is missing: see kvik {} --help", positional.name, verb_));
        }
        auto set = positional.set(words[n_placed++]);
        if (!set) return at(positional.name, std::move(set).error());
    }
    if (n_placed == words.size()) return {};
    return fail(ErrorKind::usage,
                fmt::format("unexpected argument '{}' {}", words[n_placed], misplaced()));
}

bool Flags::knows(std::string_view arg) const {
    return find(arg.substr(0, arg.find('='))) != nullptr;
}

// Whether the word after args[i] is its value.
bool Flags::takes_next(const Flag& flag, std::span<const std::string> args, size_t i) const {
    if (i + 1 == args.size()) return false;
    const std::string& next = args[i + 1];
    if (!flag.words.empty())
        return std::find(flag.words.begin(), flag.words.end(), next) != flag.words.end();
    return find(next) == nullptr;
}

void Flags::tell_idle(const Given& given) const {
    std::vector<std::string_view> reasons;
    for (const GivenFlag& one : given)
        if (one.flag->standing == Standing::idle &&
            std::find(reasons.begin(), reasons.end(), one.flag->why) == reasons.end())
            reasons.push_back(one.flag->why);
    std::vector<std::string> parts;
    for (const std::string_view reason : reasons) {
        std::vector<std::string_view> names;
        for (const GivenFlag& one : given)
            if (one.flag->standing == Standing::idle && one.flag->why == reason)
                names.push_back(one.typed);
        parts.push_back(fmt::format("{} {} nothing here{}{}", fmt::join(names, ", "),
                                    names.size() == 1 ? "changes" : "change",
                                    reason.empty() ? "" : ": ", reason));
    }
    if (!parts.empty()) note(fmt::format("kvik: {}\n", fmt::join(parts, "; ")));
}

// Reads the flag at args[i], and its value; the index of the last word that belongs to it.
Result<size_t> Flags::take_flag(std::span<const std::string> args, size_t i, Given& given) const {
    const std::string_view arg = args[i];
    const size_t equals = arg.find('=');
    GivenFlag one{.flag = nullptr, .typed = arg.substr(0, equals)};
    one.flag = find(one.typed);
    if (one.flag == nullptr) return tl::unexpected(unknown(one.typed));
    if (equals != std::string_view::npos) {
        one.value = arg.substr(equals + 1);
        // Where a file may say true, an argument must be able to say false.
        if (one.flag->is_switch() && one.flag->settable == Settable::as_argument)
            return fail(ErrorKind::usage, fmt::format("{} takes no value", one.typed));
    } else if (!one.flag->is_switch() && takes_next(*one.flag, args, i)) {
        one.value = args[++i];
    } else if (!one.flag->is_switch() && one.flag->words.empty()) {
        return fail(ErrorKind::usage,
                    fmt::format("{0} needs a value: {0} {1}", one.typed, one.flag->value));
    }
    if (one.flag->times == Times::once)
        std::erase_if(given, [&](const GivenFlag& before) { return before.flag == one.flag; });
    given.push_back(one);
    return i;
}

Result<void> Flags::set_given(const GivenFlag& one) {
    Result<void> set;
    if (!one.flag->is_switch())
        set = one.flag->set(one.value.value_or(std::string_view()));
    else
        set = one.value ? set_from_text(*one.flag, *one.value) : set_switch(*one.flag, true);
    return set ? set : at(one.typed, std::move(set).error());
}

Result<void> Flags::read_environment(const Environment& environment, Given& given) const {
    for (const Entry& entry : entries_) {
        const Flag& flag = entry.flag;
        const std::string variable = flag.variable();
        if (variable.empty() || is_given(given, flag.name)) continue;
        const auto value = environment(variable);
        if (!value || value->empty()) continue;
        auto set = set_from_text(flag, *value);
        if (!set) return at(variable, std::move(set).error());
        given.push_back({.flag = &flag, .typed = flag.name});
    }
    return {};
}

Result<void> Flags::take_settings(const ReadSettings& read, Given& given) const {
    if (!read) return {};
    KVIK_TRY(const Settings settings, read());
    for (const Entry& entry : entries_) {
        const Flag& flag = entry.flag;
        if (flag.settable == Settable::as_argument || is_given(given, flag.name)) continue;
        const TomlEntry* found = nullptr;  // the verb's own, else the one for all
        for (const TomlEntry& setting : settings.entries) {
            if (setting.key != flag.key()) continue;
            const bool is_own = setting.table == verb_;
            const bool is_common = setting.table.empty() && flag.settable == Settable::anywhere;
            if (is_own || (is_common && found == nullptr)) found = &setting;
        }
        if (found == nullptr) continue;
        auto set = set_from_entry(flag, *found);
        if (!set && found->line == 0)
            return at(fmt::format("{}: {}", settings.defaults_of, found->key),
                      std::move(set).error());
        if (!set)
            return at(fmt::format("{}:{}: {}", settings.file, found->line, found->key),
                      std::move(set).error());
        given.push_back({.flag = &flag, .typed = flag.name});
    }
    return {};
}

Result<Parsed> Flags::parse(std::span<const std::string> args, const Environment& environment,
                            const ReadSettings& read_file,
                            const ReadSettings& read_defaults) const {
    Given given;
    std::vector<std::string_view> words;
    bool flags_over = false;
    for (size_t i = 0; i < args.size(); ++i) {
        const std::string_view arg = args[i];
        if (flags_over || arg.size() < 2 || arg[0] != '-') {
            words.push_back(arg);
        } else if (arg == "--") {
            flags_over = true;
        } else if (arg == "--help" || arg == "-h" || arg == "--usage") {
            return Parsed::help;
        } else {
            KVIK_TRY(i, take_flag(args, i, given));
        }
    }
    const Given typed = given;
    for (const GivenFlag& one : typed) KVIK_TRY_VOID(set_given(one));
    KVIK_TRY_VOID(place(words, given));
    KVIK_TRY_VOID(read_environment(environment, given));
    KVIK_TRY_VOID(take_settings(read_file, given));
    KVIK_TRY_VOID(take_settings(read_defaults, given));
    for (const auto& check : checks_) KVIK_TRY_VOID(check());
    if (tells_idle_) tell_idle(typed);
    return Parsed::ready;
}

VerbKeys Flags::keys() const {
    VerbKeys keys{.verb = verb_, .keys = {}};
    for (const Entry& entry : entries_)
        if (entry.flag.standing == Standing::shown)
            keys.keys.push_back({entry.flag.key(), entry.flag.settable});
    return keys;
}

Result<void> Flags::show_help() const {
    return put(is_terminal(STDOUT_FILENO) ? help(columns_of(STDOUT_FILENO)) : help());
}

std::string Flags::help(uint32_t n_columns) const {
    std::string text = fmt::format("kvik {}", verb_);
    size_t width = 0;
    for (const Positional& p : positionals_) {
        text += p.presence == Presence::required ? " " + p.name : fmt::format(" [{}]", p.name);
        width = std::max(width, p.name.size());
    }
    text += fmt::format(" [flags]\n{}\n{}", summary_, positionals_.empty() ? "" : "\n");
    const auto is_shown = [](const Entry& entry) { return entry.flag.standing == Standing::shown; };
    for (const Entry& entry : entries_)
        if (is_shown(entry)) width = std::max(width, left_column(entry.flag).size());
    const auto line = [&](std::string_view left, std::string_view right) {
        for (const std::string_view part : split(right, '\n')) {
            const auto indent = static_cast<uint32_t>(width + 4);
            text += wrapped(fmt::format("  {:<{}}  {}", left, width, part),
                            std::max(n_columns, indent + kLeastHelpColumns), indent) +
                    "\n";
            left = {};
        }
    };
    for (const Positional& p : positionals_) line(p.name, p.help);
    std::string_view heading;
    for (const Entry& entry : entries_) {
        if (!is_shown(entry)) continue;
        if (entry.heading != heading) text += fmt::format("\n{}\n", entry.heading);
        heading = entry.heading;
        const std::string variable = entry.flag.variable();
        line(left_column(entry.flag), variable.empty()
                                          ? entry.flag.help
                                          : fmt::format("{} [{}]", entry.flag.help, variable));
    }
    if (!epilogue_.empty()) text += "\n" + epilogue_;
    if (!text.ends_with('\n')) text += '\n';
    return text;
}

}  // namespace kvik::cli
