// toml: a TOML text as the flat list of what it sets, in the order of its lines.
//
// Shape   keys at the top have an empty table; [table] and table.key go one deep.
// Cost    one pass; memory is what the values take.
// Errors  ErrorKind::usage: "NAME:LINE: what is wrong there". TOML that sets nothing for a flag is
//         refused as well: dates, tables in lists, in tables and in braces.
// Source  TOML 1.0.0.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace kvik::cli {

struct TomlEntry {
    std::string table;
    std::string key;  // empty: the table itself
    uint32_t line = 0;
    // Numbers are text as a flag takes them; a list has texts and numbers.
    std::variant<bool, std::string, std::vector<std::string>> value = false;
};

// `name` stands for the file in messages.
Result<std::vector<TomlEntry>> read_toml(std::string_view text, std::string_view name);

}  // namespace kvik::cli
