// Flags: the command line of one verb as a table, and the parser over it.
//
// Use     add() flags and argument()s bound to an options struct, then parse().
//         `--name value`, `--name=value`; `--` ends the flags; `--help` anywhere asks for help.
// Owner   setters borrow their targets until parse() returns.
// Errors  usage for an unknown flag (with the nearest known one), a missing, surplus or refused
//         value, a flag given twice; unsupported for a flag of a later version.
// Invariant a flag that parse() accepts has been given to its setter: none is ignored. Arguments
//         beat environment variables; a variable that an argument beats is not even read.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/values.h"

namespace kvik::cli {

enum class Times : uint8_t { once, many };
enum class Presence : uint8_t { required, optional };
enum class Parsed : uint8_t { ready, help };

struct Flag {
    std::string name;        // "--temp", "-n"
    std::string value = {};  // its placeholder in the help; empty: a switch
    std::string help = {};
    Setter set = {};
    std::string variable = {};  // environment variable that stands in for it
    Times times = Times::once;
};

struct Positional {
    std::string name;
    std::string help = {};
    Setter set = {};
    Presence presence = Presence::required;
};

using Environment = std::function<std::optional<std::string>(const std::string& name)>;

class Flags {
  public:
    Flags(std::string verb, std::string summary);

    void heading(std::string title);  // of the flags added from here on
    void add(Flag flag);
    void argument(Positional positional);
    void epilogue(std::string text);  // last lines of the help

    Result<Parsed> parse(std::span<const std::string> args, const Environment& environment) const;
    std::string help() const;

  private:
    struct Entry {
        Flag flag;
        std::string heading;
    };
    const Flag* find(std::string_view name) const;
    Error unknown(std::string_view name) const;
    Result<void> place(std::string_view text, size_t index) const;
    Result<void> read_environment(const std::vector<std::string_view>& given,
                                  const Environment& environment) const;

    std::string verb_, summary_, epilogue_;
    std::string heading_ = "Flags";
    std::vector<Entry> entries_;
    std::vector<Positional> positionals_;
};

}  // namespace kvik::cli
