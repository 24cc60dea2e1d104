// Python's int() and float() of a text: blanks around it, a sign, underscores between digits.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kvik::jinja {

// `base` 2 to 36; a prefix such as 0x is allowed where it fits the base. Nothing when it is no
// integer of 64 bits.
std::optional<int64_t> parse_int(std::string_view text, int base);
std::optional<double> parse_float(std::string_view text);

}  // namespace kvik::jinja
