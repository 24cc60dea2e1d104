// Flags: the command line of one verb as a table, and the parser over it.
//
// Use     add() flags and argument()s bound to an options struct, then parse().
//         `--name value`, `--name=value`; `--` ends the flags; `--help` anywhere asks for help. Of
//         a flag that is given several times the last one counts, unless it makes a list.
// Owner   setters borrow their targets until parse() returns.
// Errors  usage for an unknown flag (with the nearest known one), a missing, surplus or refused
//         value; unsupported for a flag of a later version. A refused value is named with where it
//         stands: the flag as it was typed, variable, or file and line.
// Invariant a flag that parse() accepts has been given to its setter, or note() names it as one that
//         changes nothing. Arguments beat KVIK_* variables beat the configuration file, which beats
//         what a model brings. The value of a flag that is beaten is not read.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/settings.h"
#include "cli/values.h"

namespace kvik::cli {

enum class Times : uint8_t { once, many };
enum class Presence : uint8_t { required, optional };
enum class Parsed : uint8_t { ready, help };
// shown: in the help, in hints and in the configuration file; hidden: a name that other programs
// have for it; idle: as hidden, and it changes nothing, which parse() says.
enum class Standing : uint8_t { shown, hidden, idle };

struct Flag {
    std::string name;        // "--temp", "-n"
    std::string value = {};  // its placeholder in the help; empty: a switch
    std::string help = {};
    Setter set = {};
    Settable settable = Settable::as_argument;
    Times times = Times::once;              // many: each one is an element of a list
    std::vector<std::string> aliases = {};  // "-c", "--ctx-size"
    Standing standing = Standing::shown;
    std::string why = {};  // an idle one changes nothing
    std::vector<std::string> words =
        {};  // not empty: the value may be left out, and is one of these

    bool has_name(std::string_view other) const;
    std::string key() const;       // its name without dashes
    std::string variable() const;  // "KVIK_TOP_K"; empty unless it is settable anywhere
    bool is_switch() const { return value.empty(); }
};

struct Positional {
    std::string name;
    std::string help = {};
    Setter set = {};
    Presence presence = Presence::required;
    std::vector<std::string> flags = {};  // where one of these was given it is not expected
};

// Whether the model may be fetched.
struct FetchWish {
    bool is_asked = false;    // by -hf
    bool is_offline = false;  // --offline
};

struct ChosenModel;

// The verb's MODEL: a path, or a name that becomes one (model_choice.h). A verb that answers gives
// `system` too, for the system message that such a model comes with.
struct ModelTarget {
    std::string* path = nullptr;
    std::optional<std::string>* system = nullptr;
    std::shared_ptr<FetchWish> fetch = {};  // set by the table's own flags
    ChosenModel* chosen = nullptr;          // all that is known of it
};

// What flags are set to where nothing above says it: first the configuration file, read once
// arguments and variables have been taken, then what the model brings; null: nothing.
using ReadSettings = std::function<Result<Settings>()>;

class Flags {
  public:
    Flags(std::string verb, std::string summary);

    void heading(std::string title);  // of the flags added from here on
    void add(Flag flag);
    void argument(Positional positional);
    void epilogue(std::string text);  // last lines of the help
    // Called at the end of parse(): refuses what does not go together.
    void check(std::function<Result<void>()> check);
    void leave_idle_untold() { tells_idle_ = false; }
    void set_model(ModelTarget target);
    const ModelTarget& model() const { return model_; }

    Result<Parsed> parse(std::span<const std::string> args, const Environment& environment,
                         const ReadSettings& read_file = nullptr,
                         const ReadSettings& read_defaults = nullptr) const;
    std::string help(uint32_t n_columns = UINT32_MAX) const;
    Result<void> show_help() const;  // on stdout, to fit the terminal if it is one
    VerbKeys keys() const;
    bool knows(std::string_view arg) const;  // "--temp" or "--temp=1" is one of its flags

  private:
    struct Entry {
        Flag flag;
        std::string heading;
    };
    // A flag that has its value, the name by which it was typed, and what was typed as its value.
    struct GivenFlag {
        const Flag* flag;
        std::string_view typed;
        std::optional<std::string_view> value = {};
    };
    using Given = std::vector<GivenFlag>;
    static bool is_given(const Given& given, std::string_view name);
    const Flag* find(std::string_view name) const;
    Error unknown(std::string_view name) const;
    Result<void> place(std::span<const std::string_view> words, const Given& given) const;
    std::string misplaced() const;
    bool takes_next(const Flag& flag, std::span<const std::string> args, size_t i) const;
    void tell_idle(const Given& given) const;
    Result<size_t> take_flag(std::span<const std::string> args, size_t i, Given& given) const;
    static Result<void> set_given(const GivenFlag& one);
    Result<void> read_environment(const Environment& environment, Given& given) const;
    Result<void> take_settings(const ReadSettings& read, Given& given) const;

    std::string verb_, summary_, epilogue_;
    ModelTarget model_;
    std::string heading_ = "Flags";
    bool tells_idle_ = true;
    std::vector<Entry> entries_;
    std::vector<Positional> positionals_;
    std::vector<std::function<Result<void>()>> checks_;
};

}  // namespace kvik::cli
