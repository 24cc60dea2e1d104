// toml: a TOML text as the flat list of what it sets, in the order of its lines.
//
// Shape   keys at the top have an empty table; a table holds values, no further tables.
// Errors  ErrorKind::usage: "NAME:LINE: what is wrong there".
// Source  TOML 1.0.
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

Result<std::vector<TomlEntry>> read_toml(std::string_view text, std::string_view name);

}  // namespace kvik::cli
